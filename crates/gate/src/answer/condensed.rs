//! That an answer shows less lines than the command printed, though nothing that matters is missing.

use serde::Serialize;

/// How many lines there were, and how many are shown.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize)]
pub struct Condensed {
    /// Lines that the command printed.
    pub from_lines: u64,
    /// Lines that the answer shows.
    pub to_lines: u64,
}

impl Condensed {
    /// A phrase that also says how to read all lines of execution `id`.
    pub(crate) fn phrase(&self, id: &str) -> String {
        let Self { from_lines, to_lines } = self;
        format!(r#"condensed {from_lines} → {to_lines} lines, all: shell_output {{"id":"{id}"}}"#)
    }
}
