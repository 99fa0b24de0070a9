//! Shorter views of long output: what says nothing new is counted instead of shown.
//!
//! [`Reducer::for_program`] finds the rules for the program that wrote the output; they are data (`reducers/*.toml`). Two passes
//! make the view:
//! 1. `pass` looks at each line: lines that look like errors of the program stay as they are; the first rule that matches
//!    says what happens to others; a line that no rule knows stays as it is.
//! 2. `fold` shortens runs of lines that are equal, or that differ only in times, sizes, hashes and numbers that count on.
//!
//! What is left out is counted in lines that begin like all our marks, so output can't forge them.

mod blocks;
mod fold;
mod forms;
mod frames;
mod line;
mod lists;
mod near;
mod pass;
mod records;
mod reducer;
mod rules;
mod search;
mod tree;

pub use reducer::Reducer;

use line::{Kind, Line};
use pass::{Detail, Place};

use crate::marker::looks_like_one;
use crate::tokens::estimate_tokens;

/// Shorter output is never condensed.
pub const MIN_TOKENS: usize = 1_500;

/// So many lines are condensed at a time: what is noted of each takes more memory than a short line does.
const PART_LINES: usize = 50_000;

/// Of a view that is longer than this, long runs show fewer lines.
const TIGHT_TOKENS: usize = 2_500;

/// A view that saves less than a twentieth of the tokens is not worth its marks.
const MIN_SAVING: usize = 20;

/// A condensed text.
#[derive(Debug, PartialEq, Eq)]
pub(crate) struct CondensedText {
    pub(crate) text: String,
    /// Where lines begin in the text, and where what they show begins in the original.
    places: Vec<(usize, usize)>,
    /// The length of the original.
    length: usize,
}

impl CondensedText {
    fn add(&mut self, lines: &[Line<'_>]) {
        for Line { text, source, kind, .. } in lines {
            // Rows that are painted out of order would make the places descend.
            let last = self.places.last().map_or(0, |(_, original)| *original);
            self.places.push((self.text.len(), (*source).max(last)));
            // A changed line, or one whose beginning was left out, must not look like a mark of ours.
            if *kind != Kind::Mark && looks_like_one(text) {
                self.text.push(' ');
            }
            self.text.push_str(text);
            self.text.push('\n');
        }
    }

    /// The place in the original of this place in the text.
    pub(crate) fn original(&self, place: usize) -> usize {
        if place >= self.text.len() {
            return self.length;
        }
        let after = self.places.partition_point(|(start, _)| *start <= place);
        let next = self.places.get(after).map_or(self.length, |(_, original)| *original);
        let (start, original) =
            after.checked_sub(1).and_then(|index| self.places.get(index)).copied().unwrap_or_default();
        (original + (place - start)).min(next)
    }
}

/// The first lines of a text.
fn part(text: &str) -> &str {
    let end = memchr::memchr_iter(b'\n', text.as_bytes()).nth(PART_LINES - 1);
    end.and_then(|end| text.get(..=end)).unwrap_or(text)
}

/// The condensed form of `text`. `None`: it would hardly be shorter.
pub(crate) fn condense(text: &str, reducer: &Reducer) -> Option<CondensedText> {
    let mut condensed = condensed(text, reducer, Detail::Usual);
    let before = estimate_tokens(text);
    let mut after = estimate_tokens(&condensed.text);
    if after > TIGHT_TOKENS && reducer.can_be_tight() {
        condensed = self::condensed(text, reducer, Detail::Tight);
        after = estimate_tokens(&condensed.text);
    }
    (after < before - before / MIN_SAVING).then_some(condensed)
}

fn condensed(text: &str, reducer: &Reducer, detail: Detail) -> CondensedText {
    let mut condensed = CondensedText { text: String::new(), places: Vec::new(), length: text.len() };
    let mut place = Place::default();
    while let Some(rest) = text.get(place.source..).filter(|rest| !rest.is_empty()) {
        let lines = pass::reduced(part(rest), reducer, detail, &mut place);
        condensed.add(&fold::folded(lines, reducer.folds_near()));
    }
    if !text.ends_with('\n') {
        condensed.text.pop();
    }
    condensed
}
