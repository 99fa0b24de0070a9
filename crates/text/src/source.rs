//! The bytes of a stream: a spool file, and the last bytes in memory if the file doesn't hold the whole stream.

use std::{fs::File, io, ops::Range, path::Path};

/// The captured bytes of one stream.
#[derive(Debug, Clone)]
pub struct Source<'a> {
    /// The spool file, open for reading.
    pub file: &'a File,
    /// The path of the file, to be named in the text.
    pub path: &'a Path,
    /// The offset in the file at which it begins. It is 0, except for a part that is treated as a stream of its own.
    pub begins: u64,
    /// How many bytes of the file from `begins` on are valid. They are the first bytes of the stream.
    pub spooled: u64,
    /// How many bytes the command wrote.
    pub total: u64,
    /// The last bytes of the stream, if `total` is larger than `spooled`. May be empty, and may overlap the file.
    pub tail: &'a [u8],
    /// Why spooling stopped early, such as "No space left on device". `None`: the capture limit was reached.
    pub lost: Option<String>,
    /// How a model reads the rest with a tool. `None`: the rest is read from the file.
    pub read_as: Option<ReadAs<'a>>,
}

impl<'a> Source<'a> {
    /// All that a file holds, as a stream that the file holds completely.
    #[must_use]
    pub fn whole(file: &'a File, path: &'a Path) -> Self {
        let length = file.metadata().map_or(0, |metadata| metadata.len());
        Self { file, path, begins: 0, spooled: length, total: length, tail: &[], lost: None, read_as: None }
    }
}

/// How a model reads a stream with a tool.
#[derive(Debug, Clone, Copy)]
pub struct ReadAs<'a> {
    /// The execution.
    pub id: &'a str,
    /// The name of the stream.
    pub stream: &'a str,
    /// The number of the first line of the source; 1 for a whole stream.
    pub first_line: u64,
}

/// A source whose numbers agree with each other and with the file.
pub(super) struct Stream<'a> {
    file: &'a File,
    pub(super) path: &'a Path,
    /// The offset of its first byte in the file.
    pub(super) begins: u64,
    /// How many bytes of the stream the file holds, from its start.
    pub(super) kept: u64,
    pub(super) total: u64,
    /// The bytes from `tail_at` to the end. They don't overlap the file.
    tail: &'a [u8],
    tail_at: u64,
    pub(super) lost: Option<String>,
    pub(super) read_as: Option<ReadAs<'a>>,
}

impl<'a> Stream<'a> {
    pub(super) fn new(source: &Source<'a>) -> Self {
        let mut lost = source.lost.clone();
        let on_disk = match source.file.metadata() {
            Ok(metadata) => metadata.len().saturating_sub(source.begins),
            Err(error) => {
                lost = Some(error.to_string());
                0
            }
        };
        let kept = source.spooled.min(on_disk);
        if kept < source.spooled && lost.is_none() {
            lost = Some("the file was truncated later".to_owned());
        }
        let total = source.total.max(source.spooled);
        let length = source.tail.len() as u64;
        let tail_at = total.saturating_sub(length).max(kept);
        // The tail ends with the stream. Bytes at its start that the file holds too are cut off.
        let wanted = usize::try_from(total - tail_at).unwrap_or(usize::MAX);
        let start = source.tail.len().saturating_sub(wanted);
        let tail = source.tail.get(start..).unwrap_or_default();
        let tail_at = total - tail.len() as u64;
        let read_as = source.read_as;
        Self {
            file: source.file,
            path: source.path,
            begins: source.begins,
            kept,
            total,
            tail,
            tail_at,
            lost,
            read_as,
        }
    }

    /// The bytes that were not kept: between the end of the file and the start of the tail.
    pub(super) fn missing(&self) -> Range<u64> {
        self.kept..self.tail_at
    }

    /// Reads a part of the stream that isn't missing. If the file can't be read at some byte, the rest of the file
    /// counts as lost, and only the bytes before it are returned.
    pub(super) fn read(&mut self, range: Range<u64>) -> Vec<u8> {
        let from_file = range.start.min(self.kept)..range.end.min(self.kept);
        let length = usize::try_from(from_file.end - from_file.start).unwrap_or(usize::MAX);
        let mut bytes = vec![0; length];
        let mut filled = 0;
        while let Some(rest) = bytes.get_mut(filled..).filter(|rest| !rest.is_empty()) {
            let offset = from_file.start + filled as u64;
            match read_at(self.file, rest, self.begins + offset) {
                Ok(0) => {
                    return self.lose(bytes, filled, offset, "the file was truncated while it was read");
                }
                Ok(read) => filled += read,
                Err(error) if error.kind() == io::ErrorKind::Interrupted => {}
                Err(error) => return self.lose(bytes, filled, offset, &error.to_string()),
            }
        }
        if range.end > self.tail_at {
            let start = usize::try_from(range.start.max(self.tail_at) - self.tail_at).unwrap_or(usize::MAX);
            let end = usize::try_from(range.end - self.tail_at).unwrap_or(usize::MAX);
            bytes.extend_from_slice(self.tail.get(start..end.min(self.tail.len())).unwrap_or_default());
        }
        bytes
    }

    fn lose(&mut self, mut bytes: Vec<u8>, filled: usize, offset: u64, why: &str) -> Vec<u8> {
        self.kept = offset;
        self.lost = Some(why.to_owned());
        bytes.truncate(filled);
        bytes
    }
}

#[cfg(unix)]
fn read_at(file: &File, buffer: &mut [u8], offset: u64) -> io::Result<usize> {
    std::os::unix::fs::FileExt::read_at(file, buffer, offset)
}

#[cfg(windows)]
fn read_at(file: &File, buffer: &mut [u8], offset: u64) -> io::Result<usize> {
    std::os::windows::fs::FileExt::seek_read(file, buffer, offset)
}

#[cfg(test)]
mod tests {
    use std::io::Write;

    use super::*;

    fn spool(bytes: &[u8]) -> tempfile::NamedTempFile {
        let mut file = tempfile::NamedTempFile::new().unwrap();
        file.write_all(bytes).unwrap();
        file
    }

    fn source<'a>(file: &'a tempfile::NamedTempFile, total: u64, tail: &'a [u8]) -> Source<'a> {
        Source {
            file: file.as_file(),
            path: file.path(),
            begins: 0,
            spooled: 10,
            total,
            tail,
            lost: None,
            read_as: None,
        }
    }

    #[test]
    fn an_overlapping_tail_closes_the_gap() {
        let file = spool(b"0123456789");
        let mut stream = Stream::new(&source(&file, 14, b"6789abcd"));
        assert!(stream.missing().is_empty());
        assert_eq!(stream.read(0..14), b"0123456789abcd");
        assert_eq!(stream.read(8..12), b"89ab");
        assert_eq!(stream.read(11..13), b"bc");
    }

    #[test]
    fn a_short_tail_leaves_a_gap() {
        let file = spool(b"0123456789");
        let mut stream = Stream::new(&source(&file, 20, b"xyz"));
        assert_eq!(stream.missing(), 10..17);
        assert_eq!(stream.read(0..4), b"0123");
        assert_eq!(stream.read(17..20), b"xyz");
    }

    #[test]
    fn a_part_is_read_at_its_offset() {
        let file = spool(b"0123456789");
        let part = Source { begins: 3, spooled: 4, ..source(&file, 4, b"") };
        let mut stream = Stream::new(&part);
        assert!(stream.missing().is_empty());
        assert_eq!(stream.read(0..4), b"3456");
        assert_eq!(stream.read(2..3), b"5");
    }

    #[test]
    fn a_truncated_file_is_reported() {
        let file = spool(b"01234");
        let stream = Stream::new(&source(&file, 10, b""));
        assert_eq!(stream.missing(), 5..10);
        assert_eq!(stream.lost.as_deref(), Some("the file was truncated later"));
    }
}
