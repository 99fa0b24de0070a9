//! A text with parts of it marked and numbered underneath.
//!
//! ```text
//! git status && rm x
//! 1─────────    2───
//! ```
//! Parts inside parts stand on rows of their own; parts in the same place share a mark, `2-4`; other places that matter are
//! marked `^`. Nothing is left out: a line that is too long goes on below, and characters that don't show are written out.
//! Time is linear in the text and the rows.

use std::cmp::Reverse;
use std::collections::HashMap;

use shellgate::judge::{Decision, Span};
use unicode_width::UnicodeWidthChar as _;

use crate::output::{decision_color, escape, is_visible};

/// A text that is to be shown.
pub(crate) struct Picture {
    cells: Vec<Cell>,
    width: usize,
}

/// One character on the screen. One of the text may need several of them, all with its place.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Cell {
    /// Where it is in the text.
    pub(crate) at: usize,
    /// What is drawn; a newline ends the line.
    pub(crate) c: char,
    /// How many columns it takes.
    pub(crate) width: usize,
    /// How many it may take on a terminal that knows other widths.
    pub(crate) room: usize,
}

/// A row of a picture.
#[derive(Debug, PartialEq, Eq)]
pub(crate) enum Row {
    /// The beginning of the text's line with this number.
    Line(usize, String),
    /// What the row before had no room for.
    Continuation(String),
    /// What is marked in the row before, with codes for colours.
    Marks(String),
}

/// A place that is marked.
struct Mark {
    span: Span,
    label: String,
    /// The strictest of its parts.
    decision: Decision,
}

impl Picture {
    /// In lines of at most `width` columns.
    pub(crate) fn new(text: &str, width: usize) -> Self {
        let mut cells = Vec::with_capacity(text.len());
        for (at, c) in text.char_indices() {
            let cell = |c: char, width| Cell { at, c, width, room: width };
            match c {
                '\n' => cells.push(cell(c, 0)),
                '\t' => cells.extend(TAB_AS_BLANKS.chars().map(|c| cell(c, 1))),
                c if is_visible(c) => cells.push(cell(c, c.width().unwrap_or(1))),
                c => cells.extend(escape(c.encode_utf8(&mut [0; 4])).chars().map(|c| cell(c, 1))),
            }
        }
        Self { cells, width: width.max(20) }
    }

    /// Of a text that somebody else made showable.
    pub(crate) fn from_cells(cells: Vec<Cell>, width: usize) -> Self {
        Self { cells, width: width.max(2) }
    }

    /// The text, each line with the marks of its parts and of other places under it.
    pub(crate) fn marked(&self, parts: &[(Span, Decision)], others: &[(Span, Decision)]) -> String {
        let mut drawn = String::new();
        for row in self.rows(parts, others) {
            let (Row::Line(_, text) | Row::Continuation(text) | Row::Marks(text)) = row;
            drawn.push_str(&text);
            drawn.push('\n');
        }
        drawn
    }

    /// The same, row by row.
    pub(crate) fn rows(&self, parts: &[(Span, Decision)], others: &[(Span, Decision)]) -> Vec<Row> {
        let mut marks = marks(parts);
        let other = |(span, decision): &(Span, Decision)| Mark {
            span: *span,
            label: "^".to_owned(),
            decision: *decision,
        };
        marks.extend(others.iter().map(other));
        marks.sort_by_key(Mark::order);
        let mut marks = marks.into_iter().peekable();
        let mut open: Vec<Mark> = Vec::new();
        let mut rows = Vec::new();
        let (mut number, mut continues) = (0, false);
        for line in self.lines() {
            let text = line.iter().map(|cell| cell.c).filter(|c| *c != '\n').collect();
            if continues {
                rows.push(Row::Continuation(text));
            } else {
                number += 1;
                rows.push(Row::Line(number, text));
            }
            continues = line.last().is_some_and(|cell| cell.c != '\n');
            let (Some(first), Some(last)) = (line.first(), line.last()) else { continue };
            open.retain(|mark| mark.span.end > first.at);
            while let Some(mark) = marks.next_if(|mark| mark.span.start <= last.at) {
                open.push(mark);
            }
            rows.extend(under(line, first.at, &open).into_iter().map(Row::Marks));
        }
        rows
    }

    fn lines(&self) -> Vec<&[Cell]> {
        let mut lines = Vec::new();
        let (mut rest, mut used, mut length) = (self.cells.as_slice(), 0, 0);
        for cell in &self.cells {
            if used + cell.room > self.width {
                let (line, after) = rest.split_at(length);
                lines.push(line);
                (rest, used, length) = (after, 0, 0);
            }
            used += cell.room;
            length += 1;
            if cell.c == '\n' {
                let (line, after) = rest.split_at(length);
                lines.push(line);
                (rest, used, length) = (after, 0, 0);
            }
        }
        if !rest.is_empty() || lines.is_empty() {
            lines.push(rest);
        }
        lines
    }
}

const TAB_AS_BLANKS: &str = "    ";

impl Mark {
    /// Where it comes: outer ones before those inside them.
    fn order(&self) -> (usize, Reverse<usize>) {
        (self.span.start, Reverse(self.span.end))
    }
}

/// The places of all parts.
fn marks(parts: &[(Span, Decision)]) -> Vec<Mark> {
    let mut places: HashMap<Span, (usize, usize, Decision)> = HashMap::new();
    for (number, (span, decision)) in (1..).zip(parts) {
        let place = places.entry(*span).or_insert((number, number, *decision));
        *place = (place.0, number, place.2.max(*decision));
    }
    let mark = |(span, (first, last, decision)): (Span, (usize, usize, Decision))| {
        let label = if first == last { first.to_string() } else { format!("{first}-{last}") };
        Mark { span, label, decision }
    };
    places.into_iter().map(mark).collect()
}

/// The rows of marks under a line that begins at `first`: marks that overlap are on different rows.
fn under(line: &[Cell], first: usize, marks: &[Mark]) -> Vec<String> {
    let mut rows: Vec<(usize, String)> = Vec::new();
    // Marks are in order, so the columns before the next one are counted on from those before this one.
    let (mut cells, mut before) = (line.iter().peekable(), 0);
    for Mark { span, label, decision } in marks {
        while let Some(cell) = cells.next_if(|cell| cell.at < span.start) {
            before += cell.width;
        }
        let under = cells.clone().take_while(|cell| cell.at < span.end);
        let under: usize = under.map(|cell| cell.width).sum();
        if under == 0 {
            continue;
        }
        // The number stands where the part begins; a part that goes on from the line before is only underlined.
        let label = if first <= span.start { label.as_str() } else { "" };
        let width = under.max(label.len());
        let dashes = "─".repeat(width - label.len());
        let free = rows.iter().position(|(used, _)| *used < before);
        let row = free.unwrap_or_else(|| {
            rows.push((0, String::new()));
            rows.len() - 1
        });
        if let Some((used, text)) = rows.get_mut(row) {
            text.push_str(&" ".repeat(before.saturating_sub(*used)));
            text.push_str(&format!("{}{label}{dashes}\x1b[0m", decision_color(*decision)));
            *used = before + width;
        }
    }
    rows.into_iter().map(|(_, text)| text).collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    fn drawn(text: &str, width: usize, spans: &[(usize, usize)]) -> String {
        let spans: Vec<_> =
            spans.iter().map(|(start, end)| (Span::new(*start, *end), Decision::Allow)).collect();
        Picture::new(text, width).marked(&spans, &[]).replace("\x1b[32m", "").replace("\x1b[0m", "")
    }

    #[test]
    fn parts_are_numbered_where_they_begin() {
        assert_eq!(drawn("git x && rm", 80, &[(0, 5), (9, 11)]), "git x && rm\n1────    2─\n");
        assert_eq!(drawn("rm x; ls", 80, &[(6, 8), (0, 4)]), "rm x; ls\n2───  1─\n", "in any order");
    }

    #[test]
    fn parts_inside_parts_have_rows_of_their_own() {
        assert_eq!(drawn("echo $(id)", 80, &[(0, 10), (7, 9)]), "echo $(id)\n1─────────\n       2─\n");
    }

    #[test]
    fn parts_in_the_same_place_share_a_mark() {
        assert_eq!(
            drawn("sh -c 'a;b'", 80, &[(0, 11), (6, 11), (6, 11)]),
            "sh -c 'a;b'\n1──────────\n      2-3──\n"
        );
    }

    #[test]
    fn other_places_are_marked_without_a_number() {
        let (parts, others) = ([(Span::new(0, 2), Decision::Deny)], [(Span::new(3, 4), Decision::Deny)]);
        let drawn = Picture::new("ls )", 80).marked(&parts, &others);
        assert_eq!(drawn.replace("\x1b[31m", "").replace("\x1b[0m", ""), "ls )\n1─ ^\n");
    }

    #[test]
    fn numbers_that_need_more_room_than_their_parts_take_it() {
        let spans: Vec<(usize, usize)> = (0..11).map(|at| (at * 2, at * 2 + 1)).collect();
        let marks = drawn("a;b;c;d;e;f;g;h;i;j;k\n", 80, &spans);
        assert_eq!(marks, "a;b;c;d;e;f;g;h;i;j;k\n1 2 3 4 5 6 7 8 9 10\n                    11\n");
    }

    #[test]
    fn lines_break_and_wide_characters_count_twice() {
        assert_eq!(drawn("a\n日本 b", 80, &[(0, 1), (9, 10)]), "a\n1\n日本 b\n     2\n");
        let long = "x".repeat(30);
        assert_eq!(
            drawn(&long, 20, &[(0, 30)]),
            format!("{}\n1{}\n{}\n{}\n", "x".repeat(20), "─".repeat(19), "x".repeat(10), "─".repeat(10))
        );
    }

    #[test]
    fn what_does_not_show_is_written_out() {
        assert_eq!(drawn("a\u{1b}b\u{200b}\u{202e}\r\n", 80, &[]), "a\\u{1b}b\\u{200b}\\u{202e}\\r\n");
    }
}
