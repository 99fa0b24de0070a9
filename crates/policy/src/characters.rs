//! Characters that make a text look like another one.
//!
//! A person who is asked must see what will run. So a text with characters that hide, reorder or imitate others is never
//! allowed without asking, and the reason names the first of them.

use shellgate_syntax::Span;

/// A character that deceives readers.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct DeceivingCharacter {
    pub(crate) span: Span,
    pub(crate) character: char,
    /// What it is, for people.
    pub(crate) description: &'static str,
}

/// Characters that hide or reorder text: first, last, and what they are. In order.
const HIDING_RANGES: &[(u32, u32, &str)] = &[
    (0x00, 0x08, "a control character"),
    (0x0b, 0x1f, "a control character"),
    (0x7f, 0x9f, "a control character"),
    (0xad, 0xad, "an invisible hyphen"),
    (0x34f, 0x34f, "an invisible character"),
    (0x61c, 0x61c, "a character that changes the direction of text"),
    (0x115f, 0x1160, "an invisible character"),
    (0x17b4, 0x17b5, "an invisible character"),
    (0x180b, 0x180f, "an invisible character"),
    (0x200b, 0x200d, "an invisible character"),
    (0x200e, 0x200f, "a character that changes the direction of text"),
    (0x2028, 0x2029, "a line separator that is none for the shell"),
    (0x202a, 0x202e, "a character that changes the direction of text"),
    (0x2060, 0x2064, "an invisible character"),
    (0x2066, 0x2069, "a character that changes the direction of text"),
    (0x206a, 0x206f, "an invisible character"),
    (0x3164, 0x3164, "an invisible character"),
    (0xfeff, 0xfeff, "an invisible character"),
    (0xffa0, 0xffa0, "an invisible character"),
    (0xfff9, 0xfffb, "an invisible character"),
    (0x1_bca0, 0x1_bca3, "an invisible character"),
    (0x1_d173, 0x1_d17a, "an invisible character"),
    (0xe_0000, 0xe_0fff, "an invisible character"),
];

/// Blanks, operators and quotes of other scripts: harmless in quoted text, misleading outside of it.
const IMITATING_RANGES: &[(u32, u32, &str)] = &[
    (0xa0, 0xa0, "a blank that separates nothing"),
    (0x37e, 0x37e, "a semicolon that is none"),
    (0x1680, 0x1680, "a blank that separates nothing"),
    (0x2000, 0x200a, "a blank that separates nothing"),
    (0x2010, 0x2015, "a hyphen that is none"),
    (0x2018, 0x201f, "a quote that quotes nothing"),
    (0x202f, 0x202f, "a blank that separates nothing"),
    (0x205f, 0x205f, "a blank that separates nothing"),
    (0x2212, 0x2212, "a hyphen that is none"),
    (0x3000, 0x3000, "a blank that separates nothing"),
    (0xfe54, 0xfe54, "a semicolon that is none"),
    (0xff01, 0xff0f, "a sign that imitates another"),
    (0xff1a, 0xff20, "a sign that imitates another"),
    (0xff3b, 0xff40, "a sign that imitates another"),
    (0xff5b, 0xff5e, "a sign that imitates another"),
];

fn description(table: &[(u32, u32, &'static str)], character: char) -> Option<&'static str> {
    let number = u32::from(character);
    table
        .iter()
        .find(|(first, last, _)| (*first..=*last).contains(&number))
        .map(|(_, _, description)| *description)
}

/// The first character in `text` that hides or reorders text.
pub(crate) fn find_hiding(text: &str) -> Option<DeceivingCharacter> {
    find(text, HIDING_RANGES)
}

/// The first character in `text` that imitates a sign of the shell.
pub(crate) fn find_imitating(text: &str) -> Option<DeceivingCharacter> {
    find(text, IMITATING_RANGES)
}

fn find(text: &str, table: &[(u32, u32, &'static str)]) -> Option<DeceivingCharacter> {
    // Most texts are plain ASCII, and are looked through many bytes at a time.
    if text.bytes().all(|byte| (0x20..0x7f).contains(&byte) || byte == b'\n' || byte == b'\t') {
        return None;
    }
    text.char_indices().find_map(|(at, character)| {
        let description = description(table, character)?;
        Some(DeceivingCharacter { span: Span::new(at, at + character.len_utf8()), character, description })
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn plain_text_of_any_language_passes() {
        for text in ["ls -la\n\techo", "echo 日本語", "echo é e\u{301}", "echo 🇯🇵 ü ß Ω ж"] {
            assert_eq!(find_hiding(text), None, "{text}");
        }
    }

    #[test]
    fn hiding_characters_are_found() {
        for text in
            ["a\rb", "a\u{1b}[1A", "a\u{8}", "\u{202e}x", "\u{200b}git", "a\u{e0069}b", "x\u{85}y", "\u{7f}"]
        {
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
