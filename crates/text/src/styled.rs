//! Lines of text in pieces with a style. A front end turns styles into colors, or leaves them out.

use std::fmt;

/// How a piece of text looks. Of two styles for the same place the greater one is used.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub enum Style {
    /// As it is.
    #[default]
    Plain,
    /// Less prominent.
    Faint,
    /// More prominent.
    Strong,
    /// Fine.
    Good,
    /// To be looked at.
    Caution,
    /// Not fine.
    Bad,
}

/// A line without its newline.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct StyledLine {
    pieces: Vec<(Style, String)>,
}

impl StyledLine {
    /// An empty line.
    #[must_use]
    pub const fn new() -> Self {
        Self { pieces: Vec::new() }
    }

    /// The line with one more piece.
    #[must_use]
    pub fn with(mut self, style: Style, text: impl Into<String>) -> Self {
        self.push(style, text);
        self
    }

    /// Adds a piece.
    pub fn push(&mut self, style: Style, text: impl Into<String>) {
        let text = text.into();
        if !text.is_empty() {
            self.pieces.push((style, text));
        }
    }

    /// Adds the pieces of another line.
    pub fn extend(&mut self, line: Self) {
        self.pieces.extend(line.pieces);
    }

    /// Its pieces.
    pub fn pieces(&self) -> impl Iterator<Item = (Style, &str)> {
        self.pieces.iter().map(|(style, text)| (*style, text.as_str()))
    }
}

impl<T: Into<String>> From<T> for StyledLine {
    fn from(text: T) -> Self {
        Self::new().with(Style::Plain, text)
    }
}

/// The text without styles.
impl fmt::Display for StyledLine {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        self.pieces.iter().try_for_each(|(_, text)| f.write_str(text))
    }
}

/// Lines as plain text, each with its newline.
#[must_use]
pub fn plain_text(lines: &[StyledLine]) -> String {
    lines.iter().map(|line| format!("{line}\n")).collect()
}
