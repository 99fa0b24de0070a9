//! Compares our reading of a text with those of other readers.
//!
//! No reader of bash is right everywhere. A reading is certain when one of two independent ones finds the same in the
//! text: the same commands, words, assignments and redirects, nested alike. The text as a whole is compared, then the
//! text of each substitution in it on its own. The second reader is only asked when the first sees it differently.

mod bodies;
mod brush;
mod cost;
mod mark;
mod ours;
mod rable;

use std::panic::{AssertUnwindSafe, catch_unwind};

use crate::parse::{self, Reading};
use crate::{Doubt, Span};
use mark::Mark;

/// How much text is compared in all. Substitutions in substitutions are compared level by level.
const MAX_COMPARED_BYTES: usize = 1 << 18;

/// How many bytes `rable` may read in all. It reads a nested substitution again for each level, at each level.
const MAX_RABLE_COST: usize = 2 << 20;

/// Substitutions that are nested deeper than this are not compared: the other readers take memory by the square of the depth.
const MAX_COMPARED_NESTING: usize = 80;

/// Texts with substitutions nested deeper than this are given to `brush-parser` first.
const MAX_RABLE_NESTING: usize = 6;

/// A function that reads a text and returns its marks. `None` if it refuses the text.
type Reader = fn(&str) -> Option<Vec<Mark>>;

/// The doubt about the reading of `text`, if no other reader agrees with it.
pub(crate) fn doubt(text: &str, reading: &Reading) -> Option<Doubt> {
    if reading.nested > MAX_COMPARED_NESTING {
        let message = uncertain("its substitutions are nested too deep");
        return Some(Doubt { span: Span::new(0, text.len()), message });
    }
    let mut budget = Budget { left: MAX_COMPARED_BYTES, nested: MAX_RABLE_COST, limit: reading.depth + 1 };
    budget.differs(text, reading)
}

/// The work that may still be done.
struct Budget {
    left: usize,
    nested: usize,
    limit: usize,
}

impl Budget {
    /// The first difference in `text`, or in the substitutions in it.
    fn differs(&mut self, text: &str, reading: &Reading) -> Option<Doubt> {
        let Some(left) = self.left.checked_sub(text.len()) else {
            let message = uncertain("it nests too much text");
            return Some(Doubt { span: Span::new(0, text.len()), message });
        };
        self.left = left;
        if let Some(doubt) = self.compare(text, reading) {
            return Some(doubt);
        }
        for (body, span) in bodies::bodies(&reading.script.list) {
            let doubt = match parse::script(body, self.limit) {
                Ok(inner) => self.differs(body, &inner),
                Err(_) => Some(Doubt { span, message: uncertain("a substitution reads differently alone") }),
            };
            // Spans in the substitution's text mean nothing in this one.
            if let Some(doubt) = doubt {
                return Some(Doubt { span, ..doubt });
            }
        }
        None
    }

    /// Compares one text, without what is inside its substitutions.
    fn compare(&mut self, text: &str, reading: &Reading) -> Option<Doubt> {
        let (marks, spans) = ours::marks(text, &reading.script.list);
        let mut first = None;
        for reader in self.readers(text, reading) {
            // The other readers are foreign code. One that panics doesn't agree.
            let other = catch_unwind(AssertUnwindSafe(|| reader(text))).ok().flatten();
            let Some(other) = other else { continue };
            match difference(&marks, &other) {
                None => return None,
                Some(at) => first = first.or(Some(at)),
            }
        }
        let span = first.and_then(|at| spans.get(at).or(spans.last())).copied();
        let message = match first {
            Some(_) => uncertain("other readers of bash see something else here"),
            None => uncertain("other readers of bash refuse it"),
        };
        Some(Doubt { span: span.unwrap_or(Span::new(0, text.len())), message })
    }

    /// The readers to ask, in order.
    fn readers(&mut self, text: &str, reading: &Reading) -> Vec<Reader> {
        let levels = reading.nested + 1;
        let cost = text.len().saturating_mul(levels).saturating_mul(levels);
        let cost = cost.saturating_add(cost::of_braces(text));
        let cost = cost.saturating_add(cost::of_double_parens(text, self.nested));
        let mut readers: Vec<Reader> = Vec::with_capacity(2);
        if let Some(left) = self.nested.checked_sub(cost) {
            self.nested = left;
            readers.push(rable::marks);
        }
        if cost::suits_brush(text) {
            readers.push(brush::marks);
        }
        if reading.nested > MAX_RABLE_NESTING {
            readers.reverse();
        }
        readers
    }
}

fn uncertain(why: &str) -> String {
    format!("the text could not be read with certainty: {why}")
}

/// The index of the first mark that differs.
fn difference(ours: &[Mark], others: &[Mark]) -> Option<usize> {
    let same = ours.iter().zip(others).take_while(|(our, other)| our.agrees(other)).count();
    (same < ours.len() || same < others.len()).then_some(same)
}
