//! Which rules the guard applies to the programs that commands start.

use std::ffi::OsStr;

use shellgate_exec::{EncodedGuardRules, GuardRules, ProgramRule, RulePrefix};
use shellgate_policy::exec_time::named_program;
use shellgate_policy::{Entry, Prefix, Rule};

use crate::admit::judge::{Decision, Verdict};
use crate::{Code, ErrorObject};

/// The rules about programs, as the judge has them.
#[derive(Clone, Debug, Default)]
pub(crate) struct ProgramRules {
    /// Rules that deny.
    pub(crate) denied: Vec<Rule>,
    /// The allowlist and the rules that allow, if there is an allowlist.
    pub(crate) allowed: Option<Vec<Entry>>,
}

/// The rules about programs, ready to be sent with a command.
#[derive(Clone, Debug)]
pub(crate) struct GuardSet {
    /// What is denied alone: for commands that a person approved.
    denied: EncodedGuardRules,
    /// The same with the allowlist, and the rules of the allowlist as people know them.
    bound: Option<(EncodedGuardRules, Vec<String>)>,
}

impl GuardSet {
    /// `None`: no rule is about programs.
    pub(crate) fn new(rules: ProgramRules, search_path: Option<&OsStr>) -> Result<Option<Self>, ErrorObject> {
        let denied: Vec<ProgramRule> = rules.denied.iter().filter_map(denied_rule).collect();
        let is_named = |entry: &Entry| named_program(&entry.prefix).is_some();
        let allowed = rules.allowed.filter(|rules| rules.iter().all(is_named));
        if denied.is_empty() && allowed.is_none() {
            return Ok(None);
        }
        let search_path = search_path.unwrap_or_default().to_string_lossy().into_owned();
        let encode = |allowed: Option<Vec<ProgramRule>>| {
            let rules = GuardRules { denied: denied.clone(), allowed, search_path: search_path.clone() };
            EncodedGuardRules::new(&rules).map_err(|error| {
                ErrorObject::new(Code::SandboxUnavailable, format!("the rules can't be described: {error}"))
            })
        };
        let bound = allowed.map(|entries| {
            let shown = entries.iter().map(|entry| entry.shown.clone()).collect();
            let rules = entries.iter().map(|entry| program_rule(entry, &[])).collect();
            encode(Some(rules)).map(|rules| (rules, shown))
        });
        Ok(Some(Self { denied: encode(None)?, bound: bound.transpose()? }))
    }

    /// The rules for a command with this verdict. The allowlist binds what it has allowed, and not what a person approved.
    pub(crate) fn for_verdict(&self, verdict: &Verdict, is_approved: bool) -> &EncodedGuardRules {
        let Some((rules, shown)) = &self.bound else { return &self.denied };
        let mut by_rule = verdict.parts().iter().filter_map(|part| part.rule.as_ref());
        match verdict.decision() == Decision::Allow
            && !is_approved
            && by_rule.all(|rule| shown.contains(rule))
        {
            true => rules,
            false => &self.denied,
        }
    }
}

/// A rule that denies everything has denied the command itself.
fn denied_rule(rule: &Rule) -> Option<ProgramRule> {
    (rule.entry.prefix != Prefix::Everything).then(|| program_rule(&rule.entry, &rule.except))
}

fn program_rule(entry: &Entry, except: &[Prefix]) -> ProgramRule {
    ProgramRule {
        prefix: RulePrefix::from(&entry.prefix),
        shown: entry.shown.clone(),
        except: except.iter().map(RulePrefix::from).collect(),
    }
}
