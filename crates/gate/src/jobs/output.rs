//! Parts of a job's output.

use std::fs::File;
use std::io;
use std::ops::Range;
use std::os::unix::fs::FileExt as _;

use regex::bytes::Regex;
use shellgate_exec::{Moment, PerStream, Stream, printed_before, watch};
use shellgate_journal::PastExecution;

use super::matches::matching_lines;
use super::{Jobs, parse};
use crate::ErrorObject;
use crate::gate::session_error;
use crate::text::{Limit, ReadAs, Source, indent_marks, view, with_commas};

/// How much of a file is read at once.
const READ_CHUNK_BYTES: u64 = 64 << 10;

/// A part of a stream. Fields that are set all apply.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct StreamPart {
    /// From this byte on.
    pub from: Option<u64>,
    /// Up to this byte, exclusive.
    pub to: Option<u64>,
    /// Only output of this time or later, in milliseconds since 1970.
    pub since_ms: Option<u64>,
    /// From this line on; the first line is 1.
    pub from_line: Option<u64>,
    /// Only this many lines: the first ones behind `from_line`, else the last ones.
    pub lines: Option<u64>,
}

/// Which output to read as text.
#[derive(Clone, Debug)]
pub struct OutputQuery<'a> {
    /// The stream.
    pub stream: Stream,
    /// The bytes of the stream.
    pub bytes: Range<u64>,
    /// Only lines that match this pattern.
    pub grep: Option<&'a Regex>,
    /// So many lines before and behind each line that matches.
    pub context: usize,
    /// The longest text to return.
    pub limit: Limit,
}

/// Output as text.
#[derive(Clone, Debug, Default)]
pub struct OutputText {
    /// The text.
    pub text: String,
    /// Whether some of the output was left out of the text.
    pub truncated: bool,
}

impl OutputText {
    /// The end of a text that is longer than the limit, below a line that says so.
    pub(crate) fn last_of(text: &str, limit: Limit) -> Self {
        let last = limit.last_of(text);
        let before = text.len() - last.len();
        let last = indent_marks(last);
        if before == 0 {
            return Self { text: last, truncated: false };
        }
        Self {
            text: format!("[… {} bytes before this left out]\n{last}", with_commas(before)),
            truncated: true,
        }
    }
}

impl Jobs<'_> {
    /// The bytes of a part at this moment, in each stream.
    ///
    /// # Errors
    /// `unknown_job` when there is no such job, or its output is not kept any more.
    pub fn ranges(&self, id: &str, part: &StreamPart) -> Result<PerStream<Range<u64>>, ErrorObject> {
        let execution = self.find(id)?;
        let spool = self.spool(&execution)?;
        let since = match part.since_ms {
            Some(at) => self.printed_before(&execution, at)?,
            None => Some(PerStream::default()),
        };
        let range = |stream: Stream| {
            let file = spool.files.get(stream);
            let total = file.metadata().map_or(0, |metadata| metadata.len());
            let end = part.to.unwrap_or(total).min(total);
            let start =
                part.from.unwrap_or(0).max(since.as_ref().map_or(end, |since| *since.get(stream))).min(end);
            match (part.from_line, part.lines) {
                (Some(line), lines) => {
                    let start = start_of_line(file, start..end, line).unwrap_or(end);
                    let behind =
                        lines.and_then(|lines| start_of_line(file, start..end, lines.saturating_add(1)).ok());
                    start..behind.unwrap_or(end)
                }
                (None, Some(lines)) => start_of_last_lines(file, start..end, lines).unwrap_or(start)..end,
                (None, None) => start..end,
            }
        };
        Ok(PerStream { stdout: range(Stream::Stdout), stderr: range(Stream::Stderr) })
    }

    /// Reads a part of a stream as text.
    ///
    /// # Errors
    /// As [`ranges`](Self::ranges).
    pub fn read(&self, id: &str, query: &OutputQuery<'_>) -> Result<OutputText, ErrorObject> {
        let execution = self.find(id)?;
        let spool = self.spool(&execution)?;
        let paths = spool.paths.as_ref();
        let path = paths.map_or(std::path::Path::new(""), |paths| paths.get(query.stream));
        let file = spool.files.get(query.stream);
        let text = match query.grep {
            Some(pattern) => {
                let first_line = lines_before(file, query.bytes.start).saturating_add(1);
                matching_lines(
                    file,
                    query,
                    pattern,
                    ReadAs { id: &execution.id, stream: query.stream.name(), first_line },
                )
            }
            None => Ok(read_range(file, path, query, &execution.id)),
        };
        text.map_err(|error| unreadable(&error))
    }

    /// The last lines of a stream that was longer than its file may be, if `part` asks for last lines only. `None`: the file
    /// holds the part.
    #[must_use]
    pub fn last_lines_beyond_file(&self, id: &str, stream: Stream, part: &StreamPart) -> Option<Vec<u8>> {
        let lines =
            part.lines.filter(|_| *part == StreamPart { lines: part.lines, ..StreamPart::default() })?;
        let tail = self.tail(id, stream);
        (!tail.is_empty()).then(|| last_lines_of(&tail, lines).to_vec())
    }

    /// Reads a part of a stream unchanged, with its control codes. If it is longer than `limit`, only its end.
    ///
    /// # Errors
    /// As [`ranges`](Self::ranges).
    pub fn read_raw(
        &self,
        id: &str,
        stream: Stream,
        bytes: Range<u64>,
        limit: Limit,
    ) -> Result<OutputText, ErrorObject> {
        let max_bytes = match limit {
            Limit::Tokens(amount) => amount.saturating_mul(3),
            limit => limit.amount(),
        } as u64;
        let start = bytes.start.max(bytes.end.saturating_sub(max_bytes));
        let mut read = vec![0; usize::try_from(bytes.end.saturating_sub(start)).unwrap_or(0)];
        let file = self.file(id, stream)?;
        file.read_exact_at(&mut read, start).map_err(|error| unreadable(&error))?;
        let last = OutputText::last_of(&String::from_utf8_lossy(&read), limit);
        Ok(OutputText { truncated: last.truncated || start > bytes.start, ..last })
    }

    /// The file that holds a stream.
    ///
    /// # Errors
    /// `unknown_job` when there is no such job, or its output is not kept any more.
    pub fn file(&self, id: &str, stream: Stream) -> Result<File, ErrorObject> {
        let execution = self.find(id)?;
        let spool = self.spool(&execution)?;
        Ok(match stream {
            Stream::Stdout => spool.files.stdout,
            Stream::Stderr => spool.files.stderr,
        })
    }

    /// How many bytes of each stream are older than `at_ms`. `None`: all of them.
    fn printed_before(
        &self,
        execution: &PastExecution,
        at_ms: u64,
    ) -> Result<Option<PerStream<u64>>, ErrorObject> {
        let watched = watch(self.state, parse(&execution.id)?).map_err(|error| session_error(&error))?;
        let moments: Vec<Moment> = match (watched, &execution.ended) {
            (Some((job, _)), _) => job.times,
            (None, Some(ended)) => ended.times.iter().map(moment).collect(),
            (None, None) => Vec::new(),
        };
        if moments.is_empty() {
            // No times were noted for a command that ended at once: its output counts as being as old as its end.
            let at = execution.ended.as_ref().map_or(execution.at, |ended| ended.ended_at);
            return Ok(u64::try_from(at).is_ok_and(|at| at >= at_ms).then(PerStream::default));
        }
        Ok(printed_before(&moments, at_ms))
    }
}

/// The last `lines` lines of `bytes`.
fn last_lines_of(bytes: &[u8], lines: u64) -> &[u8] {
    let whole = bytes.strip_suffix(b"\n").unwrap_or(bytes);
    let nth = usize::try_from(lines).unwrap_or(usize::MAX).checked_sub(1);
    let before = nth.map(|nth| memchr::memrchr_iter(b'\n', whole).nth(nth).map_or(0, |at| at + 1));
    bytes.get(before.unwrap_or(bytes.len())..).unwrap_or_default()
}

fn read_range(file: &File, path: &std::path::Path, query: &OutputQuery<'_>, id: &str) -> OutputText {
    let Range { start: begins, end } = query.bytes;
    let length = end.saturating_sub(begins);
    // Only what a model reads names the tool.
    let is_for_model = matches!(query.limit, Limit::Tokens(_));
    let read_as = is_for_model.then(|| {
        let first_line = lines_before(file, begins).saturating_add(1);
        ReadAs { id, stream: query.stream.name(), first_line }
    });
    let source =
        Source { file, path, begins, spooled: length, total: length, tail: &[], lost: None, read_as };
    let view = view(&source, query.limit);
    OutputText { text: view.text, truncated: view.truncated }
}

/// How many lines end before a byte of a file.
fn lines_before(file: &File, end: u64) -> u64 {
    let mut lines = 0;
    // What can't be read isn't shown either.
    let _ = for_each_chunk(file, 0..end, |bytes| lines += memchr::memchr_iter(b'\n', bytes).count() as u64);
    lines
}

/// Calls `visit` with the bytes of a part, piece by piece.
fn for_each_chunk(file: &File, bytes: Range<u64>, mut visit: impl FnMut(&[u8])) -> io::Result<()> {
    let mut buffer = vec![0; usize::try_from(READ_CHUNK_BYTES).unwrap_or(0)];
    let mut from = bytes.start;
    while from < bytes.end {
        let wanted = usize::try_from((bytes.end - from).min(READ_CHUNK_BYTES)).unwrap_or(0);
        let read = file.read_at(buffer.get_mut(..wanted).unwrap_or_default(), from)?;
        if read == 0 {
            break;
        }
        visit(buffer.get(..read).unwrap_or_default());
        from += read as u64;
    }
    Ok(())
}

fn moment((at, stdout, stderr): &(shellgate_journal::Millis, u64, u64)) -> Moment {
    let at = u64::try_from(*at).unwrap_or(0);
    Moment { from_ms: at, to_ms: at, before: PerStream { stdout: *stdout, stderr: *stderr } }
}

/// Longer lines are passed on in parts.
const MAX_LINE_BYTES: usize = 64 << 10;

/// Calls `visit` with each line of a part, without its newline.
///
/// # Errors
/// When the file can't be read.
pub fn for_each_line(file: &File, bytes: Range<u64>, mut visit: impl FnMut(&[u8])) -> io::Result<()> {
    let mut line: Vec<u8> = Vec::new();
    for_each_chunk(file, bytes, |mut rest| {
        while let Some(at) = memchr::memchr(b'\n', rest) {
            line.extend_from_slice(rest.get(..at).unwrap_or_default());
            visit(&line);
            line.clear();
            rest = rest.get(at + 1..).unwrap_or_default();
        }
        line.extend_from_slice(rest);
        if line.len() > MAX_LINE_BYTES {
            visit(&line);
            line.clear();
        }
    })?;
    if !line.is_empty() {
        visit(&line);
    }
    Ok(())
}

/// Where the line with this number begins in a part of a file; the first line is 1. The end, if there are fewer.
fn start_of_line(file: &File, part: Range<u64>, line: u64) -> io::Result<u64> {
    let mut to_skip = line.saturating_sub(1);
    let mut start = part.start;
    let mut buffer = vec![0; usize::try_from(READ_CHUNK_BYTES).unwrap_or(0)];
    while to_skip > 0 && start < part.end {
        let wanted = usize::try_from((part.end - start).min(READ_CHUNK_BYTES)).unwrap_or(0);
        let read = file.read_at(buffer.get_mut(..wanted).unwrap_or_default(), start)?;
        if read == 0 {
            return Ok(part.end);
        }
        for at in memchr::memchr_iter(b'\n', buffer.get(..read).unwrap_or_default()) {
            to_skip -= 1;
            if to_skip == 0 {
                return Ok(start + at as u64 + 1);
            }
        }
        start += read as u64;
    }
    Ok(if to_skip == 0 { start } else { part.end })
}

/// Where the last `lines` lines of a part of a file begin.
fn start_of_last_lines(file: &File, part: Range<u64>, lines: u64) -> io::Result<u64> {
    if lines == 0 {
        return Ok(part.end);
    }
    let mut wanted = lines;
    let mut end = part.end;
    let mut buffer = vec![0; usize::try_from(READ_CHUNK_BYTES).unwrap_or(0)];
    let mut first = true;
    while end > part.start {
        let start = end.saturating_sub(READ_CHUNK_BYTES).max(part.start);
        let room = buffer.get_mut(..usize::try_from(end - start).unwrap_or(0)).unwrap_or_default();
        file.read_exact_at(room, start)?;
        for (at, _) in room.iter().enumerate().rev().filter(|(_, byte)| **byte == b'\n') {
            let after = start + at as u64 + 1;
            // A newline at the end of the part ends the last line and begins no other.
            if std::mem::take(&mut first) && after == part.end {
                continue;
            }
            wanted = wanted.saturating_sub(1);
            if wanted == 0 {
                return Ok(after);
            }
        }
        first = false;
        end = start;
    }
    Ok(part.start)
}

/// Removes the carriage return at the end of a line. Terminals end lines with `\r\n`.
#[must_use]
pub fn trim_carriage_return(line: &[u8]) -> &[u8] {
    line.strip_suffix(b"\r").unwrap_or(line)
}

fn unreadable(error: &io::Error) -> ErrorObject {
    ErrorObject::new(crate::Code::Config, format!("the output can't be read: {error}"))
}

#[cfg(test)]
mod tests {
    use std::io::Write as _;

    use super::*;

    #[test]
    fn the_last_lines_are_found_from_the_end() {
        let mut file = tempfile::tempfile().unwrap();
        let long = "x".repeat(150_000);
        let text = format!("one\ntwo\n{long}\nfour\nfive");
        file.write_all(text.as_bytes()).unwrap();
        let end = text.len() as u64;
        let seen = |lines: u64, part: Range<u64>| {
            let start = start_of_last_lines(&file, part.clone(), lines).unwrap();
            let range = usize::try_from(start).unwrap()..usize::try_from(part.end).unwrap();
            text.get(range).unwrap().to_owned()
        };
        assert_eq!(seen(1, 0..end), "five");
        assert_eq!(seen(2, 0..end), "four\nfive");
        assert_eq!(seen(2, 0..end - 4), format!("{long}\nfour\n"), "a newline at the end begins no line");
        assert_eq!(seen(4, 0..end), text.get(4..).unwrap());
        assert_eq!(seen(99, 0..end), text);
        assert_eq!(seen(1, 5..7), "wo");
    }

    #[test]
    fn lines_are_found_by_their_number() {
        let mut file = tempfile::tempfile().unwrap();
        let long = "x".repeat(150_000);
        let text = format!("one\ntwo\n{long}\nfour\nfive");
        file.write_all(text.as_bytes()).unwrap();
        let end = text.len() as u64;
        let from = |line: u64| {
            let start = usize::try_from(start_of_line(&file, 0..end, line).unwrap()).unwrap();
            text.get(start..).unwrap().to_owned()
        };
        assert_eq!((from(0), from(1)), (text.clone(), text.clone()));
        assert_eq!(from(2), text.get(4..).unwrap());
        assert_eq!((from(4), from(5), from(6)), ("four\nfive".into(), "five".into(), String::new()));
    }
}
