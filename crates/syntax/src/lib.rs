//! Reads a command as `bash -c` does and lists every program call in it.
//!
//! This crate knows no rules, touches no disk and runs nothing. Text goes in, [`Findings`] come out: what would be run,
//! assigned, written, and what could not be known. Nothing is left out silently: a part that could not be read is in
//! [`Findings::doubts`], and a text that is not bash is [`Unreadable`].
//!
//! ```
//! let findings = shellgate_syntax::read("git log | grep \"$(date +%Y)\" > out")?;
//! let programs: Vec<_> =
//!     findings.invocations.iter().filter_map(|one| one.words.first()?.value.known()).collect();
//! assert_eq!(programs, ["git", "grep", "date"]);
//! assert!(findings.doubts.is_empty());
//! # Ok::<(), shellgate_syntax::Unreadable>(())
//! ```
//!
//! Three steps lead there. `parse` reads the text into a [`tree`] by bash's own rules. `check` has two other readers
//! of bash read it too; if neither finds the same, that is a doubt. `walk` lists what the tree holds.
//!
//! What the text means also depends on what isn't in it. It is read with the options that `bash -c` starts with, in a
//! UTF-8 locale. Switching `extglob` on is a [`Hazard`]; `set -o posix`, `set -k`, `shopt -s expand_aliases` and
//! another `LC_ALL` change how bash reads the lines behind them too, and the judge has to look for them.

mod builtins;
mod check;
mod finding;
mod parse;
mod reader;
mod span;
pub mod tree;
mod walk;
mod word;

pub use finding::{
    Arithmetic, Assigned, Assignment, Construct, Descriptor, Doubt, Findings, Function, Hazard, HazardKind,
    Input, Invocation, Loop, Redirect, RedirectOperator, RedirectTarget,
};
pub use reader::{read, read_alone, read_arithmetic, read_script};
pub use span::Span;
pub use tree::Script;
pub use word::{Unknown, Value, Why, Word};

/// Why a text has no findings: bash would refuse it, or it is more than we are willing to read.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
pub enum Unreadable {
    /// Bash would say "syntax error", or not get to the end.
    #[error("{message}")]
    Syntax {
        /// Where in the text.
        span: Span,
        /// A fragment for people: "the `(` is never closed".
        message: String,
    },
    /// Too long, too deep or too much work.
    #[error("{0}")]
    Budget(String),
}
