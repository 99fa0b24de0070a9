//! Rows with a label, a bar, and text right of it.
//!
//! Our own words are left of the bar, all foreign text is right of it. So no foreign text, however long, can look like a
//! line of ours. Nothing is left out.

use crate::layout;
use crate::picture::{Marked, Picture, Row};
use crate::styled::{Style, StyledLine};

/// Columns for a label.
const LABEL_COLUMNS: usize = 11;
/// In fewer columns, labels are on lines of their own.
const BESIDE_MIN_COLUMNS: usize = 50;

/// Rows with labels.
#[derive(Debug)]
pub struct LabelledRows {
    lines: Vec<StyledLine>,
    /// Columns right of the bar.
    room: usize,
    /// Columns for a number left of the bar.
    digits: usize,
    /// Whether labels are on lines of their own.
    narrow: bool,
}

impl LabelledRows {
    /// No rows yet, for lines of at most `width` columns and numbers up to `highest_number`.
    #[must_use]
    pub fn new(width: usize, highest_number: usize) -> Self {
        let narrow = width < BESIDE_MIN_COLUMNS;
        let digits = if highest_number > 1 { highest_number.to_string().len() } else { 0 };
        let before = digits + if narrow { 2 } else { LABEL_COLUMNS + 3 };
        Self { lines: Vec::new(), room: width.saturating_sub(before).max(2), digits, narrow }
    }

    /// The lines.
    #[must_use]
    pub fn into_lines(self) -> Vec<StyledLine> {
        self.lines
    }

    /// Adds foreign text.
    pub fn foreign_text(&mut self, label: &str, text: &str) {
        self.picture(label, text, &[], &[]);
    }

    /// Adds words of our own, broken between words.
    pub fn own_words(&mut self, label: &str, words: &str) {
        for (number, line) in layout::wrap(words, self.room).into_iter().enumerate() {
            self.row(if number == 0 { label } else { "" }, None, Style::Plain, &line);
        }
    }

    /// Adds foreign text with parts of it marked.
    pub fn picture(&mut self, label: &str, text: &str, parts: &[Marked], others: &[Marked]) {
        let rows = Picture::new(text, self.room).rows(parts, others);
        let several = rows.iter().filter(|row| matches!(row, Row::Line(..))).count() > 1;
        let mut label = label;
        for row in rows {
            match row {
                Row::Line(number, text) => {
                    self.row(label, several.then_some(number), Style::Plain, &text);
                }
                Row::Continuation(text) => self.row("", None, Style::Plain, &text),
                Row::Marks(marks) => {
                    let mut line = StyledLine::from(" ".repeat(self.columns_before_text()));
                    line.extend(marks);
                    self.lines.push(line);
                }
            }
            label = "";
        }
    }

    /// Adds the words of a command, each with its number. `None`: a word that can't be known before it runs.
    pub fn words(&mut self, label: &str, argv: &[Option<String>]) {
        for (number, word) in argv.iter().enumerate() {
            let label = if number == 0 { label } else { "" };
            let Some(word) = word else {
                self.row(label, Some(number), Style::Faint, "(not known before it runs)");
                continue;
            };
            // A newline in a word is named: the lines of a word are not words.
            let mut first = Some(number);
            for row in Picture::one_line(word, self.room).rows(&[], &[]) {
                if let Row::Line(_, text) | Row::Continuation(text) = row {
                    self.row(if first.is_some() { label } else { "" }, first.take(), Style::Plain, &text);
                }
            }
        }
    }

    fn columns_before_text(&self) -> usize {
        self.digits + if self.narrow { 2 } else { LABEL_COLUMNS + 3 }
    }

    fn row(&mut self, label: &str, number: Option<usize>, style: Style, text: &str) {
        let number = number.map(|number| number.to_string()).unwrap_or_default();
        let digits = self.digits;
        // A blank where a line is broken would not show.
        let kept = text.trim_end_matches(' ');
        let dots = "·".repeat(text.len() - kept.len());
        let bar =
            if self.narrow { format!("{number:>digits$}│") } else { format!("{number:>digits$} │") };
        let mut line = StyledLine::new();
        if !self.narrow {
            line.push(Style::Strong, format!("{label:LABEL_COLUMNS$}"));
        } else if !label.is_empty() {
            self.lines.push(StyledLine::new().with(Style::Strong, format!("{label}:")));
        }
        line.push(Style::Faint, bar);
        line.push(Style::Plain, if text.is_empty() { "" } else { " " });
        line.push(style, format!("{kept}{dots}"));
        self.lines.push(line);
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn drawn(text: &str, width: usize) -> Vec<String> {
        let mut rows = LabelledRows::new(width, 0);
        rows.foreign_text("x", text);
        rows.into_lines().iter().map(ToString::to_string).collect()
    }

    #[test]
    fn a_blank_where_a_line_is_broken_is_marked() {
        assert_eq!(drawn("abc def", 6), ["x:", "│ abc·", "│ def"]);
        assert_eq!(drawn("abcé", 6), ["x:", "│ abc", "│ é"]);
        assert_eq!(drawn("abc é", 6), ["x:", "│ abc·", "│ é"]);
    }

    #[test]
    fn labels_are_beside_the_bar_where_there_is_room() {
        assert_eq!(drawn("abc", 80), ["x           │ abc"]);
    }
}
