//! The screen of a terminal, as a person would see it now.
//!
//! A full-screen program draws over what it drew before, so its output as text is of no use. The stream is played on a
//! screen of the terminal's size, and the final screen is shown. The work is bounded: of a long stream only the end is
//! played, after a search for a switch to the alternate screen before it.

use std::num::NonZeroU16;
use std::os::unix::fs::FileExt as _;

use crate::Source;
use crate::marker::looks_like_one;

/// How much of a stream's end is played. A full-screen program redraws its screen within that.
const PLAYED_BYTES: u64 = 2 << 20;

/// How much is searched for a switch to the alternate screen.
const SEARCHED_BYTES: u64 = 64 << 20;

const READ_CHUNK_BYTES: u64 = 1 << 20;

/// The length of the longest switch, less one byte. Chunks overlap by this much.
const OVERLAP_BYTES: u64 = 8;

/// The codes that switch to or from the alternate screen, without their last letter: `h` for on, `l` for off.
const SWITCH_CODES: [&[u8]; 3] = [b"\x1b[?1049", b"\x1b[?47", b"\x1b[?1047"];

/// The screen of a terminal.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Screen {
    /// Its lines, without spaces at their ends and without empty lines at the end.
    pub text: String,
    /// The row and the column of the cursor, counted from 0.
    pub cursor: (u16, u16),
    /// Whether a full-screen program draws on it. If not, it shows the end of the output, and lines that scrolled out matter
    /// too.
    pub drawn: bool,
    /// Whether the program has switched the cursor keys to application mode.
    pub application_keys: bool,
    /// The codes that draw this screen on an empty terminal, modes included.
    pub codes: String,
    /// The codes that set the modes alone.
    pub modes: String,
}

/// Plays a stream on a terminal of this size, and returns the final screen. `None`: the stream can't be played.
#[must_use]
pub fn screen(source: &Source<'_>, rows: u16, cols: u16) -> Option<Screen> {
    let bytes = end_of(source);
    let before = source.spooled.saturating_sub(bytes.len() as u64);
    let alternate = before > 0 && is_alternate_at(source, before);
    // A library parses untrusted output here. If it panics, there is no screen.
    std::panic::catch_unwind(|| play(&bytes, alternate, (rows, cols))).ok()
}

fn play(bytes: &[u8], alternate: bool, (rows, cols): (u16, u16)) -> Screen {
    let length = |count: u16| NonZeroU16::new(count.clamp(2, 1000)).unwrap_or(NonZeroU16::MIN);
    let (rows, cols) = (length(rows), length(cols));
    let mut parser = vt100::Parser::new(rows, cols, 0);
    if alternate {
        parser.process(b"\x1b[?1049h");
    }
    parser.process(bytes);
    let screen = parser.screen();
    let mut text = String::new();
    for row in screen.rows(0, cols.get()) {
        let row = row.trim_end();
        if looks_like_one(row) {
            text.push(' ');
        }
        text.extend(row.chars().filter(|c| !c.is_control()));
        text.push('\n');
    }
    text.truncate(text.trim_end_matches('\n').len());
    let drawn = screen.alternate_screen() || is_drawn(bytes, usize::from(rows.get()));
    let switch = if screen.alternate_screen() { "\x1b[?1049h" } else { "" };
    Screen {
        text,
        cursor: screen.cursor_position(),
        drawn,
        application_keys: screen.application_cursor(),
        codes: format!("{switch}{}", screen.state_formatted()),
        modes: screen.input_mode_formatted(),
    }
}

/// Whether the program has moved the cursor to an address, and printed at most a screen of lines since.
fn is_drawn(bytes: &[u8], rows: usize) -> bool {
    let mut lines = 0;
    for at in memchr::memrchr2_iter(b'\x1b', b'\n', bytes) {
        if bytes.get(at) == Some(&b'\n') {
            lines += 1;
            if lines > rows {
                return false;
            }
        } else if let Some(code) = bytes.get(at..).and_then(|rest| rest.strip_prefix(b"\x1b[")) {
            let letter = code.iter().find(|byte| !matches!(byte, b'0'..=b'9' | b';'));
            if matches!(letter, Some(b'H' | b'f' | b'd')) {
                return true;
            }
        }
    }
    false
}

/// The last bytes of the stream: from the file, or those kept in memory if the file doesn't hold the end.
fn end_of(source: &Source<'_>) -> Vec<u8> {
    if source.total > source.spooled && !source.tail.is_empty() {
        return source.tail.to_vec();
    }
    read(source, source.spooled.saturating_sub(PLAYED_BYTES)..source.spooled)
}

/// Whether the alternate screen was on at the offset `end`.
fn is_alternate_at(source: &Source<'_>, end: u64) -> bool {
    let earliest = end.saturating_sub(SEARCHED_BYTES);
    let mut until = end;
    while until > earliest {
        let from = until.saturating_sub(READ_CHUNK_BYTES).max(earliest);
        let bytes = read(source, from..(until + OVERLAP_BYTES).min(end));
        let last = SWITCH_CODES.iter().filter_map(|code| {
            let at = memchr::memmem::rfind(&bytes, code)?;
            Some((at, bytes.get(at + code.len()) == Some(&b'h')))
        });
        if let Some((_, on)) = last.max() {
            return on;
        }
        until = from;
    }
    false
}

fn read(source: &Source<'_>, range: std::ops::Range<u64>) -> Vec<u8> {
    let mut bytes = vec![0; usize::try_from(range.end - range.start).unwrap_or(0)];
    let mut filled = 0;
    while let Some(rest) = bytes.get_mut(filled..).filter(|rest| !rest.is_empty()) {
        match source.file.read_at(rest, range.start + filled as u64) {
            Ok(count @ 1..) => filled += count,
            // The file is shorter than `source` says: what it holds is shown.
            _ => break,
        }
    }
    bytes.truncate(filled);
    bytes
}

#[cfg(test)]
mod tests {
    use std::io::Write as _;

    use super::*;

    fn of(bytes: &[u8]) -> Screen {
        let mut file = tempfile::NamedTempFile::new().unwrap();
        file.write_all(bytes).unwrap();
        screen(&Source::whole(file.as_file(), file.path()), 5, 20).unwrap()
    }

    #[test]
    fn drawing_over_text_replaces_it() {
        let shown = of(b"$ vim\r\n\x1b[?1049h\x1b[2J\x1b[1;1Hold\x1b[1;1Hnew\x1b[5;1H-- INSERT --\x1b[1;4H");
        assert_eq!(shown.text, "new\n\n\n\n-- INSERT --");
        assert_eq!((shown.cursor, shown.drawn), ((0, 3), true));
    }

    #[test]
    fn lines_that_scroll_are_not_a_drawing() {
        assert!(!of(b"one\r\ntwo\r\n").drawn);
        assert!(of(b"\x1b[H\x1b[2Jtop\r\n").drawn, "just cleared");
        assert!(
            !of(b"\x1b[H\x1b[2J1\r\n2\r\n3\r\n4\r\n5\r\n6\r\n7\r\n").drawn,
            "cleared, then more lines than rows"
        );
        assert!(!of(b"\x1b[?1049hx\x1b[?1049ldone\r\n").drawn);
    }

    #[test]
    fn of_a_long_stream_the_end_is_played() {
        let mut bytes = b"\x1b[?1049h".to_vec();
        while (bytes.len() as u64) < PLAYED_BYTES + 2 * READ_CHUNK_BYTES {
            bytes.extend_from_slice(b"\x1b[2;1Hsame line");
        }
        bytes.extend_from_slice(b"\x1b[1;1Hlast");
        let shown = of(&bytes);
        assert!(shown.text.ends_with("\nsame line"), "{shown:?}");
        assert!(shown.drawn);
    }

    #[test]
    fn marker_lines_cannot_be_forged() {
        assert_eq!(of("[… 5 bytes …]\x07".as_bytes()).text, " [… 5 bytes …]");
    }

    proptest::proptest! {
        #[test]
        fn arbitrary_bytes_make_a_screen_without_control_characters(noise in proptest::collection::vec(proptest::prelude::any::<u8>(), 0..300)) {
            let shown = of(&noise);
            assert!(shown.text.chars().all(|c| c == '\n' || !c.is_control()));
        }
    }
}
