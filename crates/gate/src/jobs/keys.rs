//! Keys by name: `C-c`, `Enter`, `Up`, `F5`.

use crate::ErrorObject;

/// A key, as the bytes that a terminal sends for it.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Key {
    bytes: Vec<u8>,
    /// The bytes in application mode, for keys that have others there.
    application: Option<Vec<u8>>,
}

/// Names of keys, and the bytes of each key.
const NAMED_KEYS: &[(&[&str], &[u8])] = &[
    (&["enter", "return", "ret", "cr"], b"\r"),
    (&["tab"], b"\t"),
    (&["s-tab", "backtab"], b"\x1b[Z"),
    (&["esc", "escape"], b"\x1b"),
    (&["space"], b" "),
    (&["backspace", "bspace", "bs"], b"\x7f"),
    (&["delete", "del", "dc"], b"\x1b[3~"),
    (&["insert", "ins", "ic"], b"\x1b[2~"),
    (&["pageup", "pgup", "ppage"], b"\x1b[5~"),
    (&["pagedown", "pgdn", "npage"], b"\x1b[6~"),
    (&["f1"], b"\x1bOP"),
    (&["f2"], b"\x1bOQ"),
    (&["f3"], b"\x1bOR"),
    (&["f4"], b"\x1bOS"),
    (&["f5"], b"\x1b[15~"),
    (&["f6"], b"\x1b[17~"),
    (&["f7"], b"\x1b[18~"),
    (&["f8"], b"\x1b[19~"),
    (&["f9"], b"\x1b[20~"),
    (&["f10"], b"\x1b[21~"),
    (&["f11"], b"\x1b[23~"),
    (&["f12"], b"\x1b[24~"),
];

/// Cursor keys and their letter, which follows `ESC [`, or `ESC O` in application mode.
const CURSOR_KEYS: &[(&str, u8)] =
    &[("up", b'A'), ("down", b'B'), ("right", b'C'), ("left", b'D'), ("home", b'H'), ("end", b'F')];

impl Key {
    /// The key of this name.
    ///
    /// # Errors
    /// `invalid_input` when no key has this name.
    pub fn named(name: &str) -> Result<Self, ErrorObject> {
        let lower = name.to_ascii_lowercase();
        if let Some((_, bytes)) = NAMED_KEYS.iter().find(|(names, _)| names.contains(&lower.as_str())) {
            return Ok(Self { bytes: bytes.to_vec(), application: None });
        }
        if let Some((_, letter)) = CURSOR_KEYS.iter().find(|(known, _)| *known == lower) {
            let key = |start: &[u8]| [start, &[*letter]].concat();
            return Ok(Self { bytes: key(b"\x1b["), application: Some(key(b"\x1bO")) });
        }
        let control = ["c-", "ctrl-", "^"].iter().find_map(|start| lower.strip_prefix(start));
        if let Some(byte) = control.and_then(control_key) {
            return Ok(Self { bytes: vec![byte], application: None });
        }
        // The case of the letter matters from here on.
        let meta = ["M-", "m-", "Alt-", "alt-"].iter().find_map(|start| name.strip_prefix(start));
        let mut letters = meta.unwrap_or(name).chars();
        match (letters.next(), letters.next()) {
            (Some(letter), None) if !letter.is_control() => {
                let escape = if meta.is_some() { "\x1b" } else { "" };
                Ok(Self { bytes: format!("{escape}{letter}").into_bytes(), application: None })
            }
            _ => Err(ErrorObject::invalid(format!("no key is called {name:?}")).token(name).hint(
                "use C-c, C-d, C-z, Enter, Tab, Esc, Space, Backspace, Up, Down, Left, Right, Home, End, PageUp, \
                 PageDown, Insert, Delete, F1 to F12, M-x or a single character",
            )),
        }
    }

    /// Whether its bytes differ in application mode.
    pub(super) fn has_application_mode(&self) -> bool {
        self.application.is_some()
    }

    /// The bytes to send. `application`: the program has switched the terminal's cursor keys to application mode.
    pub(super) fn bytes(&self, application: bool) -> &[u8] {
        self.application.as_deref().filter(|_| application).unwrap_or(&self.bytes)
    }
}

fn control_key(name: &str) -> Option<u8> {
    match name.as_bytes() {
        [letter @ b'a'..=b'z'] => Some(letter & 0x1f),
        [b'@'] | b"space" => Some(0),
        [b'['] => Some(0x1b),
        [b'\\'] => Some(0x1c),
        [b']'] => Some(0x1d),
        [b'^'] => Some(0x1e),
        [b'_' | b'/'] => Some(0x1f),
        [b'?'] => Some(0x7f),
        _ => None,
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn names_are_the_keys_of_a_terminal() {
        let cases: &[(&str, &[u8])] = &[
            ("C-c", b"\x03"),
            ("c-C", b"\x03"),
            ("^D", b"\x04"),
            ("Ctrl-Z", b"\x1a"),
            ("C-\\", b"\x1c"),
            ("Enter", b"\r"),
            ("Esc", b"\x1b"),
            ("Up", b"\x1b[A"),
            ("F12", b"\x1b[24~"),
            ("PageUp", b"\x1b[5~"),
            ("Backspace", b"\x7f"),
            ("M-x", b"\x1bx"),
            ("q", b"q"),
            ("ä", "ä".as_bytes()),
        ];
        for (name, bytes) in cases {
            assert_eq!(Key::named(name).unwrap().bytes(false), *bytes, "{name}");
        }
        assert_eq!(Key::named("Up").unwrap().bytes(true), b"\x1bOA");
        for name in ["", "Entre", "C-", "C-ab", "F13", "\x07"] {
            assert!(Key::named(name).is_err(), "{name:?}");
        }
    }
}
