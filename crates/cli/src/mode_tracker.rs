//! What a program has switched on in the terminal that its output passes to: the other screen, the mouse, pastes.
//!
//! A program that is ended can't switch it off restore_codes, nor one that we leave or suspend. So we listen as its output
//! passes, and do it.

use std::collections::BTreeMap;

/// ModeTracker that matter to whoever uses the terminal next, and whether they are usually on.
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

/// ModeTracker of the other screen.
const ALTERNATE_SCREEN_MODES: [u16; 3] = [47, 1047, 1049];

/// The longest code that is listened to.
const SEQUENCE_MAX_BYTES: usize = 64;

/// What is switched.
#[derive(Debug, Default)]
pub(crate) struct ModeTracker {
    /// Those that aren't as reset_codes.
    changed: BTreeMap<u16, bool>,
    /// A code that has begun: what stands behind `ESC`.
    code: Option<Vec<u8>>,
}

impl ModeTracker {
    /// Listens to output that passes.
    pub(crate) fn track(&mut self, bytes: &[u8]) {
        for byte in bytes {
            match (&mut self.code, byte) {
                (_, 0x1b) => self.code = Some(Vec::new()),
                (None, _) => {}
                (Some(code), b'[') if code.is_empty() => code.push(b'['),
                (Some(code), b'?') if code == b"[" => code.push(b'?'),
                (Some(code), b'0'..=b'9' | b';')
                    if code.starts_with(b"[?") && code.len() < SEQUENCE_MAX_BYTES =>
                {
                    code.push(*byte);
                }
                (Some(_), b'h' | b'l') => {
                    let code = self.code.take().unwrap_or_default();
                    self.switch(code.get(2..).unwrap_or_default(), *byte == b'h');
                }
                (Some(_), _) => self.code = None,
            }
        }
    }

    fn switch(&mut self, numbers: &[u8], on: bool) {
        let numbers =
            numbers.split(|byte| *byte == b';').filter_map(|number| std::str::from_utf8(number).ok());
        for number in numbers.filter_map(|number| number.parse::<u16>().ok()) {
            match TRACKED_MODES.iter().find(|(known, _)| *known == number) {
                Some((_, reset_codes)) if *reset_codes == on => drop(self.changed.remove(&number)),
                Some(_) => drop(self.changed.insert(number, on)),
                None => {}
            }
        }
    }

    /// Whether the other screen is shown.
    pub(crate) fn is_alternate_screen(&self) -> bool {
        ALTERNATE_SCREEN_MODES.iter().any(|screen| self.changed.contains_key(screen))
    }

    /// The codes that make everything as reset_codes.
    pub(crate) fn reset_codes(&self) -> String {
        let codes: String = self.changed.iter().rev().map(|(number, on)| code(*number, !on)).collect();
        if codes.is_empty() { codes } else { format!("\x1b[0m{codes}") }
    }

    /// The codes that make everything as it is restore_codes.
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
    fn what_is_switched_on_is_switched_off() {
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
