//! Foreign text, made so that it shows what it is and nothing else.
//!
//! What doesn't show as itself is named between `‹` and `›`: `‹ESC›`, `‹U+202E›`. Those two signs and the dot that stands
//! for a blank are named too when they come from outside, so no text can look like another one that was escaped. Runs of
//! blanks and blanks at the end of a line are dots; long runs are counted.

use unicode_width::UnicodeWidthChar as _;

use crate::picture::Cell;

/// A blank that would be overlooked.
const DOT: char = '·';
const OPEN: char = '‹';
const CLOSE: char = '›';

/// So many blanks in a row are made visible.
const VISIBLE_BLANKS_MIN: usize = 3;
/// More than this are counted.
const COUNTED_BLANKS_MIN: usize = 16;
/// So many marks may stand on one character; more make a text unreadable, or hide the one above.
const COMBINING_MAX: usize = 2;

const CHARACTER_NAMES: &[(char, &str)] = &[
    ('\0', "NUL"),
    ('\u{7}', "BEL"),
    ('\u{8}', "BS"),
    ('\t', "TAB"),
    ('\n', "LF"),
    ('\r', "CR"),
    ('\u{1b}', "ESC"),
    ('\u{7f}', "DEL"),
];

/// Characters that show as nothing, as a blank, as anything or out of their place. In order.
const INVISIBLE_RANGES: &[(u32, u32)] = &[
    (0x00, 0x1f),
    (0x7f, 0xa0),
    (0xad, 0xad),
    (0x34f, 0x34f),
    (0x61c, 0x61c),
    (0x115f, 0x1160),
    (0x1680, 0x1680),
    (0x17b4, 0x17b5),
    (0x180b, 0x180f),
    (0x2000, 0x200f),
    (0x2028, 0x202f),
    (0x205f, 0x206f),
    (0x2800, 0x2800),
    (0x3000, 0x3000),
    (0x3164, 0x3164),
    (0xd800, 0xf8ff),
    (0xfdd0, 0xfdef),
    (0xfe00, 0xfe0f),
    (0xfeff, 0xfeff),
    (0xffa0, 0xffa0),
    (0xfff0, 0xfffb),
    (0xfffe, 0xffff),
    (0x1_bca0, 0x1_bca3),
    (0x1_d173, 0x1_d17a),
    (0xe_0000, 0x10_ffff),
];

/// A text as cells of a picture. Only a newline between two lines is left as such.
pub(crate) fn cells(text: &str) -> Vec<Cell> {
    let mut builder = CellBuilder { cells: Vec::with_capacity(text.len()), marks: None };
    let mut chars = text.char_indices().peekable();
    while let Some((at, c)) = chars.next() {
        match c {
            ' ' => {
                let mut run = 1;
                while chars.next_if(|(_, next)| *next == ' ').is_some() {
                    run += 1;
                }
                let at_end = chars.peek().is_none_or(|(_, next)| *next == '\n');
                builder.blanks(at, run, at_end);
            }
            '\n' if chars.peek().is_some() => builder.newline(at),
            c => builder.char(at, c),
        }
    }
    builder.cells
}

/// The same on one line: newlines are named too.
pub(crate) fn line_cells(text: &str) -> Vec<Cell> {
    let mut builder = CellBuilder { cells: Vec::with_capacity(text.len()), marks: None };
    let mut at = 0;
    for part in text.split_inclusive('\n') {
        let (before, newline) = part.strip_suffix('\n').map_or((part, false), |before| (before, true));
        builder.cells.extend(cells(before).into_iter().map(|cell| Cell { at: at + cell.at, ..cell }));
        if newline {
            builder.named(at + before.len(), "LF");
        }
        at += part.len();
    }
    builder.cells
}

/// The same, drawn.
pub(crate) fn line(text: &str) -> String {
    line_cells(text).into_iter().map(|cell| cell.c).collect()
}

/// Cells, as they come to be.
struct CellBuilder {
    cells: Vec<Cell>,
    /// How many marks the last character has; `None`: it takes none.
    marks: Option<usize>,
}

impl CellBuilder {
    fn blanks(&mut self, at: usize, run: usize, at_end: bool) {
        self.marks = None;
        match run {
            ..VISIBLE_BLANKS_MIN if !at_end => (0..run).for_each(|nth| self.push(at + nth, ' ')),
            ..=COUNTED_BLANKS_MIN => (0..run).for_each(|nth| self.push(at + nth, DOT)),
            _ => self.named(at, &format!("{run} blanks")),
        }
    }

    fn newline(&mut self, at: usize) {
        self.marks = None;
        self.cells.push(Cell { at, c: '\n', width: 0, room: 0 });
    }

    fn char(&mut self, at: usize, c: char) {
        let marks = self.marks;
        self.marks = None;
        let is_own = matches!(c, DOT | OPEN | CLOSE);
        match (c.width().filter(|_| !is_own && !is_invisible(c)), marks) {
            (Some(0), Some(marks)) if marks < COMBINING_MAX => {
                self.cells.push(Cell { at, c, width: 0, room: 0 });
                self.marks = Some(marks + 1);
            }
            (Some(1..), _) => {
                self.push(at, c);
                self.marks = Some(0);
            }
            _ => match CHARACTER_NAMES.iter().find(|(named, _)| *named == c) {
                Some((_, name)) => self.named(at, name),
                None => self.named(at, &format!("U+{:X}", u32::from(c))),
            },
        }
    }

    fn named(&mut self, at: usize, name: &str) {
        self.push(at, OPEN);
        name.chars().for_each(|c| self.push(at, c));
        self.push(at, CLOSE);
        self.marks = None;
    }

    fn push(&mut self, at: usize, c: char) {
        let width = c.width().unwrap_or(1);
        // Terminals don't agree on how wide the rest is; no line may be longer than ours believes.
        let room = if c.is_ascii() { width } else { width.max(2) };
        self.cells.push(Cell { at, c, width, room });
    }
}

fn is_invisible(c: char) -> bool {
    let number = u32::from(c);
    let is_noncharacter = number & 0xfffe == 0xfffe;
    is_noncharacter || INVISIBLE_RANGES.iter().any(|(first, last)| (*first..=*last).contains(&number))
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    #[test]
    fn what_does_not_show_is_named() {
        let cases = [
            ("a\u{1b}[31mb", "a‹ESC›[31mb"),
            ("a\rb\tc\u{7f}\u{9b}1A", "a‹CR›b‹TAB›c‹DEL›‹U+9B›1A"),
            ("\u{202e}x\u{200b}\u{e0041}\u{e000}\u{feff}", "‹U+202E›x‹U+200B›‹U+E0041›‹U+E000›‹U+FEFF›"),
            ("a\u{a0}b\u{2003}c\u{2800}", "a‹U+A0›b‹U+2003›c‹U+2800›"),
            ("a\nb\n", "a‹LF›b‹LF›"),
            ("plain, 日本 and é, ж, 🦀", "plain, 日本 and é, ж, 🦀"),
        ];
        for (text, shown) in cases {
            assert_eq!(line(text), shown);
        }
    }

    #[test]
    fn signs_of_ours_are_ours_alone() {
        assert_eq!(line("‹ESC›·"), "‹U+2039›ESC‹U+203A›‹U+B7›");
    }

    #[test]
    fn blanks_that_hide_something_show() {
        let cases = [
            ("a b  c", "a b  c".to_owned()),
            ("a   b", "a···b".to_owned()),
            ("a ", "a·".to_owned()),
            ("a  \nb", "a··‹LF›b".to_owned()),
            ("a\n   b", "a‹LF›···b".to_owned()),
            (&format!("ls{}; rm x", " ".repeat(5000)), "ls‹5000 blanks›; rm x".to_owned()),
        ];
        for (text, shown) in cases {
            assert_eq!(line(text), shown);
        }
    }

    #[test]
    fn marks_on_a_character_are_few() {
        assert_eq!(line("e\u{301}"), "e\u{301}");
        assert_eq!(line("e\u{301}\u{302}\u{303}"), "e\u{301}\u{302}‹U+303›");
        assert_eq!(line("\u{301}e"), "‹U+301›e", "none on nothing");
        assert_eq!(line("a \u{301}"), "a ‹U+301›", "none on a blank");
    }

    /// What was drawn, read back.
    fn unescaped(shown: &str) -> Option<String> {
        let mut text = String::new();
        let mut rest = shown;
        while let Some(c) = rest.chars().next() {
            rest = rest.get(c.len_utf8()..)?;
            match c {
                DOT => text.push(' '),
                OPEN => {
                    let (name, after) = rest.split_once(CLOSE)?;
                    rest = after;
                    if let Some(run) = name.strip_suffix(" blanks") {
                        text.push_str(&" ".repeat(run.parse().ok()?));
                    } else if let Some(number) = name.strip_prefix("U+") {
                        text.push(char::from_u32(u32::from_str_radix(number, 16).ok()?)?);
                    } else {
                        text.push(CHARACTER_NAMES.iter().find(|(_, known)| *known == name)?.0);
                    }
                }
                c => text.push(c),
            }
        }
        Some(text)
    }

    fn hostile() -> impl Strategy<Value = String> {
        let any = any::<char>();
        let odd = prop::sample::select(
            "\u{1b}[31m\r\n\t \u{202e}\u{200b}\u{9b}\u{7f}‹›·\u{301}\u{e0041}é日🦀a;"
                .chars()
                .collect::<Vec<_>>(),
        );
        prop::collection::vec(prop_oneof![1 => any, 4 => odd], 0..200).prop_map(String::from_iter)
    }

    proptest! {
        #[test]
        fn no_control_character_passes(text in hostile()) {
            for cell in cells(&text) {
                prop_assert!(cell.c == '\n' || !is_invisible(cell.c), "{:?}", cell.c);
            }
            prop_assert!(!line(&text).chars().any(is_invisible));
        }

        #[test]
        fn no_two_texts_look_the_same(text in hostile()) {
            let shown = line(&text);
            prop_assert_eq!(unescaped(&shown), Some(text));
        }

        #[test]
        fn places_are_those_of_the_text(text in hostile()) {
            let cells = cells(&text);
            for pair in cells.windows(2) {
                prop_assert!(pair[0].at <= pair[1].at);
            }
            prop_assert!(cells.iter().all(|cell| text.is_char_boundary(cell.at) && cell.at < text.len()));
        }
    }
}
