//! Every request passes here before anything is started.
//!
//! The judging itself is in [`shellgate_policy`]. Here settings become rules, a verdict becomes an answer, and the policy
//! of an untrusted project file is judged apart: of two verdicts the stricter counts.

mod judging;
mod refusal;
mod rules;

use std::path::{Path, PathBuf};

use serde::{Serialize, Serializer};
use shellgate_journal::RecordedRequest;
pub use shellgate_policy::{
    CallEffect, Decision, EffectName, Part, Preset, Reason, ReasonCode, Span, Verdict,
};
use shellgate_policy::{CommandContext, Entry, Machine, OutOfScope, Protected, Rule, Rules};

pub use judging::Judge;
pub(crate) use refusal::{denied, not_approved};

use crate::confine::guard::ProgramRules;
use crate::intake::dialect::DefaultPreset;
use crate::intake::request::{Action, Request, Stdin, Substitutions};
use crate::root::Root;
use crate::settings::Settings;
use crate::{Code, ErrorObject};

/// A verdict and the answer to its question, as results show them.
#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
pub struct VerdictSummary {
    /// The decision, before a person was asked.
    #[serde(serialize_with = "word")]
    pub decision: Decision,
    /// The rules that led to it.
    pub rules: Vec<String>,
    /// Who approved it, if a person was asked.
    pub approved_by: Option<String>,
}

/// Writes the decision as the word that programs read.
fn word<S: Serializer>(decision: &Decision, serializer: S) -> Result<S::Ok, S::Error> {
    serializer.serialize_str(decision.name())
}

impl VerdictSummary {
    pub(crate) fn of(verdict: &Verdict) -> Self {
        let parts = verdict.parts().iter().filter_map(|part| part.rule.clone());
        let mut rules: Vec<String> = Vec::new();
        let reasons = verdict.reasons().iter().map(|reason| match &reason.rule {
            Some(rule) => rule.clone(),
            None => reason.message.clone(),
        });
        for rule in parts.chain(reasons) {
            if !rules.contains(&rule) {
                rules.push(rule);
            }
        }
        Self { decision: verdict.decision(), rules, approved_by: None }
    }
}

/// Where a request would run.
#[derive(Clone, Copy, Debug)]
struct Where<'a> {
    root: &'a Path,
    directory: &'a Path,
    search_path: Option<&'a std::ffi::OsStr>,
    protected: &'a Protected,
    writable: &'a [PathBuf],
}

/// Commands that a person allowed.
#[derive(Debug, Default)]
pub(crate) struct Granted {
    /// For a session.
    pub(crate) session: Vec<Entry>,
    /// By a rule in their settings.
    pub(crate) always: Vec<Entry>,
}

/// The rules in force, made once for all requests.
#[derive(Clone, Debug)]
struct RuleSet {
    rules: Rules,
    /// The rules of an untrusted project file.
    project: Option<Rules>,
}

impl RuleSet {
    fn new(settings: &Settings, default_preset: DefaultPreset) -> Self {
        let confined = crate::confine::holds(&settings.sandbox);
        let policy = &settings.policy;
        let project = settings.project_policy.as_ref();
        Self {
            rules: rules::rules(policy, rules::preset(policy, default_preset, confined), confined),
            project: project.map(|policy| rules::project_rules(policy, confined)),
        }
    }

    /// The rules about programs. Those of an untrusted project file deny, too.
    fn program_rules(&self) -> ProgramRules {
        let both = [Some(&self.rules), self.project.as_ref()].into_iter().flatten();
        let denied = both.flat_map(|rules| {
            let listed = rules.exclude.iter().map(|entry| Rule {
                entry: entry.clone(),
                decision: Decision::Deny,
                reason: None,
                except: Vec::new(),
            });
            listed.chain(rules.rules.iter().filter(|rule| rule.decision == Decision::Deny).cloned())
        });
        let denied = denied.collect();
        let rules = &self.rules;
        let binds = rules.name_programs() && rules.beyond_core != Decision::Allow;
        let allowing = rules.rules.iter().filter(|rule| rule.decision == Decision::Allow);
        let listed = rules.core.iter().flatten().cloned();
        let allowed = binds.then(|| listed.chain(allowing.map(|rule| rule.entry.clone())).collect());
        ProgramRules { denied, allowed }
    }

    /// Whether a rule asks about reading or code, or denies it: no kernel holds what a script does of that.
    fn restricts_reading(&self) -> bool {
        let both = [Some(&self.rules), self.project.as_ref()].into_iter().flatten();
        both.flat_map(|rules| &rules.effects).any(|rule| {
            rule.decision != Decision::Allow
                && matches!(rule.effect, EffectName::Read | EffectName::Secret | EffectName::Code)
        })
    }

    /// These rules with rules for what was granted. An exclusion still denies.
    fn with(&self, granted: &Granted) -> Self {
        let mut book = self.clone();
        let allow = |entry: &Entry| Rule {
            entry: entry.clone(),
            decision: Decision::Allow,
            reason: None,
            except: Vec::new(),
        };
        for rules in [Some(&mut book.rules), book.project.as_mut()].into_iter().flatten() {
            rules.rules.extend(granted.session.iter().map(allow));
        }
        // A rule of the user's settings doesn't change what the project file denies.
        book.rules.rules.extend(granted.always.iter().map(allow));
        book
    }

    /// What the rules say about `request`; of two verdicts the stricter.
    fn judge(&self, request: &Request, place: Where<'_>) -> Verdict {
        let verdict = judge_by(&self.rules, request, place);
        match &self.project {
            Some(rules) => verdict.stricter(judge_by(rules, request, place)),
            None => verdict,
        }
    }
}

fn judge_by(rules: &Rules, request: &Request, place: Where<'_>) -> Verdict {
    let context = CommandContext {
        stdin: match &request.stdin {
            Stdin::Text(text) => Some(text.clone()),
            Stdin::Closed | Stdin::Descriptor(_) => None,
        },
        unknown_input: matches!(request.stdin, Stdin::Descriptor(_)),
        variables: request.env.iter().map(|(name, value)| (name.clone(), value.clone())).collect(),
        substitution: (request.substitutions == Substitutions::Refused).then_some(Decision::Deny),
    };
    let machine = machine(place);
    match &request.action {
        Action::Shell(text) => shellgate_policy::judge(text, &context, rules, &machine),
        Action::Program(argv) => {
            shellgate_policy::judge_argv(argv, &request.action.shown(), &context, rules, &machine)
        }
    }
}

/// The calls of a recorded request. What rules say about them is not looked at.
pub(crate) fn recorded_parts(request: &RecordedRequest) -> Vec<Part> {
    let (root, context) = (Path::new(&request.root), CommandContext::default());
    let search_path = std::env::var_os("PATH").unwrap_or_default();
    let machine = Machine::new(root, &root.join(&request.directory), std::env::home_dir(), search_path);
    let rules = Rules::default();
    let verdict = match &request.argv {
        Some(argv) => shellgate_policy::judge_argv(argv, &request.text, &context, &rules, &machine),
        None => shellgate_policy::judge(&request.text, &context, &rules, &machine),
    };
    verdict.parts().to_vec()
}

/// Checks that the words of a program call stay inside the root and hold no code.
fn check_scope(argv: &[String], place: Where<'_>, root: &Root) -> Result<(), ErrorObject> {
    match shellgate_policy::check_scope(argv, &machine(place)) {
        Ok(()) => Ok(()),
        Err(OutOfScope::Path(word)) => Err(root.out_of_scope(&word)),
        Err(OutOfScope::Code(word, language)) => {
            let message = format!("{language} code as an argument is not run here");
            Err(ErrorObject::new(Code::InlineEval, message)
                .token(word)
                .hint("write the code to a file inside the working directory and run that"))
        }
    }
}

fn machine(place: Where<'_>) -> Machine {
    let search_path = place.search_path.map(ToOwned::to_owned).unwrap_or_default();
    Machine::new(place.root, place.directory, std::env::home_dir(), search_path)
        .protecting(place.protected.clone())
        .with_writable(place.writable)
        .with_temporary_folder(crate::confine::own::temporary_folder(place.root).as_deref())
}

/// The syntax tree that bash would read from `text`, a line for each node. `None` when bash would not read it.
#[must_use]
pub fn syntax_tree(text: &str) -> Option<String> {
    shellgate_policy::syntax_tree(text)
}
