//! The prefixes that a person may approve for later calls: a program with its subcommand, never a wrapper or interpreter
//! alone, which could run anything.

use crate::admit::judge::{Decision, ReasonCode, Verdict};

/// A prefix for each part that needs approval. Empty when a part has none, or when something else needs approval too.
pub(crate) fn prefixes(verdict: &Verdict) -> Vec<Vec<String>> {
    // No prefix covers unknown programs, written files or deceptive characters.
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
