//! Rows with a label, a bar, and what is right of it.

use shellgate::judge::{Decision, Span};

use super::escape;
use crate::picture::{Picture, Row};

/// Labels, numbers, a bar and what is right of it.
pub(crate) struct Table {
    pub(crate) lines: Vec<String>,
    /// Columns right of the bar.
    room: usize,
    /// Columns for a number.
    digits: usize,
    /// Labels stand on lines of their own.
    narrow: bool,
}

/// Columns for a label.
const LABEL_COLUMNS: usize = 11;
/// Below this many columns, labels stand on lines of their own.
const NARROW_BELOW_COLUMNS: usize = 50;

impl Table {
    /// With room for numbers up to `highest_number`.
    pub(crate) fn new(width: usize, highest_number: usize) -> Self {
        let narrow = width < NARROW_BELOW_COLUMNS;
        let digits = if highest_number > 1 { highest_number.to_string().len() } else { 0 };
        let before = digits + if narrow { 2 } else { LABEL_COLUMNS + 3 };
        Self { lines: Vec::new(), room: width.saturating_sub(before).max(2), digits, narrow }
    }

    /// Foreign text.
    pub(crate) fn foreign_text(&mut self, label: &str, text: &str) {
        self.picture(label, text, &[], &[]);
    }

    /// Words of our own, broken between them.
    pub(crate) fn own_words(&mut self, label: &str, words: &str) {
        let mut label = label;
        let mut line = String::new();
        for word in words.split(' ') {
            if !line.is_empty() && line.chars().count() + 1 + word.chars().count() > self.room {
                self.row(label, None, &std::mem::take(&mut line));
                label = "";
            }
            if !line.is_empty() {
                line.push(' ');
            }
            line.push_str(word);
        }
        self.row(label, None, &line);
    }

    /// The same, with parts of it marked.
    pub(crate) fn picture(
        &mut self,
        label: &str,
        text: &str,
        parts: &[(Span, Decision)],
        others: &[(Span, Decision)],
    ) {
        let rows = Picture::from_cells(escape::cells(text), self.room).rows(parts, others);
        let several = rows.iter().filter(|row| matches!(row, Row::Line(..))).count() > 1;
        let mut label = label;
        for row in rows {
            match row {
                Row::Line(number, text) => self.row(label, several.then_some(number), &text),
                Row::Continuation(text) => self.row("", None, &text),
                Row::Marks(marks) => self.lines.push(format!("{}{marks}", " ".repeat(self.before()))),
            }
            label = "";
        }
    }

    /// The words of a call, each with its number.
    pub(crate) fn words(&mut self, label: &str, argv: &[Option<String>]) {
        for (number, word) in argv.iter().enumerate() {
            let label = if number == 0 { label } else { "" };
            let Some(word) = word else {
                self.row(label, Some(number), "\x1b[2m(not known before it runs)\x1b[0m");
                continue;
            };
            // A line break in a word is named: its lines aren't words.
            let rows = Picture::from_cells(escape::line_cells(word), self.room).rows(&[], &[]);
            let mut first = Some(number);
            for row in rows {
                if let Row::Line(_, text) | Row::Continuation(text) = row {
                    self.row(if first.is_some() { label } else { "" }, first.take(), &text);
                }
            }
        }
    }

    fn before(&self) -> usize {
        self.digits + if self.narrow { 2 } else { LABEL_COLUMNS + 3 }
    }

    fn row(&mut self, label: &str, number: Option<usize>, text: &str) {
        let number = number.map(|number| number.to_string()).unwrap_or_default();
        let digits = self.digits;
        // Where a line is broken, a blank would be lost between the rows.
        let kept = text.trim_end_matches(' ');
        let dots = "·".repeat(text.len() - kept.len());
        let blank = if text.is_empty() { "" } else { " " };
        let before =
            if self.narrow { format!("{number:>digits$}│") } else { format!("{number:>digits$} │") };
        let row = format!("\x1b[2m{before}\x1b[0m{blank}{kept}{dots}");
        if !self.narrow {
            self.lines.push(format!("\x1b[1m{label:LABEL_COLUMNS$}\x1b[0m{row}"));
            return;
        }
        if !label.is_empty() {
            self.lines.push(format!("\x1b[1m{label}:\x1b[0m"));
        }
        self.lines.push(row);
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn drawn(text: &str, width: usize) -> Vec<String> {
        let mut table = Table::new(width, 0);
        table.foreign_text("x", text);
        table.lines.iter().map(|line| anstream::adapter::strip_str(line).to_string()).collect()
    }

    #[test]
    fn a_blank_where_a_line_is_broken_shows() {
        assert_eq!(drawn("abc def", 6), ["x:", "│ abc·", "│ def"]);
        assert_eq!(drawn("abcé", 6), ["x:", "│ abc", "│ é"]);
        assert_eq!(drawn("abc é", 6), ["x:", "│ abc·", "│ é"]);
    }

    #[test]
    fn labels_stand_beside_the_bar_where_there_is_room() {
        assert_eq!(drawn("abc", 80), ["x           │ abc"]);
    }
}
