//! Decodes bytes from a terminal into keys.
//!
//! A paste is one [`Key::Pasted`] on terminals that mark pastes. An unknown escape sequence is one [`Key::Other`]: its
//! letters are never taken for keys.

use std::time::Duration;

/// A key, or a paste.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) enum Key {
    Char(char),
    /// A letter with Ctrl.
    Ctrl(char),
    Enter,
    Escape,
    Backspace,
    Up,
    Down,
    PageUp,
    PageDown,
    Home,
    End,
    Pasted(String),
    Other,
}

const ESC: u8 = 0x1b;
const PASTE_START: &[u8] = b"\x1b[200~";
const PASTE_END: &[u8] = b"\x1b[201~";

/// Escape sequences without their `ESC [` or `ESC O`.
const SEQUENCES: &[(&[u8], Key)] = &[
    (b"A", Key::Up),
    (b"B", Key::Down),
    (b"H", Key::Home),
    (b"F", Key::End),
    (b"1~", Key::Home),
    (b"4~", Key::End),
    (b"5~", Key::PageUp),
    (b"6~", Key::PageDown),
    (b"7~", Key::Home),
    (b"8~", Key::End),
];

/// Bytes that were not decoded yet.
#[derive(Debug, Default)]
pub(crate) struct Keys {
    bytes: Vec<u8>,
}

impl Keys {
    pub(crate) fn push(&mut self, bytes: &[u8]) {
        self.bytes.extend_from_slice(bytes);
    }

    /// Discards all bytes.
    pub(crate) fn clear(&mut self) {
        self.bytes.clear();
    }

    /// How long to wait for the rest of an incomplete key.
    pub(crate) fn timeout(&self) -> Option<Duration> {
        (!self.bytes.is_empty())
            .then(|| Duration::from_millis(if self.bytes.starts_with(PASTE_START) { 1000 } else { 50 }))
    }

    /// The next complete key.
    pub(crate) fn next(&mut self) -> Option<Key> {
        let (key, length) = read(&self.bytes)?;
        self.bytes.drain(..length.min(self.bytes.len()));
        Some(key)
    }

    /// Takes an incomplete key for complete, because nothing more came.
    pub(crate) fn flush(&mut self) -> Option<Key> {
        let bytes = std::mem::take(&mut self.bytes);
        match bytes.as_slice() {
            [] => None,
            [ESC] => Some(Key::Escape),
            _ => Some(Key::Other),
        }
    }
}

/// The first key and its length in bytes. `None`: it is incomplete.
fn read(bytes: &[u8]) -> Option<(Key, usize)> {
    match *bytes {
        [] | [ESC] => None,
        [ESC, b'[', ..] if bytes.starts_with(PASTE_START) => {
            let end = bytes.windows(PASTE_END.len()).position(|window| window == PASTE_END)?;
            let text = String::from_utf8_lossy(bytes.get(PASTE_START.len()..end)?).into_owned();
            Some((Key::Pasted(text), end + PASTE_END.len()))
        }
        [ESC, b'[', ref rest @ ..] => {
            let length = rest.iter().position(|byte| (0x40..=0x7e).contains(byte))? + 1;
            Some((named(rest.get(..length)?), 2 + length))
        }
        [ESC, b'O', ref rest @ ..] => Some((named(rest.get(..1)?), 3)),
        // A key with Alt.
        [ESC, _, ..] => Some((Key::Other, 2)),
        [b'\r' | b'\n', ..] => Some((Key::Enter, 1)),
        [0x7f | 0x08, ..] => Some((Key::Backspace, 1)),
        [byte @ 0x01..=0x1a, ..] => Some((Key::Ctrl(char::from(byte | 0x60)), 1)),
        [0..=0x1f, ..] => Some((Key::Other, 1)),
        [first, ..] => {
            let length = match first {
                0..=0x7f => 1,
                0xc2..=0xdf => 2,
                0xe0..=0xef => 3,
                0xf0..=0xf4 => 4,
                _ => return Some((Key::Other, 1)),
            };
            let text = std::str::from_utf8(bytes.get(..length)?).ok();
            let c = text.and_then(|text| text.chars().next()).filter(|c| !c.is_control());
            Some(c.map_or((Key::Other, 1), |c| (Key::Char(c), length)))
        }
    }
}

fn named(sequence: &[u8]) -> Key {
    SEQUENCES.iter().find(|(known, _)| *known == sequence).map_or(Key::Other, |(_, key)| key.clone())
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    fn keys(bytes: &[u8]) -> Vec<Key> {
        let mut keys = Keys::default();
        let mut found = Vec::new();
        // One byte at a time, as from a slow connection.
        for byte in bytes {
            keys.push(&[*byte]);
            found.extend(std::iter::from_fn(|| keys.next()));
        }
        found.extend(keys.flush());
        found
    }

    #[test]
    fn keys_are_read() {
        assert_eq!(keys("yé\r".as_bytes()), [Key::Char('y'), Key::Char('é'), Key::Enter]);
        assert_eq!(keys(b"\x03\x1a\x7f\x1b"), [Key::Ctrl('c'), Key::Ctrl('z'), Key::Backspace, Key::Escape]);
        assert_eq!(keys(b"\x1b[A\x1b[6~\x1bOF"), [Key::Up, Key::PageDown, Key::End]);
    }

    #[test]
    fn letters_of_a_sequence_are_no_keys() {
        assert_eq!(keys(b"\x1by"), [Key::Other], "Alt-y");
        assert_eq!(keys(b"\x1b[1;5y\x1bOy"), [Key::Other, Key::Other]);
        assert_eq!(keys(b"\x1b[200~y\ny\x1b[201~"), [Key::Pasted("y\ny".to_owned())]);
        assert_eq!(keys(b"\x1b[200~y"), [Key::Other], "a paste without an end");
    }

    proptest! {
        #[test]
        fn any_bytes_are_read_to_the_end(bytes in prop::collection::vec(any::<u8>(), 0..200)) {
            prop_assert!(keys(&bytes).len() <= bytes.len());
        }
    }
}
