//! Reads a command as `bash -c` does and lists every program call in it.
//!
//! This crate knows no rules, touches no disk and runs nothing. Text goes in, [`Findings`] come out: what would be run,
//! assigned, written, and what could not be known. Nothing is left out silently: a position that could not be read is
//! in [`Findings::doubts`], and a text that is not bash is [`Unreadable`].

mod finding;
mod span;
mod word;

pub use finding::{
    Arithmetic, Assigned, Assignment, Descriptor, Doubt, Findings, Function, Hazard, HazardKind, Input,
    Invocation, Place, Redirect, RedirectOperator, RedirectTarget,
};
pub use span::Span;
pub use word::{Unknown, Value, Why, Word};

/// Why a text has no findings: bash would refuse it, or it is more than we are willing to read.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
pub enum Unreadable {
    /// Bash would say "syntax error", or not get to the end.
    #[error("{message}")]
    Syntax {
        /// Where.
        span: Span,
        /// A fragment for people: "the `(` is never closed".
        message: String,
    },
    /// Too long, too deep or too much work.
    #[error("{0}")]
    Budget(String),
}
