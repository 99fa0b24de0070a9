//! Which rules widen what a call may reach.
//!
//! A grant is an allowance, so its rule must name the call strictly, and nothing may speak against the call that makes it
//! another one than the rule names: a variable that loads code, characters that deceive. All calls of a command run with the
//! same grants, so every call counts that reaches something by itself.

use std::path::PathBuf;

use super::{Basis, Judge};
use crate::calls::{Call, Shadowed};
use crate::matching::{LooseMatch, StrictMatch};
use crate::rules::{Decision, Rule};
use crate::verdict::{Reason, ReasonCode};

/// The entry of the program that obeys the settings of the folder it works in.
const GIT: &str = "git";

impl Judge<'_> {
    /// The rules that widen what the call may reach. `None`: it reaches nothing by itself.
    pub(super) fn granting(&self, call: &Call, basis: Basis, reasons: &[Reason]) -> Option<Vec<usize>> {
        // A builtin reaches files, and by `/dev/tcp` the network, through redirections alone.
        if basis == Basis::NotNeeded && call.redirects.is_empty() {
            return None;
        }
        if basis == Basis::NotNeeded
            || call.shadowed != Shadowed::No
            || !is_plain(reasons)
            || self.is_in_other_repository(call)
        {
            return Some(Vec::new());
        }
        let candidate = call.candidate(self.machine);
        let names = |rule: &Rule| {
            let words = rule.entry.prefix.words().iter().take_while(|word| !word.contains('*'));
            // Options before a subcommand may choose where it works, so a grant needs the words as they are written.
            let is_written_so =
                words.zip(&call.words).skip(1).all(|(wanted, word)| word.value.known() == Some(wanted));
            is_written_so
                && candidate.strictly(&rule.entry.prefix) == StrictMatch::Yes
                && rule.except.iter().all(|except| candidate.loosely(except) == LooseMatch::No)
        };
        let rules = self.rules.rules.iter().enumerate();
        let rules = rules.filter(|(_, rule)| rule.decision != Decision::Deny && names(rule));
        Some(rules.map(|(at, _)| at).collect())
    }

    /// Whether git may work in another repository than the one that the command starts in. A command can have made it, with
    /// settings that name programs.
    fn is_in_other_repository(&self, call: &Call) -> bool {
        let own = self.machine.repositories().top_of(self.machine.directory());
        let is_own = |folder: &PathBuf| self.machine.repositories().top_of(folder) == own;
        call.meaning.entry == Some(GIT)
            && !self.folders_of(call).is_some_and(|folders| folders.iter().all(is_own))
    }
}

/// Whether the call is still the one that a rule names. A call that does more than its rule allows is asked about, and the
/// person sees the grants.
fn is_plain(reasons: &[Reason]) -> bool {
    reasons.iter().all(|reason| {
        matches!(
            reason.code,
            ReasonCode::AskRule
                | ReasonCode::Uncovered
                | ReasonCode::Unknown
                | ReasonCode::Substitution
                | ReasonCode::Write
                | ReasonCode::Outside
        )
    })
}
