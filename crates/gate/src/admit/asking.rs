//! Asking a person, and remembering what they said.

use std::sync::PoisonError;
use std::time::Duration;

use shellgate_journal::{self as journal, GRANT_LIFETIME_MS, GrantScope, HeldGrant, Millis};
use shellgate_policy::Entry;

use crate::admit::approval::{
    Always, Answer, ApprovalChannel, ApprovedBy, Choice, Offers, Question, RuleReach, WrittenRules,
};
use crate::admit::judge::{self, Decision, Verdict};
use crate::admit::trial::Tried;
use crate::gate::Gate;
use crate::intake::request::{Action, Request, Stdin};
use crate::record::{self, ExecutionLog};
use crate::root::WorkingDirectory;
use crate::{Code, ErrorObject, confine};

/// How a request was approved.
#[derive(Debug, Default)]
pub(crate) struct Approval {
    /// Who approved it. `None`: the rules allow it, so no approval was needed.
    pub(crate) by: Option<ApprovedBy>,
    /// The execution's entry in the record, if a question has created it already.
    pub(crate) entry: Option<ExecutionLog>,
    /// The rules that an "always" has written.
    pub(crate) written: Option<WrittenRules>,
}

impl Gate {
    /// Approves `request` without asking: by the rules, by `approval.mode`, or by an earlier approval. `None`: a person
    /// must be asked.
    ///
    /// # Errors
    /// When the rules or `approval.mode` deny it.
    pub(super) fn approve(
        &self,
        request: &Request,
        verdict: &Verdict,
        directory: &WorkingDirectory,
    ) -> Result<Option<Approval>, ErrorObject> {
        match verdict.decision() {
            Decision::Allow => return Ok(Some(Approval::default())),
            Decision::Deny => return Err(judge::denied(verdict)),
            Decision::Ask => {}
        }
        match self.judge.decision_by_mode(verdict) {
            Some((Decision::Allow, who)) => {
                return Ok(Some(Approval {
                    by: Some(ApprovedBy { who, channel: ApprovalChannel::Settings, remark: None }),
                    ..Approval::default()
                }));
            }
            Some(_) => {
                let why = "`approval.mode` is `deny`, so no person is asked";
                return Err(judge::not_approved(Code::DeniedByPolicy, verdict, why));
            }
            None => {}
        }
        let by = self.granted(request, directory);
        Ok(by.map(|by| Approval { by: Some(by), ..Approval::default() }))
    }

    /// The earlier approval that covers `request`: one for this session, root and directory, or one for always.
    fn granted(&self, request: &Request, directory: &WorkingDirectory) -> Option<ApprovedBy> {
        let held = self.grants(request, directory);
        let who = self.judge.covered(request, directory, &held, self.approved_for_always())?;
        Some(ApprovedBy { who, channel: ApprovalChannel::Settings, remark: None })
    }

    fn grants(&self, request: &Request, directory: &WorkingDirectory) -> Vec<HeldGrant> {
        let root = self.judge.root.path().display().to_string();
        let session = self.session_of(request);
        // A record that can't be read grants nothing.
        let grants = |journal: &journal::Journal| {
            journal.grants(&session, &root, directory.shown(), record::now()).ok()
        };
        self.recorder.journal().and_then(grants).unwrap_or_default()
    }

    /// The rules that were approved for always through this gate and are still in the settings file.
    fn approved_for_always(&self) -> Vec<Entry> {
        let always = self.always.lock().unwrap_or_else(PoisonError::into_inner);
        always.iter().flat_map(Always::written).collect()
    }

    /// Makes this gate apply the rules of an "always" answer once they are in the settings file. A gate that is created
    /// later reads the file itself. When the answer comes from another terminal, that process writes the file after
    /// it has answered, and may fail to.
    pub(super) fn learn(&self, always: Always) {
        let mut known = self.always.lock().unwrap_or_else(PoisonError::into_inner);
        if !known.contains(&always) {
            known.push(always);
        }
    }

    pub(super) fn asking<'a>(
        &'a self,
        request: &'a Request,
        verdict: &'a Verdict,
        directory: &'a WorkingDirectory,
    ) -> Asking<'a> {
        let offers = Offers::new(&self.judge, request, verdict, directory);
        Asking {
            request,
            verdict,
            root: self.judge.root.path(),
            directory: directory.shown(),
            session: self.session_of(request),
            exact: exact(request),
            always: Always::new(&offers.always, RuleReach::Prefix),
            always_exact: Always::new(&offers.always_exact, RuleReach::Exact),
            prefixes: offers.session,
            grant_until: record::now().saturating_add(GRANT_LIFETIME_MS),
            reach: confine::reach(&self.judge.settings.sandbox, &self.granted_by_rules(verdict)),
            timeout: self.approval_timeout(),
        }
    }

    /// How long a question waits for its answer.
    pub(super) fn approval_timeout(&self) -> Duration {
        Duration::from_secs(self.judge.settings.approval.timeout_s)
    }
}

/// The data that a [`Question`] borrows.
pub(super) struct Asking<'a> {
    request: &'a Request,
    verdict: &'a Verdict,
    root: &'a std::path::Path,
    directory: &'a str,
    session: String,
    exact: GrantScope,
    prefixes: Vec<Vec<String>>,
    always: Option<Always>,
    always_exact: Option<Always>,
    grant_until: Millis,
    reach: Vec<String>,
    timeout: Duration,
}

impl Asking<'_> {
    /// The same after a trial: the command gets what that needed.
    pub(super) fn after_trial(mut self, gate: &Gate, tried: Option<&Tried>) -> Self {
        let reach = || tried?.needs.reach(gate.surroundings()?);
        if let Some(reach) = reach() {
            self.reach = vec![reach];
        }
        self
    }

    /// The rules that an answer adds to the settings.
    pub(super) fn always(self, answer: &Answer) -> Option<Always> {
        match answer {
            Answer::Yes(Choice::Always) => self.always,
            Answer::Yes(Choice::AlwaysExact) => self.always_exact,
            _ => None,
        }
    }

    /// All rules that an answer may add to the settings.
    pub(super) fn all_always(self) -> impl Iterator<Item = Always> {
        self.always.into_iter().chain(self.always_exact)
    }

    pub(super) fn question(&self) -> Question<'_> {
        Question {
            request: self.request,
            verdict: self.verdict,
            root: self.root,
            directory: self.directory,
            session: &self.session,
            exact: &self.exact,
            prefixes: &self.prefixes,
            always: self.always.as_ref(),
            always_exact: self.always_exact.as_ref(),
            grant_until: self.grant_until,
            reach: &self.reach,
            timeout: self.timeout,
        }
    }
}

/// The scope of a grant for exactly this request.
pub(super) fn exact(request: &Request) -> GrantScope {
    let argv = match &request.action {
        Action::Program(argv) => Some(argv.clone()),
        Action::Shell(_) => None,
    };
    // Standard input and variables are part of what was approved.
    let stdin = match &request.stdin {
        Stdin::Closed => None,
        Stdin::Text(text) => Some(text.as_str()),
        Stdin::Descriptor(_) => Some("unknown"),
    };
    let mut text = request.action.shown();
    if stdin.is_some() || !request.env.is_empty() {
        text.push_str(&format!("\n{}", serde_json::json!({"env": request.env, "stdin": stdin})));
    }
    GrantScope::Exact { text, argv }
}
