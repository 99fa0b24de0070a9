//! What may be approved for more than one call: a program with its subcommand, never a way to run anything.

use crate::admit::judge::{Decision, ReasonCode, Verdict};

/// A prefix for each part that made the question, if all of them have one and nothing else made it.
pub(crate) fn prefixes(verdict: &Verdict) -> Vec<Vec<String>> {
    // Unknown programs, written files, odd characters: no prefix makes those better.
    if verdict.reasons().iter().any(|reason| reason.code != ReasonCode::Uncovered) {
        return Vec::new();
    }
    let asking = verdict.parts().iter().filter(|part| part.decision == Decision::Ask);
    let mut prefixes: Vec<Vec<String>> = Vec::new();
    for part in asking {
        let Some(prefix) = shellgate_policy::suggest_prefix(&part.argv) else { return Vec::new() };
        if !prefixes.contains(&prefix) {
            prefixes.push(prefix);
        }
    }
    prefixes
}
