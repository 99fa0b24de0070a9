//! `shellgate logs`: prints a job's output or a part of it, and follows it.

use std::io::{self, IsTerminal as _, Write};
use std::ops::Range;
use std::process::ExitCode;

use serde_json::{Map, Value, json};
use shellgate::jobs::{
    Jobs, OutputQuery, Pattern, StreamPart, explain_never_started, for_each_line, trim_carriage_return,
};
use shellgate::text::Limit;
use shellgate::text::escape::OutputEscaper;
use shellgate::{ErrorObject, RecordStore, Stream};

use crate::args::LogsArgs;
use crate::error::{self, CALL_REFUSED, CliError};
use crate::output;

/// JSON has at most this much of a stream; the file has all of it.
const JSON_TEXT_MAX_BYTES: usize = 8 << 20;

pub(super) fn logs(args: &LogsArgs) -> ExitCode {
    output::choose_color(args.shown.color);
    error::finish(show(args))
}

fn show(args: &LogsArgs) -> Result<(), CliError> {
    if args.follow && (args.shown.json || args.bytes.is_some_and(|(_, to)| to.is_some())) {
        let error =
            ErrorObject::invalid("`-f` can't be combined with `--json` or with a range that has an end");
        return Err(error.hint("leave out one of them").into());
    }
    let record = RecordStore::open(None)?;
    let jobs = record.jobs(None);
    let execution = jobs.find(&args.id)?;
    if let Some(why) = explain_never_started(&execution) {
        error::show(&why);
        return Err(CliError::Reported(CALL_REFUSED));
    }
    let id = execution.id;
    let grep = args.grep.as_deref().map(pattern).transpose()?;
    let (from, to) = args.bytes.map_or((None, None), |(from, to)| (Some(from), to));
    let part = StreamPart {
        from,
        to,
        from_line: None,
        lines: args.lines,
        since_ms: args.since.and_then(|at| u64::try_from(at).ok()),
    };
    let wanted = |stream: Stream| args.stream.as_deref().is_none_or(|name| name == stream.name());
    let streams = Stream::BOTH.into_iter().filter(|stream| wanted(*stream));
    // Watching starts before the files are read, so that no output is missed in between.
    let watched = if args.follow && part.to.is_none() { jobs.watch(&id)? } else { None };
    let ranges = jobs.ranges(&id, &part)?;
    if args.shown.json {
        return print_json(&jobs, &id, streams, &ranges, grep.as_ref());
    }
    let mut printers =
        [StreamPrinter::new(Stream::Stdout, args.raw), StreamPrinter::new(Stream::Stderr, args.raw)];
    for stream in streams {
        let file = jobs.file(&id, stream)?;
        let Some(printer) = printers.iter_mut().find(|printer| printer.stream == stream) else { continue };
        printer.next = ranges.get(stream).end;
        match jobs.last_lines_beyond_file(&id, stream, &part).filter(|_| grep.is_none()) {
            Some(lines) => printer.write(&lines)?,
            None => printer.print_range(&file, ranges.get(stream).clone(), grep.as_ref())?,
        }
    }
    if let Some(mut watched) = watched {
        while let Some((stream, offset, bytes)) =
            watched.next().map_err(|error| CliError::write_failed(&error))?
        {
            let printer = printers.iter_mut().find(|printer| printer.stream == stream && wanted(stream));
            if let Some(printer) = printer {
                printer.print_new(offset, &bytes, grep.as_ref())?;
            }
        }
    }
    printers.iter_mut().try_for_each(|printer| printer.finish(grep.as_ref()))?;
    for stream in Stream::BOTH.into_iter().filter(|stream| wanted(*stream)) {
        match unstored_bytes(&jobs, &id, stream)? {
            0 => {}
            bytes => output::print_note(&format!(
                "{bytes} more bytes of {} were not stored: `limits.capture_bytes` was reached, or the disk was full",
                stream.name()
            )),
        }
    }
    Ok(())
}

/// How many bytes of a stream were printed but not stored in its file.
fn unstored_bytes(jobs: &Jobs<'_>, id: &str, stream: Stream) -> Result<u64, CliError> {
    let report = jobs.report(id, shellgate::request::Detail::Minimal)?;
    let printed = match stream {
        Stream::Stdout => report.stdout_bytes,
        Stream::Stderr => report.stderr_bytes,
    };
    let kept = jobs.file(id, stream)?.metadata().map_or(0, |metadata| metadata.len());
    Ok(printed.saturating_sub(kept))
}

pub(super) fn pattern(text: &str) -> Result<Pattern, ErrorObject> {
    Pattern::new(text).map_err(|error| {
        let error = error.to_string();
        let last = error.lines().last().unwrap_or_default().trim_start_matches("error: ").to_owned();
        ErrorObject::invalid(format!("`{text}` is not a regular expression: {last}"))
    })
}

fn print_json(
    jobs: &Jobs<'_>,
    id: &str,
    streams: impl Iterator<Item = Stream>,
    ranges: &shellgate::PerStream<Range<u64>>,
    grep: Option<&Pattern>,
) -> Result<(), CliError> {
    let report = jobs.report(id, shellgate::request::Detail::Minimal)?;
    let mut answer = Map::new();
    answer.insert("id".to_owned(), json!(id));
    answer.insert("status".to_owned(), json!(report.status));
    answer.insert("exit_code".to_owned(), json!(report.exit_code));
    for stream in streams {
        let range = ranges.get(stream).clone();
        let limit = Limit::Bytes(JSON_TEXT_MAX_BYTES);
        let printed =
            jobs.read(id, &OutputQuery { stream, bytes: range.clone(), grep, context: 0, limit })?;
        answer.insert(stream.name().to_owned(), json!(printed.text));
        answer.insert(format!("{}_bytes", stream.name()), json!([range.start, range.end]));
        answer.insert(
            format!("{}_truncated", stream.name()),
            json!(printed.truncated || unstored_bytes(jobs, id, stream)? > 0),
        );
    }
    output::print_json(&Value::Object(answer))
}

/// Prints one stream of a job: its standard output to ours, its standard error to ours.
struct StreamPrinter {
    stream: Stream,
    out: Box<dyn Write>,
    escaper: Option<OutputEscaper>,
    /// Offset of the first byte that was not printed yet.
    next: u64,
    /// With `--grep`: the beginning of a line whose end was not printed yet.
    line: Vec<u8>,
}

impl StreamPrinter {
    fn new(stream: Stream, raw: bool) -> Self {
        let (out, terminal): (Box<dyn Write>, bool) = match stream {
            Stream::Stdout => (Box::new(io::stdout().lock()), io::stdout().is_terminal()),
            Stream::Stderr => (Box::new(io::stderr().lock()), io::stderr().is_terminal()),
        };
        let escaper = (terminal && !raw).then(OutputEscaper::default);
        Self { stream, out, escaper, next: 0, line: Vec::new() }
    }

    /// Prints a range of the file.
    fn print_range(
        &mut self,
        file: &std::fs::File,
        bytes: Range<u64>,
        grep: Option<&Pattern>,
    ) -> Result<(), CliError> {
        use std::os::unix::fs::FileExt as _;
        if let Some(pattern) = grep {
            let mut found = Vec::new();
            let mut trouble = Ok(());
            for_each_line(file, bytes, |line| {
                if pattern.is_match(trim_carriage_return(line)) && trouble.is_ok() {
                    found.clear();
                    found.extend_from_slice(line);
                    found.push(b'\n');
                    trouble = self.write(&found);
                }
            })
            .map_err(|error| CliError::write_failed(&error))?;
            return trouble;
        }
        let mut buffer = vec![0; 64 << 10];
        let mut from = bytes.start;
        while from < bytes.end {
            let wanted = usize::try_from(bytes.end - from).unwrap_or(usize::MAX).min(buffer.len());
            let read = file.read_at(buffer.get_mut(..wanted).unwrap_or_default(), from);
            let read = read.map_err(|error| CliError::write_failed(&error))?;
            if read == 0 {
                break;
            }
            from += read as u64;
            self.write(buffer.get(..read).unwrap_or_default())?;
        }
        Ok(())
    }

    /// Prints new output. Its beginning may have been read from the file already.
    fn print_new(&mut self, offset: u64, bytes: &[u8], grep: Option<&Pattern>) -> Result<(), CliError> {
        let seen = usize::try_from(self.next.saturating_sub(offset)).unwrap_or(usize::MAX);
        let Some(new) = bytes.get(seen..).filter(|new| !new.is_empty()) else { return Ok(()) };
        self.next = offset + bytes.len() as u64;
        let Some(pattern) = grep else {
            return self.write(new);
        };
        self.line.extend_from_slice(new);
        while let Some(end) = self.line.iter().position(|byte| *byte == b'\n') {
            let line: Vec<u8> = self.line.drain(..=end).collect();
            if pattern.is_match(trim_carriage_return(line.get(..end).unwrap_or_default())) {
                self.write(&line)?;
            }
        }
        Ok(())
    }

    fn finish(&mut self, grep: Option<&Pattern>) -> Result<(), CliError> {
        let line = std::mem::take(&mut self.line);
        if grep.is_some_and(|pattern| !line.is_empty() && pattern.is_match(trim_carriage_return(&line))) {
            self.write(&line)?;
        }
        if let Some(rest) = self.escaper.as_mut().map(OutputEscaper::finish) {
            self.out.write_all(rest.as_bytes()).map_err(|error| CliError::write_failed(&error))?;
        }
        self.out.flush().map_err(|error| CliError::write_failed(&error))
    }

    fn write(&mut self, bytes: &[u8]) -> Result<(), CliError> {
        let written = match &mut self.escaper {
            Some(escaper) => self.out.write_all(escaper.push(bytes).as_bytes()),
            None => self.out.write_all(bytes),
        };
        written.and_then(|()| self.out.flush()).map_err(|error| CliError::write_failed(&error))
    }
}
