//! Foreign text, escaped so that it shows what it is and nothing else.
//!
//! A character that doesn't show as itself is named between `‹` and `›`: `‹ESC›`, `‹U+202E›`. Those two signs are named as
//! well when they are part of the text, so no two texts look the same. Where a person decides about a text, blanks that
//! could be overlooked (several in a row, or at the end of a line) are written as dots, long runs of them as their
//! number, and a dot of the text is named. Tabs that indent a line are written as blanks: so many blanks of the text would
//! be dots, so the two can be told apart.

use unicode_width::UnicodeWidthChar as _;

use crate::characters::unsafe_kind;
use crate::decoder::Decoder;

/// Stands for a blank that could be overlooked.
const DOT: char = '·';
const OPEN: char = '‹';
const CLOSE: char = '›';

/// This many blanks in a row are marked.
const MARKED_BLANKS_MIN: usize = 3;
/// More blanks than this are counted.
const MARKED_BLANKS_MAX: usize = 16;
/// A tab that indents a line is written as this many blanks.
const TAB_BLANKS: usize = 4;
/// More tabs than this in front of a line are named.
const INDENT_TABS_MAX: usize = 8;
/// A character may have this many combining marks. More of them make a text unreadable, or cover the line above.
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

/// One character on the screen. An escaped character of the text becomes several cells.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Cell {
    /// Byte offset of the character in the text.
    pub at: usize,
    /// The character to draw. A newline ends the line.
    pub c: char,
    /// Columns that it takes.
    pub width: usize,
    /// Columns that it may take on a terminal that disagrees about widths.
    pub room: usize,
}

/// What stays as it is.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Layout {
    /// Newlines between lines. Blanks that could be overlooked are marked.
    Lines,
    /// Nothing: the text becomes one line.
    OneLine,
    /// Newlines and tabs.
    Output,
}

/// Escapes a text for a person who decides about it, in lines. Overlooked blanks are marked.
#[must_use]
pub fn cells(text: &str) -> Vec<Cell> {
    build(text, Layout::Lines, true)
}

/// Escapes a text as one line, with overlooked blanks marked.
#[must_use]
pub fn line_cells(text: &str) -> Vec<Cell> {
    build(text, Layout::OneLine, true)
}

/// Escapes a text as one line, with overlooked blanks marked.
#[must_use]
pub fn marked_line(text: &str) -> String {
    line_cells(text).into_iter().map(|cell| cell.c).collect()
}

/// Escapes a text as one line. Blanks stay as they are.
#[must_use]
pub fn line(text: &str) -> String {
    build(text, Layout::OneLine, false).into_iter().map(|cell| cell.c).collect()
}

/// Escapes output of a command. Its newlines, tabs and blanks stay as they are.
#[must_use]
pub fn output(text: &str) -> String {
    build(text, Layout::Output, false).into_iter().map(|cell| cell.c).collect()
}

/// Escapes the output of a command piece by piece.
#[derive(Debug)]
pub struct OutputEscaper {
    decoder: Decoder,
}

impl Default for OutputEscaper {
    fn default() -> Self {
        Self { decoder: Decoder::new() }
    }
}

impl OutputEscaper {
    /// The text of these bytes. An incomplete character is held back.
    pub fn push(&mut self, bytes: &[u8]) -> String {
        self.decoder.push(bytes).map(|piece| output(&piece.text)).unwrap_or_default()
    }

    /// The rest that was held back.
    pub fn finish(&mut self) -> String {
        self.decoder.finish().map(|piece| output(&piece.text)).unwrap_or_default()
    }
}

fn build(text: &str, layout: Layout, marks_blanks: bool) -> Vec<Cell> {
    let mut builder = CellBuilder { cells: Vec::with_capacity(text.len()), combining: None, marks_blanks };
    let mut chars = text.char_indices().peekable();
    let mut at_line_start = true;
    while let Some((at, c)) = chars.next() {
        let begins_line = std::mem::replace(&mut at_line_start, c == '\n');
        match (c, layout) {
            ('\t', Layout::Lines) if begins_line => {
                let mut run = 1;
                while chars.next_if(|(_, next)| *next == '\t').is_some() {
                    run += 1;
                }
                let at_end = chars.peek().is_none_or(|(_, next)| *next == '\n');
                builder.indent(at, run, at_end);
            }
            (' ', _) => {
                let mut run = 1;
                while chars.next_if(|(_, next)| *next == ' ').is_some() {
                    run += 1;
                }
                let at_end = chars.peek().is_none_or(|(_, next)| *next == '\n');
                builder.blanks(at, run, at_end);
            }
            // A newline at the end of the text would not show.
            ('\n', Layout::Lines) if chars.peek().is_some() => builder.kept(at, c),
            ('\n' | '\t', Layout::Output) => builder.kept(at, c),
            (c, _) => builder.char(at, c),
        }
    }
    builder.cells
}

/// Collects cells.
struct CellBuilder {
    cells: Vec<Cell>,
    /// How many combining marks the last character has. `None`: it can't have any.
    combining: Option<usize>,
    /// Whether blanks that could be overlooked are marked.
    marks_blanks: bool,
}

impl CellBuilder {
    fn blanks(&mut self, at: usize, run: usize, at_end: bool) {
        self.combining = None;
        if !self.marks_blanks || run < MARKED_BLANKS_MIN && !at_end {
            (0..run).for_each(|nth| self.push(at + nth, ' '));
        } else if run <= MARKED_BLANKS_MAX {
            (0..run).for_each(|nth| self.push(at + nth, DOT));
        } else {
            self.named(at, &format!("{run} blanks"));
        }
    }

    /// The tabs in front of a line.
    fn indent(&mut self, at: usize, run: usize, at_end: bool) {
        let tabs = at..at + run;
        if !self.marks_blanks || at_end || run > INDENT_TABS_MAX {
            return tabs.for_each(|at| self.char(at, '\t'));
        }
        self.combining = None;
        tabs.for_each(|at| (0..TAB_BLANKS).for_each(|_| self.push(at, ' ')));
    }

    fn kept(&mut self, at: usize, c: char) {
        self.combining = None;
        self.cells.push(Cell { at, c, width: 0, room: 0 });
    }

    fn char(&mut self, at: usize, c: char) {
        let combining = self.combining.take();
        let is_ours = matches!(c, OPEN | CLOSE) || c == DOT && self.marks_blanks;
        let is_hidden = unsafe_kind(c).is_some_and(|kind| !kind.is_visible());
        match (c.width().filter(|_| !is_ours && !is_hidden), combining) {
            (Some(0), Some(count)) if count < COMBINING_MAX => {
                self.cells.push(Cell { at, c, width: 0, room: 0 });
                self.combining = Some(count + 1);
            }
            (Some(1..), _) => {
                self.push(at, c);
                self.combining = Some(0);
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
        self.combining = None;
    }

    fn push(&mut self, at: usize, c: char) {
        let width = c.width().unwrap_or(1);
        // Terminals disagree about the width of other characters, and no line may be longer than we believe.
        let room = if c.is_ascii() { width } else { width.max(2) };
        self.cells.push(Cell { at, c, width, room });
    }
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    #[test]
    fn hidden_characters_are_named() {
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
            assert_eq!(marked_line(text), shown);
        }
        assert_eq!(output("a\tb\n\u{1b}[2J\r\n"), "a\tb\n‹ESC›[2J‹CR›\n");
    }

    #[test]
    fn our_own_signs_are_named() {
        assert_eq!(marked_line("‹ESC›·"), "‹U+2039›ESC‹U+203A›‹U+B7›");
        assert_eq!(line("‹ESC›·"), "‹U+2039›ESC‹U+203A›·");
    }

    #[test]
    fn blanks_that_could_be_overlooked_are_marked() {
        let cases = [
            ("a b  c", "a b  c".to_owned()),
            ("a   b", "a···b".to_owned()),
            ("a ", "a·".to_owned()),
            ("a  \nb", "a··‹LF›b".to_owned()),
            ("a\n   b", "a‹LF›···b".to_owned()),
            (&format!("ls{}; rm x", " ".repeat(5000)), "ls‹5000 blanks›; rm x".to_owned()),
        ];
        for (text, shown) in cases {
            assert_eq!(marked_line(text), shown);
        }
        assert_eq!(line("a   b "), "a   b ");
    }

    #[test]
    fn a_character_has_few_combining_marks() {
        assert_eq!(line("e\u{301}"), "e\u{301}");
        assert_eq!(line("e\u{301}\u{302}\u{303}"), "e\u{301}\u{302}‹U+303›");
        assert_eq!(line("\u{301}e"), "‹U+301›e", "none at the start");
        assert_eq!(line("a \u{301}"), "a ‹U+301›", "none on a blank");
    }

    #[test]
    fn output_in_pieces_has_whole_characters() {
        let mut escaper = OutputEscaper::default();
        let pieces = [&b"a\x1b"[..], &b"[1m\xc3"[..], &b"\xa9"[..]].map(|bytes| escaper.push(bytes));
        assert_eq!(pieces.concat() + &escaper.finish(), "a‹ESC›[1mé");
    }

    /// The text that an escaped text stands for.
    fn unescaped(shown: &str, marks_blanks: bool) -> Option<String> {
        let mut text = String::new();
        let mut rest = shown;
        while let Some(c) = rest.chars().next() {
            rest = rest.get(c.len_utf8()..)?;
            match c {
                DOT if marks_blanks => text.push(' '),
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

    /// Lines with the blanks that stand for tabs turned back.
    fn with_tabs(lines: &str) -> String {
        let line = |line: &str| {
            let blanks = line.len() - line.trim_start_matches(' ').len();
            format!(
                "{}{}",
                "\t".repeat(blanks / TAB_BLANKS),
                line.get(blanks - blanks % TAB_BLANKS..).unwrap()
            )
        };
        lines.split('\n').map(line).collect::<Vec<_>>().join("\n")
    }

    #[test]
    fn tabs_indent_a_line_and_are_named_elsewhere() {
        let shown = |text: &str| cells(text).into_iter().map(|cell| cell.c).collect::<String>();
        for (text, lines) in [
            ("if x\n\tthen\n\t\ty\tz", "if x\n    then\n        y‹TAB›z"),
            ("\t x", "     x"),
            ("     x", "·····x"),
            (" \tx", " ‹TAB›x"),
            ("a\n\t\nb", "a\n‹TAB›\nb"),
        ] {
            assert_eq!(shown(text), lines);
        }
        assert!(shown(&format!("{}x", "\t".repeat(9))).starts_with("‹TAB›"));
        assert_eq!(marked_line("\tx"), "‹TAB›x");
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

    fn is_hidden(c: char) -> bool {
        c.is_control() || unsafe_kind(c).is_some_and(|kind| !kind.is_visible())
    }

    proptest! {
        #[test]
        fn no_control_character_passes(text in hostile()) {
            for cell in cells(&text) {
                prop_assert!(cell.c == '\n' || !is_hidden(cell.c), "{:?}", cell.c);
            }
            prop_assert!(!line(&text).chars().any(is_hidden));
            prop_assert!(!marked_line(&text).chars().any(is_hidden));
            prop_assert!(!output(&text).chars().any(|c| c != '\n' && c != '\t' && is_hidden(c)));
        }

        #[test]
        fn no_two_texts_look_the_same(text in hostile()) {
            // What can be read back exactly differs from every other text.
            prop_assert_eq!(unescaped(&line(&text), false), Some(text.clone()));
            prop_assert_eq!(unescaped(&marked_line(&text), true), Some(text.clone()));
            prop_assert_eq!(unescaped(&output(&text), false), Some(text.clone()));
            let lines: String = cells(&text).into_iter().map(|cell| cell.c).collect();
            prop_assert_eq!(unescaped(&with_tabs(&lines), true), Some(text));
        }

        #[test]
        fn cells_have_the_offsets_of_the_text(text in hostile()) {
            let cells = cells(&text);
            for pair in cells.windows(2) {
                prop_assert!(pair[0].at <= pair[1].at);
            }
            prop_assert!(cells.iter().all(|cell| text.is_char_boundary(cell.at) && cell.at < text.len()));
        }
    }
}
