//! A line of a condensed text.

use std::borrow::Cow;

use crate::marker::with_commas;

/// How far a line may be changed.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Kind {
    /// As it was printed. Only lines that equal it may be counted instead of shown.
    Verbatim,
    /// May be folded with lines like it.
    Plain,
    /// Ours: it says how many lines are left out.
    Mark,
}

/// A line and where it comes from.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) struct Line<'t> {
    /// Without its line end.
    pub(super) text: Cow<'t, str>,
    /// Where what it shows begins in the original.
    pub(super) source: usize,
    /// The number of that line; the first is 1.
    pub(super) number: usize,
    pub(super) kind: Kind,
}

impl<'t> Line<'t> {
    pub(super) fn new(text: &'t str, source: usize, number: usize) -> Self {
        Self { text: Cow::Borrowed(text), source, number, kind: Kind::Plain }
    }

    /// The same line, with another text.
    pub(super) fn saying(&self, text: String) -> Self {
        Self { text: Cow::Owned(text), ..*self }
    }

    /// The mark that stands for `count` lines from this one on.
    pub(super) fn mark(&self, count: usize, label: &str, says_where: bool) -> Self {
        let blank = if label.is_empty() { "" } else { " " };
        let place = if says_where { format!(", from line {}", self.number) } else { String::new() };
        let text = format!("[… {}{blank}{label}{place}]", with_commas(count));
        Self { text: Cow::Owned(text), kind: Kind::Mark, ..*self }
    }
}
