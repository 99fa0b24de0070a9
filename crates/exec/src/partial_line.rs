//! A line that was typed at a terminal and not finished with Enter.
//!
//! To judge the end of a line for a shell, one must know its beginning, which another process may have typed. So the
//! keeper remembers it. When a key edits the line instead of adding a character, only the reader knows the new line.

use serde::{Deserialize, Serialize};

/// The longest line that is remembered.
const MAX_LINE_BYTES: usize = 128 << 10;

/// Ctrl-C.
const INTERRUPT: u8 = 0x03;
/// Ctrl-D.
const END_OF_FILE: u8 = 0x04;
/// Ctrl-U.
const KILL_LINE: u8 = 0x15;
/// Ctrl-V: the next key is taken as a character.
const LITERAL_NEXT: u8 = 0x16;
/// Ctrl-Z.
const SUSPEND: u8 = 0x1a;
/// Ctrl-\.
const QUIT: u8 = 0x1c;

/// A line that was begun and not finished.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct PartialLine {
    /// Its text so far.
    #[serde(with = "serde_bytes")]
    pub text: Vec<u8>,
    /// Whether keys were pressed that edit it. Then `text` is not what the reader has.
    pub edited: bool,
    /// The process that read the terminal when the line was begun, if the sender knew it.
    pub reader: Option<u32>,
    literal: bool,
}

impl PartialLine {
    /// Whether nothing was typed since the last Enter.
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
            _ if self.text.len() >= MAX_LINE_BYTES => self.edited = true,
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
    fn keys_that_edit_make_the_line_unknown() {
        for key in [b"\x7f".as_slice(), b"\x17", b"\t", b"\x1b[A", b"\x1b[200~", b"\x04", b"\x1a"] {
            assert!(after(b"rm").typed(key, None).edited, "{key:?}");
        }
        assert!(!after(b"").typed(b"\x04", None).edited, "at the start of a line it is an end of file");
        assert!(after(b"\x1b[A").edited, "an earlier line was recalled");
        let literal = after(b"a\x16");
        assert!(literal.typed(b"\x03", None).edited, "it stands in the line and ends nothing");
        assert!(literal.typed(b"\x03\x03", None).is_empty());
    }
}
