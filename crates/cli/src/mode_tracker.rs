//! The modes that a program has switched on in the terminal: the alternate screen, the mouse, marked pastes.
//!
//! A program that is killed can't switch them off, nor can one that we detach from or suspend. So we follow its output
//! as it passes, and switch them off ourselves.

use std::collections::BTreeMap;

/// Modes that disturb the next program at the terminal, and whether they are on by default.
const TRACKED_MODES: &[(u16, bool)] = &[
    (1, false),
    (7, true),
    (9, false),
    (25, true),
    (47, false),
    (1000, false),
    (1002, false),
    (1003, false),
    (1004, false),
    (1005, false),
    (1006, false),
    (1015, false),
    (1047, false),
    (1049, false),
    (2004, false),
];

/// Modes that show the alternate screen.
const ALTERNATE_SCREEN_MODES: [u16; 3] = [47, 1047, 1049];

/// Longer escape sequences are ignored.
const SEQUENCE_MAX_BYTES: usize = 64;

/// The modes of a terminal, as far as they differ from the default.
#[derive(Debug, Default)]
pub(crate) struct ModeTracker {
    /// Modes that differ from their default, and whether they are on.
    changed: BTreeMap<u16, bool>,
    /// An escape sequence that has begun, without its `ESC`.
    sequence: Option<Vec<u8>>,
}

impl ModeTracker {
    /// Follows output. Returns whether it switched a mode.
    pub(crate) fn track(&mut self, bytes: &[u8]) -> bool {
        let mut switched = false;
        for byte in bytes {
            match (&mut self.sequence, byte) {
                (_, 0x1b) => self.sequence = Some(Vec::new()),
                (None, _) => {}
                (Some(sequence), b'[') if sequence.is_empty() => sequence.push(b'['),
                (Some(sequence), b'?') if sequence == b"[" => sequence.push(b'?'),
                (Some(sequence), b'0'..=b'9' | b';')
                    if sequence.starts_with(b"[?") && sequence.len() < SEQUENCE_MAX_BYTES =>
                {
                    sequence.push(*byte);
                }
                (Some(_), b'h' | b'l') => {
                    let sequence = self.sequence.take().unwrap_or_default();
                    switched |= self.switch(sequence.get(2..).unwrap_or_default(), *byte == b'h');
                }
                (Some(_), _) => self.sequence = None,
            }
        }
        switched
    }

    fn switch(&mut self, numbers: &[u8], on: bool) -> bool {
        let before = self.changed.clone();
        let numbers =
            numbers.split(|byte| *byte == b';').filter_map(|number| std::str::from_utf8(number).ok());
        for number in numbers.filter_map(|number| number.parse::<u16>().ok()) {
            match TRACKED_MODES.iter().find(|(tracked, _)| *tracked == number) {
                Some((_, default)) if *default == on => drop(self.changed.remove(&number)),
                Some(_) => drop(self.changed.insert(number, on)),
                None => {}
            }
        }
        self.changed != before
    }

    /// Whether the alternate screen is shown.
    pub(crate) fn is_alternate_screen(&self) -> bool {
        ALTERNATE_SCREEN_MODES.iter().any(|screen| self.changed.contains_key(screen))
    }

    /// The codes that switch all modes to their default.
    pub(crate) fn reset_codes(&self) -> String {
        let codes: String = self.changed.iter().rev().map(|(number, on)| code(*number, !on)).collect();
        if codes.is_empty() { codes } else { format!("\x1b[0m{codes}") }
    }

    /// The codes that switch modes from their default to what they are now.
    pub(crate) fn restore_codes(&self) -> String {
        self.changed.iter().map(|(number, on)| code(*number, *on)).collect()
    }
}

fn code(number: u16, on: bool) -> String {
    format!("\x1b[?{number}{}", if on { 'h' } else { 'l' })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn modes_that_were_switched_on_are_switched_off() {
        let mut tracker = ModeTracker::default();
        for byte in b"text\x1b[?1049h\x1b[31m\x1b[?25l\x1b[?2004h\x1b[?12h\x1b[?1;1000h" {
            tracker.track(&[*byte]);
        }
        assert!(tracker.is_alternate_screen());
        assert_eq!(tracker.reset_codes(), "\x1b[0m\x1b[?2004l\x1b[?1049l\x1b[?1000l\x1b[?25h\x1b[?1l");
        assert_eq!(tracker.restore_codes(), "\x1b[?1h\x1b[?25l\x1b[?1000h\x1b[?1049h\x1b[?2004h");
        tracker.track(b"\x1b[?1049l\x1b[?25h\x1b[?2004l\x1b[?1l\x1b[?1000l");
        assert_eq!((tracker.reset_codes().as_str(), tracker.is_alternate_screen()), ("", false));
    }
}
