//! What the rules decide about variables that a command sets.

use std::collections::HashSet;

use shellgate_syntax::{Span, Word};

use super::Judge;
use super::effects::names;
use crate::calls::Call;
use crate::programs::{Property, VariableRow, has, variable};
use crate::verdict::ReasonCode;

/// Who sees a variable that is set.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Audience {
    /// The programs that are started with it.
    Programs,
    /// The shell alone, unless the variable came in from outside.
    Shell,
}

impl Judge<'_> {
    /// Judges a variable that programs get. A name or value of `None` can't be known.
    pub(super) fn judge_variable(&mut self, name: Option<&str>, value: Option<&str>, span: Span) {
        self.judge_assignment(name, value, span, Audience::Programs);
    }

    /// Judges a variable that is set for some `audience`.
    pub(super) fn judge_assignment(
        &mut self,
        name: Option<&str>,
        value: Option<&str>,
        span: Span,
        audience: Audience,
    ) {
        let matters = |row: &&VariableRow| {
            let is_seen = audience == Audience::Programs || !row.only_exported;
            is_seen && !value.is_some_and(|value| row.is_harmless(value))
        };
        // A program may run any part of a value. The shell's own variables are mostly texts; one that begins with a command
        // is likely to be run.
        let counted = if audience == Audience::Programs { usize::MAX } else { 1 };
        let excluded = |value: &str| names(value).take(counted).find_map(|name| self.excluded_by_name(name));
        let message = match name {
            None => "which variable it sets can't be known".to_owned(),
            Some(name) => match variable(name).filter(matters) {
                Some(row) => format!("it sets `{name}`: {}", row.about),
                None => match value.and_then(excluded) {
                    Some((program, _)) => format!("it sets `{name}` to `{program}`, which is excluded"),
                    None => return,
                },
            },
        };
        self.ask(ReasonCode::Assignment, span, message).token = name.map(str::to_owned);
    }
}

/// The variables that the shell exports, or may.
#[derive(Debug, Default)]
pub(super) struct Exported {
    /// Every variable that it sets: `set -a`, or `export` with a name that can't be known.
    pub(super) all: bool,
    names: HashSet<String>,
}

impl Exported {
    /// Looks through the calls of a command, at whatever time they export.
    pub(super) fn find(calls: &[Call]) -> Self {
        let mut found = Self { all: calls.iter().any(may_export_all), names: HashSet::new() };
        let declares =
            |call: &&Call| call.program().is_some_and(|name| has(name, Property::DeclaresVariables));
        for call in calls.iter().filter(declares) {
            for word in call.words.iter().skip(1) {
                let lead = word.value.lead();
                let end = lead.find(['=', '+', '[']).unwrap_or(lead.len());
                let is_name = end < lead.len() || word.value.known().is_some();
                found.all |= !is_name && !lead.starts_with('-');
                found.names.extend(lead.get(..end).filter(|_| is_name).map(str::to_owned));
            }
        }
        found
    }

    /// Whether programs may get a variable of this name.
    pub(super) fn has(&self, name: &str) -> bool {
        self.all || self.names.contains(name)
    }
}

/// Whether a call may make the shell export every variable that it sets: `set -a`, `set -o allexport`, or another shell
/// with such an option.
pub(super) fn may_export_all(call: &Call) -> bool {
    let sets = call.program().is_some_and(|name| has(name, Property::SetsShellOptions));
    let may_export = |word: &Word| match word.value.known() {
        Some(text) => text.starts_with('-') && text.contains('a') || text == "allexport",
        None => true,
    };
    sets && call.words.iter().skip(1).any(may_export)
}
