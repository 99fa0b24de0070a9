//! Characters that make a text look like another one.
//!
//! A person who is asked must see what will run. So a text with characters that hide, reorder or imitate others is never
//! allowed without asking, and the reason names the first of them.

use shellgate_syntax::Span;
use shellgate_text::characters::{Deception, unsafe_kind};

/// A character that deceives readers.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct DeceivingCharacter {
    pub(crate) span: Span,
    pub(crate) character: char,
    /// What it is, for people.
    pub(crate) description: &'static str,
}

/// The first character in `text` that hides or reorders text.
pub(crate) fn find_hiding(text: &str) -> Option<DeceivingCharacter> {
    find(text, Deception::Hiding)
}

/// The first character in `text` that imitates a sign of the shell.
pub(crate) fn find_imitating(text: &str) -> Option<DeceivingCharacter> {
    find(text, Deception::Imitating)
}

fn find(text: &str, deception: Deception) -> Option<DeceivingCharacter> {
    let is_plain = |byte: u8| (0x20..0x7f).contains(&byte) || byte == b'\n' || byte == b'\t';
    // Most texts are plain ASCII, and are looked through many bytes at a time.
    if text.bytes().all(is_plain) {
        return None;
    }
    let mut unusual = text.char_indices().filter(|(_, character)| !matches!(character, '\n' | '\t'));
    unusual.find_map(|(at, character)| {
        let kind = unsafe_kind(character).filter(|kind| kind.deception() == Some(deception))?;
        if is_joiner_in_writing(text, at, character) {
            return None;
        }
        let span = Span::new(at, at + character.len_utf8());
        Some(DeceivingCharacter { span, character, description: kind.description() })
    })
}

/// Whether a joiner stands where writing has it: between two signs of a script or two pictures that become one. All that the
/// shell reads as more than text is ASCII, so it can hide nothing there.
fn is_joiner_in_writing(text: &str, at: usize, character: char) -> bool {
    const JOINERS: [char; 2] = ['\u{200c}', '\u{200d}'];
    let is_writing =
        |c: char| !c.is_ascii() && (unsafe_kind(c).is_none() || c == '\u{fe0f}') && !c.is_whitespace();
    JOINERS.contains(&character)
        && text.get(..at).and_then(|before| before.chars().next_back()).is_some_and(is_writing)
        && text
            .get(at + character.len_utf8()..)
            .and_then(|behind| behind.chars().next())
            .is_some_and(is_writing)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn plain_text_of_any_language_passes() {
        for text in [
            "ls -la\n\techo",
            "echo 日本語",
            "echo é e\u{301}",
            "echo 🇯🇵 ü ß Ω ж",
            "echo 👩\u{200d}💻",
            "echo می\u{200c}خواهم",
            "echo 🏳\u{fe0f}\u{200d}🌈",
        ] {
            assert_eq!(find_hiding(text), None, "{text}");
        }
    }

    #[test]
    fn hiding_characters_are_found() {
        for text in [
            "a\rb",
            "a\u{1b}[1A",
            "a\u{8}",
            "\u{202e}x",
            "\u{200b}git",
            "r\u{200d}m",
            "é\u{200d}m",
            "é\u{200d}\u{200d}é",
            "a\u{e0069}b",
            "x\u{85}y",
            "\u{7f}",
        ] {
            assert!(find_hiding(text).is_some(), "{text:?}");
        }
        assert_eq!(find_hiding("ab\u{200b}c").unwrap().span, Span::new(2, 5));
    }

    #[test]
    fn imitating_characters_are_found() {
        for text in ["a；b", "git\u{a0}status", "—m", "“x”", "a\u{37e}b"] {
            assert!(find_imitating(text).is_some(), "{text:?}");
        }
    }
}
