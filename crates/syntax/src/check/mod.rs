//! Whether other readers agree with ours.
//!
//! No reader of bash is right everywhere. A reading is certain when one of two independent ones finds the same in the
//! text: the same commands, words, assignments and redirects, nested alike. The text as a whole is compared, then the
//! text of each substitution in it on its own. The second reader is only asked when the first sees it differently.

mod bodies;
mod brush;
mod normal;
mod ours;
mod rable;

use std::panic::{AssertUnwindSafe, catch_unwind};

use crate::parse::{self, Reading};
use crate::{Doubt, Span};
use normal::Mark;

/// Substitutions in substitutions are compared level by level. More bytes than this in all aren't.
const MOST: usize = 3 << 19;

/// What `rable` may cost in all. It reads a substitution again for each level that it is nested, at each of them.
const MOST_NESTED: usize = 6 << 20;

/// Texts with substitutions nested deeper than this are given to the other reader first.
const DEEP: usize = 6;

/// The marks that a reader makes of a text. Nothing, if it refuses it.
type Reader = fn(&str) -> Option<Vec<Mark>>;

/// What keeps the reading of `text` from being certain.
pub(crate) fn doubt(text: &str, reading: &Reading) -> Option<Doubt> {
    let mut work = Work { left: MOST, nested: MOST_NESTED, limit: reading.depth + 1 };
    work.differs(text, reading)
}

/// What may still be done.
struct Work {
    left: usize,
    nested: usize,
    limit: usize,
}

impl Work {
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
            // Places in the substitution's text mean nothing in this one.
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
            // They are other people's code: a panic in one is a reader that doesn't agree.
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

    /// Who is asked, and in which order.
    fn readers(&mut self, text: &str, reading: &Reading) -> Vec<Reader> {
        let levels = reading.nested + 1;
        let cost = text.len().saturating_mul(levels).saturating_mul(levels);
        // Each opening brace makes it look through those behind.
        let braces = text.bytes().filter(|byte| *byte == b'{').count();
        let cost = cost.saturating_add(braces.saturating_mul(braces));
        let mut readers: Vec<Reader> = Vec::with_capacity(2);
        if let Some(left) = self.nested.checked_sub(cost) {
            self.nested = left;
            readers.push(rable::marks);
        }
        readers.push(brush::marks);
        if reading.nested > DEEP {
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
