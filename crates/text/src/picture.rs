//! A text with parts of it marked and numbered underneath.
//!
//! ```text
//! git status && rm x
//! 1─────────    2───
//! ```
//! Parts inside parts are marked on rows of their own. Parts at the same place share a mark, `2-4`. Other places are marked
//! `^`. Nothing is left out: a long line continues below, and hidden characters are named. Time is linear in the text and
//! the rows.

use std::cmp::Reverse;
use std::collections::HashMap;
use std::ops::Range;

use crate::escape::{self, Cell};
use crate::styled::{Style, StyledLine};

/// A text to draw.
#[derive(Debug)]
pub struct Picture {
    cells: Vec<Cell>,
    width: usize,
}

/// A row of a picture.
#[derive(Debug, PartialEq, Eq)]
pub enum Row {
    /// The beginning of the text's line with this number, counted from 1.
    Line(usize, String),
    /// The continuation of the row before.
    Continuation(String),
    /// The marks of the row before.
    Marks(StyledLine),
}

/// A part or another place of the text: its bytes, and the style of its mark.
pub type Marked = (Range<usize>, Style);

/// A mark to draw.
struct Mark {
    range: Range<usize>,
    label: String,
    /// The greatest style of the parts at this place.
    style: Style,
}

impl Picture {
    /// A text in lines of at most `width` columns.
    #[must_use]
    pub fn new(text: &str, width: usize) -> Self {
        Self { cells: escape::cells(text), width: width.max(2) }
    }

    /// A text as one line, which continues below after `width` columns.
    #[must_use]
    pub fn one_line(text: &str, width: usize) -> Self {
        Self { cells: escape::line_cells(text), width: width.max(2) }
    }

    /// The rows: each line, and under it the marks of numbered `parts` and of `others`.
    #[must_use]
    pub fn rows(&self, parts: &[Marked], others: &[Marked]) -> Vec<Row> {
        let mut marks = part_marks(parts);
        let other =
            |(range, style): &Marked| Mark { range: range.clone(), label: "^".to_owned(), style: *style };
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
            open.retain(|mark| mark.range.end > first.at);
            while let Some(mark) = marks.next_if(|mark| mark.range.start <= last.at) {
                open.push(mark);
            }
            rows.extend(mark_rows(line, first.at, &open).into_iter().map(Row::Marks));
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

impl Mark {
    /// The order of marks: outer ones before those inside them.
    fn order(&self) -> (usize, Reverse<usize>) {
        (self.range.start, Reverse(self.range.end))
    }
}

/// One mark per place of parts.
fn part_marks(parts: &[Marked]) -> Vec<Mark> {
    let mut places: HashMap<Range<usize>, (usize, usize, Style)> = HashMap::new();
    for (number, (range, style)) in (1..).zip(parts) {
        let place = places.entry(range.clone()).or_insert((number, number, *style));
        *place = (place.0, number, place.2.max(*style));
    }
    let mark = |(range, (first, last, style)): (Range<usize>, (usize, usize, Style))| {
        let label = if first == last { first.to_string() } else { format!("{first}-{last}") };
        Mark { range, label, style }
    };
    places.into_iter().map(mark).collect()
}

/// The rows of marks under a line that begins at `first`. Marks that overlap are on different rows.
fn mark_rows(line: &[Cell], first: usize, marks: &[Mark]) -> Vec<StyledLine> {
    let mut rows: Vec<(usize, StyledLine)> = Vec::new();
    // Marks are in order, so the columns before each one are counted from those before the last one.
    let (mut cells, mut before) = (line.iter().peekable(), 0);
    for Mark { range, label, style } in marks {
        while let Some(cell) = cells.next_if(|cell| cell.at < range.start) {
            before += cell.width;
        }
        let under = cells.clone().take_while(|cell| cell.at < range.end);
        let under: usize = under.map(|cell| cell.width).sum();
        if under == 0 {
            continue;
        }
        // The number is where the part begins. A part that continues from the line before is only underlined.
        let label = if first <= range.start { label.as_str() } else { "" };
        let width = under.max(label.len());
        let dashes = "─".repeat(width - label.len());
        let free = rows.iter().position(|(used, _)| *used < before);
        let row = free.unwrap_or_else(|| {
            rows.push((0, StyledLine::new()));
            rows.len() - 1
        });
        if let Some((used, text)) = rows.get_mut(row) {
            text.push(Style::Plain, " ".repeat(before.saturating_sub(*used)));
            text.push(*style, format!("{label}{dashes}"));
            *used = before + width;
        }
    }
    rows.into_iter().map(|(_, text)| text).collect()
}

#[cfg(test)]
#[expect(clippy::single_range_in_vec_init, reason = "a picture of one part has one range")]
mod tests {
    use super::*;

    fn drawn(text: &str, width: usize, parts: &[Range<usize>], others: &[Range<usize>]) -> String {
        let marked = |ranges: &[Range<usize>]| -> Vec<Marked> {
            ranges.iter().map(|range| (range.clone(), Style::Good)).collect()
        };
        let rows = Picture::new(text, width).rows(&marked(parts), &marked(others));
        let text = |row| match row {
            Row::Line(_, text) | Row::Continuation(text) => text + "\n",
            Row::Marks(marks) => format!("{marks}\n"),
        };
        rows.into_iter().map(text).collect()
    }

    #[test]
    fn parts_are_numbered_where_they_begin() {
        assert_eq!(drawn("git x && rm", 80, &[0..5, 9..11], &[]), "git x && rm\n1────    2─\n");
        assert_eq!(drawn("rm x; ls", 80, &[6..8, 0..4], &[]), "rm x; ls\n2───  1─\n", "in any order");
    }

    #[test]
    fn parts_inside_parts_have_rows_of_their_own() {
        assert_eq!(drawn("echo $(id)", 80, &[0..10, 7..9], &[]), "echo $(id)\n1─────────\n       2─\n");
    }

    #[test]
    fn parts_at_the_same_place_share_a_mark() {
        assert_eq!(
            drawn("sh -c 'a;b'", 80, &[0..11, 6..11, 6..11], &[]),
            "sh -c 'a;b'\n1──────────\n      2-3──\n"
        );
    }

    #[test]
    fn a_shared_mark_has_the_greatest_style() {
        let parts = [(0..2, Style::Good), (0..2, Style::Bad), (0..2, Style::Caution)];
        let rows = Picture::new("ls", 80).rows(&parts, &[]);
        assert_eq!(rows.last(), Some(&Row::Marks(StyledLine::new().with(Style::Bad, "1-3"))));
    }

    #[test]
    fn other_places_are_marked_without_a_number() {
        assert_eq!(drawn("ls )", 80, &[0..2], &[3..4]), "ls )\n1─ ^\n");
    }

    #[test]
    fn numbers_that_are_wider_than_their_parts_get_room() {
        let parts: Vec<Range<usize>> = (0..11).map(|at| at * 2..at * 2 + 1).collect();
        let marks = drawn("a;b;c;d;e;f;g;h;i;j;k", 80, &parts, &[]);
        assert_eq!(marks, "a;b;c;d;e;f;g;h;i;j;k\n1 2 3 4 5 6 7 8 9 10\n                    11\n");
    }

    #[test]
    fn lines_break_and_wide_characters_count_twice() {
        assert_eq!(drawn("a\n日本 b", 80, &[0..1, 9..10], &[]), "a\n1\n日本 b\n     2\n");
        let long = "x".repeat(30);
        assert_eq!(
            drawn(&long, 20, &[0..30], &[]),
            format!("{}\n1{}\n{}\n{}\n", "x".repeat(20), "─".repeat(19), "x".repeat(10), "─".repeat(10))
        );
    }

    #[test]
    fn hidden_characters_are_named() {
        assert_eq!(drawn("a\u{1b}b\u{200b}\u{202e}\r\n", 80, &[], &[]), "a‹ESC›b‹U+200B›‹U+202E›‹CR›‹LF›\n");
    }
}
