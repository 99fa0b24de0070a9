//! A search for a line in a stream that grows.

use std::fs::File;
use std::io;
use std::os::unix::fs::FileExt as _;

use regex::bytes::Regex;
use shellgate_exec::Stream;

use super::{WaitConditions, WaitResult};
use crate::jobs::trim_carriage_return;

/// Longer lines are searched in parts.
const MAX_LINE_BYTES: usize = 64 << 10;

/// How much of a file is read at once.
const READ_CHUNK_BYTES: usize = 64 << 10;

/// A search through one stream. Each call continues where the last one stopped.
#[derive(Debug)]
pub(super) struct LineSearch {
    stream: Stream,
    /// The offset of the unfinished line.
    at: u64,
    /// The unfinished line, as far as it has been read.
    line: Vec<u8>,
}

impl LineSearch {
    /// A search in each stream.
    pub(super) fn both(conditions: &WaitConditions) -> [Self; 2] {
        Stream::BOTH.map(|stream| Self { stream, at: *conditions.from.get(stream), line: Vec::new() })
    }

    pub(super) fn stream(&self) -> Stream {
        self.stream
    }

    /// Searches what was added to the file since the last call. An unfinished line counts too: a prompt is one.
    pub(super) fn search_file(&mut self, file: &File, pattern: &Regex) -> io::Result<Option<WaitResult>> {
        let mut buffer = vec![0; READ_CHUNK_BYTES];
        loop {
            let read = file.read_at(&mut buffer, self.at + self.line.len() as u64)?;
            self.line.extend_from_slice(buffer.get(..read).unwrap_or_default());
            if let Some(found) = self.search_whole_lines(pattern) {
                return Ok(Some(found));
            }
            if read == 0 || self.line.len() > MAX_LINE_BYTES {
                let found = self.search_unfinished_line(pattern);
                if read == 0 || found.is_some() {
                    return Ok(found);
                }
            }
        }
    }

    /// Searches the next bytes of the stream.
    pub(super) fn search_bytes(&mut self, bytes: &[u8], pattern: &Regex) -> Option<WaitResult> {
        self.line.extend_from_slice(bytes);
        self.search_whole_lines(pattern).or_else(|| self.search_unfinished_line(pattern))
    }

    fn search_whole_lines(&mut self, pattern: &Regex) -> Option<WaitResult> {
        while let Some(end) = memchr::memchr(b'\n', &self.line) {
            let line: Vec<u8> = self.line.drain(..=end).collect();
            self.at += line.len() as u64;
            let found = self.match_line(line.get(..end).unwrap_or_default(), pattern);
            if found.is_some() {
                return found;
            }
        }
        None
    }

    fn search_unfinished_line(&mut self, pattern: &Regex) -> Option<WaitResult> {
        let found = self.match_line(&self.line, pattern);
        if found.is_some() || self.line.len() > MAX_LINE_BYTES {
            self.at += self.line.len() as u64;
            self.line.clear();
        }
        found.map(|found| self.with_next(found))
    }

    fn match_line(&self, line: &[u8], pattern: &Regex) -> Option<WaitResult> {
        let line = trim_carriage_return(line);
        pattern.is_match(line).then(|| WaitResult::Matched {
            line: crate::text::one_line(line),
            stream: self.stream.name(),
            next: self.at,
        })
    }

    /// The match, with the next search beginning at the current offset.
    fn with_next(&self, found: WaitResult) -> WaitResult {
        match found {
            WaitResult::Matched { line, stream, .. } => WaitResult::Matched { line, stream, next: self.at },
            found => found,
        }
    }
}
