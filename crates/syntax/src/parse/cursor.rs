//! Moving through the text. Bash drops a backslash with the newline behind it almost everywhere, even in the middle
//! of an operator: `peek` and `eat` do too, `byte` doesn't.

use super::Parser;

/// Whether an unquoted byte ends a word.
pub(super) const fn breaks(byte: u8) -> bool {
    matches!(byte, b' ' | b'\t' | b'\n' | b';' | b'&' | b'|' | b'(' | b')' | b'<' | b'>')
}

pub(super) const fn name_start(byte: u8) -> bool {
    byte.is_ascii_alphabetic() || byte == b'_'
}

pub(super) const fn name_byte(byte: u8) -> bool {
    byte.is_ascii_alphanumeric() || byte == b'_'
}

/// Whether bash would take it as a variable's name.
pub(crate) fn is_name(text: &str) -> bool {
    text.bytes().next().is_some_and(name_start) && text.bytes().all(name_byte)
}

impl<'a> Parser<'a> {
    /// The byte at `at`, whatever it is.
    pub(super) fn byte(&self, at: usize) -> Option<u8> {
        if at < self.end { self.text.as_bytes().get(at).copied() } else { None }
    }

    pub(super) fn slice(&self, start: usize, end: usize) -> &'a str {
        self.text.get(start..end).unwrap_or_default()
    }

    /// The end of the character that begins at `start`.
    pub(super) fn char_end(&self, start: usize) -> usize {
        let mut end = start + 1;
        while end < self.text.len() && !self.text.is_char_boundary(end) {
            end += 1;
        }
        end.min(self.text.len()).max(start.min(self.text.len()))
    }

    /// `at`, or the position behind a line continuation (`\` and a newline) that begins there.
    pub(super) fn joined(&self, mut at: usize) -> usize {
        while self.byte(at) == Some(b'\\') && self.byte(at + 1) == Some(b'\n') {
            at += 2;
        }
        at
    }

    /// The next byte.
    pub(super) fn peek(&mut self) -> Option<u8> {
        self.pos = self.joined(self.pos);
        self.byte(self.pos)
    }

    /// The byte after the next.
    pub(super) fn peek_second(&mut self) -> Option<u8> {
        self.peek()?;
        self.byte(self.joined(self.pos + 1))
    }

    /// The end of `expected`, if it comes next.
    pub(super) fn ahead(&self, expected: &[u8]) -> Option<usize> {
        let mut at = self.pos;
        for &byte in expected {
            at = self.joined(at);
            if self.byte(at) != Some(byte) {
                return None;
            }
            at += 1;
        }
        Some(at)
    }

    /// Passes `expected`, if it comes next.
    pub(super) fn eat(&mut self, expected: &[u8]) -> bool {
        match self.ahead(expected) {
            Some(at) => {
                self.pos = at;
                true
            }
            None => false,
        }
    }

    /// Passes blanks, and a comment if one begins here. Only space and tab are blank to bash.
    pub(super) fn skip_blanks(&mut self) {
        while matches!(self.peek(), Some(b' ' | b'\t')) {
            self.pos += 1;
        }
        if self.byte(self.pos) == Some(b'#') {
            let rest = self.text.as_bytes().get(self.pos..self.end).unwrap_or_default();
            self.pos += memchr::memchr(b'\n', rest).unwrap_or(rest.len());
        }
    }
}
