//! What was typed at a terminal and not finished with Enter.
//!
//! Whoever judges what a shell reads must know how the line begins that its words end. Lines are typed by processes that
//! know nothing of each other, so the keeper remembers. Where a key does more than add a character, nobody but the reader
//! knows what the line has become.

use serde::{Deserialize, Serialize};

/// The longest line that is remembered.
const LONGEST: usize = 128 << 10;

/// Ctrl-C.
const INTERRUPT: u8 = 0x03;
/// Ctrl-D.
const END_OF_FILE: u8 = 0x04;
/// Ctrl-U.
const KILL_LINE: u8 = 0x15;
/// Ctrl-V: the next key is a character, whatever it is.
const LITERAL_NEXT: u8 = 0x16;
/// Ctrl-Z.
const SUSPEND: u8 = 0x1a;
/// Ctrl-\.
const QUIT: u8 = 0x1c;

/// A line that was begun.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct PartialLine {
    /// What it says so far.
    #[serde(with = "serde_bytes")]
    pub text: Vec<u8>,
    /// Keys were pressed that edit it: what it says is known to its reader alone.
    pub edited: bool,
    /// Who read the terminal when it was begun, if the sender knew.
    pub reader: Option<u32>,
    literal: bool,
}

impl PartialLine {
    /// Whether no line was begun.
    #[must_use]
    pub fn is_empty(&self) -> bool {
        self.text.is_empty() && !self.edited
    }

    /// The line after these keys.
    #[must_use]
    pub fn typed(&self, bytes: &[u8], reader: Option<u32>) -> Self {
        let mut line = self.clone();
        for byte in bytes {
            line.press(*byte, reader);
        }
        line
    }

    fn press(&mut self, key: u8, reader: Option<u32>) {
        if self.is_empty() {
            self.reader = reader;
        }
        if std::mem::take(&mut self.literal) {
            self.edited = true;
            return;
        }
        match key {
            b'\r' | b'\n' | INTERRUPT | KILL_LINE => *self = Self::default(),
            END_OF_FILE | SUSPEND | QUIT => self.edited |= !self.text.is_empty(),
            LITERAL_NEXT => (self.literal, self.edited) = (true, true),
            0..0x20 | 0x7f => self.edited = true,
            _ if self.text.len() >= LONGEST => self.edited = true,
            _ => self.text.push(key),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn after(keys: &[u8]) -> PartialLine {
        keys.iter().fold(PartialLine::default(), |line, key| line.typed(&[*key], Some(7)))
    }

    #[test]
    fn a_line_grows_until_it_is_finished_or_thrown_away() {
        assert_eq!(after(b"r").typed(b"m x", None).text, b"rm x");
        assert_eq!(after(b"rm x").reader, Some(7));
        for end in [b"\r", b"\n", b"\x03", b"\x15"] {
            assert!(after(b"rm x").typed(end, None).is_empty());
        }
        assert_eq!(after(b"ls\rp").text, b"p");
    }

    #[test]
    fn keys_that_edit_make_it_unknown() {
        for key in [b"\x7f".as_slice(), b"\x17", b"\t", b"\x1b[A", b"\x1b[200~", b"\x04", b"\x1a"] {
            assert!(after(b"rm").typed(key, None).edited, "{key:?}");
        }
        assert!(!after(b"").typed(b"\x04", None).edited, "at the start of a line it is an end of file");
        assert!(after(b"\x1b[A").edited, "an old line was called back");
        let literal = after(b"a\x16");
        assert!(literal.typed(b"\x03", None).edited, "it stands in the line and ends nothing");
        assert!(literal.typed(b"\x03\x03", None).is_empty());
    }
}
