//! Judges what [`shellgate_syntax`] found, by rules and by what each program can do.
//!
//! A command goes in as text or as an argv, a [`Verdict`] comes out. Every program call that is reachable from the text
//! is a [`Part`] of it: also what `env`, `xargs`, `bash -c` and their like run, by the tables in [`programs`]. Deny
//! matches loosely, allow matches strictly, and what can't be known is never allowed. This crate spawns nothing, asks
//! nobody and knows no dialects.

mod characters;
mod judge;
mod links;
mod matching;
mod offer;
pub mod programs;
mod protection;
mod reach;
mod reader;
mod redirects;
mod rules;
mod scope;
mod verdict;
mod world;

pub use judge::{Circumstances, judge, judge_argv};
pub use offer::offer;
pub use protection::Protected;
pub use reader::{Typed, escapes, is_whole, typed_at};
pub use rules::{Decision, Entry, Prefix, Redirects, Rule, Rules};
pub use scope::{OutOfScope, check_scope};
pub use shellgate_syntax::Span;
pub use verdict::{Part, Reason, ReasonCode, Verdict};
pub use world::World;

/// The tree that bash would read from `text`, a line a node. `None` when it would not read it.
#[must_use]
pub fn outline(text: &str) -> Option<String> {
    shellgate_syntax::read_script(text).ok().map(|script| script.outline(text))
}
