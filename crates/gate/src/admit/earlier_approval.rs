//! Approvals that were given before: grants of the session, and rules for always that the settings in force don't have yet.
//!
//! A gate asks here before it asks a person, and so does `check`, which has neither a session nor an open record.

use std::path::PathBuf;

use shellgate_journal::{GrantScope, HeldGrant, Journal};
use shellgate_policy::{Entry, Prefix};

use super::asking::exact;
use crate::admit::judge::{Decision, Granted, Judge, Verdict};
use crate::intake::request::Request;
use crate::record;
use crate::root::WorkingDirectory;
use crate::views::until_text;

/// The session whose grants `check` counts, and the state folder with the record.
#[derive(Clone, Debug)]
pub(crate) struct CheckedSession {
    pub(crate) name: String,
    pub(crate) state: PathBuf,
}

impl Judge {
    /// The earlier approval that would let `request` run without a question, in words. `None`: there is none, or no person
    /// would be asked anyway. Only for a judge without a gate, which reads the record for it.
    #[must_use]
    pub fn earlier_approval(&self, request: &Request, verdict: &Verdict) -> Option<String> {
        if verdict.decision() != Decision::Ask || self.decision_by_mode(verdict).is_some() {
            return None;
        }
        let CheckedSession { name, state } = self.session.as_ref()?;
        let directory = self.root.directory(request.directory.as_deref()).ok()?;
        // A record that doesn't exist or can't be read grants nothing.
        let journal = Journal::open_read_only(state).ok()?;
        let root = self.root.path().display().to_string();
        let held = journal.grants(name, &root, directory.shown(), record::now()).ok()?;
        self.covered(request, &directory, &held, Vec::new())
    }

    /// What covers `request`, in words: one of the grants `held`, or rules for always. `None`: a person must be asked.
    pub(crate) fn covered(
        &self,
        request: &Request,
        directory: &WorkingDirectory,
        held: &[HeldGrant],
        always: Vec<Entry>,
    ) -> Option<String> {
        let exactly = exact(request);
        if let Some(grant) = held.iter().find(|held| held.grant.scope == exactly) {
            return Some(granted_text(&[grant]));
        }
        let by_prefix = |held: &HeldGrant| match &held.grant.scope {
            GrantScope::Prefix(words) => Some(Entry {
                prefix: Prefix::Words(words.clone()),
                shown: format!("grant {}: {}", held.id, words.join(" ")),
            }),
            GrantScope::Exact { .. } => None,
        };
        let (grants, session): (Vec<_>, Vec<_>) =
            held.iter().filter_map(|held| Some((held, by_prefix(held)?))).unzip();
        if session.is_empty() && always.is_empty() {
            return None;
        }
        // With these prefixes allowed, the rules must allow every part of the command.
        let granted = Granted { session, always };
        let verdict = self.judge_with(request, directory, &granted);
        if verdict.decision() != Decision::Allow {
            return None;
        }
        let allowed_by = |entry: &Entry| {
            verdict.parts().iter().any(|part| part.rule.as_deref() == Some(entry.shown.as_str()))
        };
        let used = grants.into_iter().zip(&granted.session).filter(|(_, entry)| allowed_by(entry));
        let used: Vec<&HeldGrant> = used.map(|(held, _)| held).collect();
        Some(if used.is_empty() { "an approval for always".to_owned() } else { granted_text(&used) })
    }
}

/// The grants that cover a request, in words. They hold until the first of them ends.
fn granted_text(grants: &[&HeldGrant]) -> String {
    let numbers: Vec<String> = grants.iter().map(|held| held.id.to_string()).collect();
    let end = grants.iter().map(|held| held.ends_at()).min().unwrap_or_default();
    let grants = if numbers.len() == 1 { "grant" } else { "grants" };
    format!("an approval for this session: {grants} {}, until {}", numbers.join(" and "), until_text(end))
}
