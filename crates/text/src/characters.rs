//! Characters that a reader can't see, or takes for others.
//!
//! This is the only such table: the judge asks because of these characters, and every text that people see has the
//! invisible ones written out.

use std::cmp::Ordering;

/// What is wrong with a character.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum UnsafeKind {
    /// A terminal acts on it.
    Control,
    /// A soft hyphen.
    InvisibleHyphen,
    /// It shows as nothing.
    Invisible,
    /// It changes the direction of text.
    Direction,
    /// Readers see a new line where bash sees none.
    LineSeparator,
    /// It looks like a blank.
    Blank,
    /// It looks like `;`.
    Semicolon,
    /// It looks like `-`.
    Hyphen,
    /// It looks like a quote.
    Quote,
    /// It looks like another sign of the shell.
    Sign,
    /// It has no shape of its own: it shows as nothing, or differently on each screen.
    Shapeless,
}

/// How a character misleads the reader of a command.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Deception {
    /// It hides or reorders text, wherever it is.
    Hiding,
    /// It imitates a sign of the shell: harmless in quoted text.
    Imitating,
}

/// Ranges of characters, in order: first, last, kind.
const RANGES: &[(u32, u32, UnsafeKind)] = &[
    (0x00, 0x1f, UnsafeKind::Control),
    (0x7f, 0x9f, UnsafeKind::Control),
    (0xa0, 0xa0, UnsafeKind::Blank),
    (0xad, 0xad, UnsafeKind::InvisibleHyphen),
    (0x34f, 0x34f, UnsafeKind::Invisible),
    (0x37e, 0x37e, UnsafeKind::Semicolon),
    (0x61c, 0x61c, UnsafeKind::Direction),
    (0x115f, 0x1160, UnsafeKind::Invisible),
    (0x1680, 0x1680, UnsafeKind::Blank),
    (0x17b4, 0x17b5, UnsafeKind::Invisible),
    (0x180b, 0x180f, UnsafeKind::Invisible),
    (0x2000, 0x200a, UnsafeKind::Blank),
    (0x200b, 0x200d, UnsafeKind::Invisible),
    (0x200e, 0x200f, UnsafeKind::Direction),
    (0x2010, 0x2015, UnsafeKind::Hyphen),
    (0x2018, 0x201f, UnsafeKind::Quote),
    (0x2028, 0x2029, UnsafeKind::LineSeparator),
    (0x202a, 0x202e, UnsafeKind::Direction),
    (0x202f, 0x202f, UnsafeKind::Blank),
    (0x205f, 0x205f, UnsafeKind::Blank),
    (0x2060, 0x2064, UnsafeKind::Invisible),
    (0x2065, 0x2065, UnsafeKind::Shapeless),
    (0x2066, 0x2069, UnsafeKind::Direction),
    (0x206a, 0x206f, UnsafeKind::Invisible),
    (0x2212, 0x2212, UnsafeKind::Hyphen),
    (0x2800, 0x2800, UnsafeKind::Shapeless),
    (0x3000, 0x3000, UnsafeKind::Blank),
    (0x3164, 0x3164, UnsafeKind::Invisible),
    (0xe000, 0xf8ff, UnsafeKind::Shapeless),
    (0xfdd0, 0xfdef, UnsafeKind::Shapeless),
    (0xfe00, 0xfe0f, UnsafeKind::Shapeless),
    (0xfe54, 0xfe54, UnsafeKind::Semicolon),
    (0xfeff, 0xfeff, UnsafeKind::Invisible),
    (0xff01, 0xff0f, UnsafeKind::Sign),
    (0xff1a, 0xff20, UnsafeKind::Sign),
    (0xff3b, 0xff40, UnsafeKind::Sign),
    (0xff5b, 0xff5e, UnsafeKind::Sign),
    (0xffa0, 0xffa0, UnsafeKind::Invisible),
    (0xfff0, 0xfff8, UnsafeKind::Shapeless),
    (0xfff9, 0xfffb, UnsafeKind::Invisible),
    (0x1_bca0, 0x1_bca3, UnsafeKind::Invisible),
    (0x1_d173, 0x1_d17a, UnsafeKind::Invisible),
    (0xe_0000, 0xe_0fff, UnsafeKind::Invisible),
    (0xe_1000, 0x10_ffff, UnsafeKind::Shapeless),
];

/// What is wrong with a character, if anything.
#[must_use]
pub fn unsafe_kind(character: char) -> Option<UnsafeKind> {
    let number = u32::from(character);
    let found = RANGES.binary_search_by(|(first, last, _)| match (number < *first, number > *last) {
        (true, _) => Ordering::Greater,
        (_, true) => Ordering::Less,
        _ => Ordering::Equal,
    });
    match found.ok().and_then(|at| RANGES.get(at)) {
        Some((_, _, kind)) => Some(*kind),
        // The last two of every plane are not characters.
        None => (number & 0xfffe == 0xfffe).then_some(UnsafeKind::Shapeless),
    }
}

impl UnsafeKind {
    /// Whether readers see the character, though they may take it for another one.
    #[must_use]
    pub const fn is_visible(self) -> bool {
        matches!(self, Self::Semicolon | Self::Hyphen | Self::Quote | Self::Sign)
    }

    /// How it misleads readers of a command. `None`: it doesn't.
    #[must_use]
    pub const fn deception(self) -> Option<Deception> {
        match self {
            Self::Control
            | Self::InvisibleHyphen
            | Self::Invisible
            | Self::Direction
            | Self::LineSeparator => Some(Deception::Hiding),
            Self::Blank | Self::Semicolon | Self::Hyphen | Self::Quote | Self::Sign => {
                Some(Deception::Imitating)
            }
            Self::Shapeless => None,
        }
    }

    /// A description for people, with its article.
    #[must_use]
    pub const fn description(self) -> &'static str {
        match self {
            Self::Control => "a control character",
            Self::InvisibleHyphen => "an invisible hyphen",
            Self::Invisible => "an invisible character",
            Self::Direction => "a character that changes the direction of text",
            Self::LineSeparator => "a line separator that the shell doesn't know",
            Self::Blank => "a blank that doesn't separate words",
            Self::Semicolon => "a character that looks like a semicolon",
            Self::Hyphen => "a character that looks like a hyphen",
            Self::Quote => "a quote that the shell doesn't know",
            Self::Sign => "a character that looks like another sign",
            Self::Shapeless => "a character without a shape of its own",
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn ranges_are_in_order() {
        for pair in RANGES.windows(2) {
            assert!(pair[0].0 <= pair[0].1 && pair[0].1 < pair[1].0, "{:x} {:x}", pair[0].0, pair[1].0);
        }
    }

    #[test]
    fn text_of_any_language_is_safe() {
        for character in "ls -la é e\u{301} 日本語 ü ß Ω ж 🦀 עברית العربية".chars() {
            assert_eq!(unsafe_kind(character), None, "{character:?}");
        }
    }

    #[test]
    fn unsafe_characters_are_found() {
        for (character, kind) in [
            ('\t', UnsafeKind::Control),
            ('\u{9b}', UnsafeKind::Control),
            ('\u{ad}', UnsafeKind::InvisibleHyphen),
            ('\u{200b}', UnsafeKind::Invisible),
            ('\u{202e}', UnsafeKind::Direction),
            ('\u{2028}', UnsafeKind::LineSeparator),
            ('\u{3000}', UnsafeKind::Blank),
            ('；', UnsafeKind::Sign),
            ('—', UnsafeKind::Hyphen),
            ('“', UnsafeKind::Quote),
            ('\u{fe0f}', UnsafeKind::Shapeless),
            ('\u{e0041}', UnsafeKind::Invisible),
            ('\u{2fffe}', UnsafeKind::Shapeless),
            ('\u{10ffff}', UnsafeKind::Shapeless),
        ] {
            assert_eq!(unsafe_kind(character), Some(kind), "{character:?}");
        }
    }

    #[test]
    fn no_control_character_of_unicode_is_missing() {
        let missing =
            (0..=0x10_ffff).filter_map(char::from_u32).find(|c| c.is_control() && unsafe_kind(*c).is_none());
        assert_eq!(missing, None);
    }
}
