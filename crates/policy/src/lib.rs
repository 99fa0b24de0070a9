//! Judges what [`shellgate_syntax`] found, by rules and by what each program can do.
//!
//! A command goes in as text or as an argument list, with [`Rules`] and a [`Machine`]; a [`Verdict`] comes out. Every program
//! call that the command leads to is a [`Part`] of it: also what `env`, `xargs`, `bash -c` and their like run, by the tables
//! in [`programs`]. Rules that deny match loosely, rules that allow match strictly, and what can't be known is never
//! allowed. This crate starts no process, asks no person and knows no dialects.

mod calls;
mod characters;
mod effect;
pub mod exec_time;
pub mod git_settings;
mod hosts;
mod judge;
mod languages;
mod machine;
mod matching;
mod output_writer;
mod path_patterns;
pub mod paths;
mod program_names;
pub mod programs;
mod protection;
mod redirects;
mod repository;
mod rules;
mod scope;
mod search_path;
mod secrets;
mod shapes;
mod short_file;
mod spelled;
mod suggestion;
mod typed_input;
mod verdict;

pub use effect::{CallEffect, EffectName};
pub use judge::{CommandContext, judge, judge_argv};
pub use machine::Machine;
pub use output_writer::{OutputCall, output_writers, output_writers_of_argv};
pub use protection::Protected;
pub use rules::{Decision, EffectRule, Entry, Prefix, Preset, Redirects, Rule, Rules};
pub use scope::{OutOfScope, check_scope};
pub use secrets::SECRET_PATHS;
pub use shellgate_syntax::Span;
pub use suggestion::{is_builtin, narrow_prefix, suggest_prefix};
pub use typed_input::{InputUse, input_use, is_complete_command, keys_run_command};
pub use verdict::{Part, Reason, ReasonCode, Verdict};

/// The syntax tree that bash would read from `text`, a line for each node. `None` when bash would not read it.
#[must_use]
pub fn syntax_tree(text: &str) -> Option<String> {
    shellgate_syntax::read_script(text).ok().map(|script| script.render(text))
}
