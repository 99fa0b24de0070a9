//! Asking a person, and remembering what they said.

use std::sync::PoisonError;
use std::time::Duration;

use shellgate_journal::{self as journal, GrantScope, SessionGrant};

use crate::admit::approval::{self, Always, ApprovalChannel, ApprovedBy, Question};
use crate::admit::judge::{self, Decision, Granted, Verdict};
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
                    entry: None,
                }));
            }
            Some(_) => {
                let why = "`approval.mode` is `deny`, so no person is asked";
                return Err(judge::not_approved(Code::DeniedByPolicy, verdict, why));
            }
            None => {}
        }
        let by = self.granted(request, directory);
        Ok(by.map(|by| Approval { by: Some(by), entry: None }))
    }

    /// The earlier approval that covers `request`: one for this session, root and directory, or one for always.
    fn granted(&self, request: &Request, directory: &WorkingDirectory) -> Option<ApprovedBy> {
        let exactly = exact(request);
        let mut granted = Granted { always: self.approved_for_always(), ..Granted::default() };
        for grant in self.grants(request, directory) {
            match grant.scope {
                scope @ GrantScope::Exact { .. } if scope == exactly => {
                    return Some(approval_for("this session"));
                }
                GrantScope::Exact { .. } => {}
                GrantScope::Prefix(prefix) => granted.session.push(prefix),
            }
        }
        let how = match (granted.session.as_slice(), granted.always.as_slice()) {
            ([], []) => return None,
            ([], _) => "always",
            _ => "this session",
        };
        // With these prefixes allowed, the rules must allow every part of the command.
        let verdict = self.judge.judge_with(request, directory, &granted);
        (verdict.decision() == Decision::Allow).then(|| approval_for(how))
    }

    fn grants(&self, request: &Request, directory: &WorkingDirectory) -> Vec<SessionGrant> {
        let root = self.judge.root.path().display().to_string();
        let session = self.session_of(request);
        // A record that can't be read grants nothing.
        let grants = |journal: &journal::Journal| {
            journal.grants(&session, &root, directory.shown(), record::now()).ok()
        };
        self.recorder.journal().and_then(grants).unwrap_or_default()
    }

    /// The prefixes that were approved for always through this gate and are still in the settings file.
    fn approved_for_always(&self) -> Vec<Vec<String>> {
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
        let prefixes = approval::prefixes(verdict);
        Asking {
            request,
            verdict,
            root: self.judge.root.path(),
            directory: directory.shown(),
            session: self.session_of(request),
            exact: exact(request),
            always: Always::new(&prefixes),
            prefixes,
            reach: confine::reach(&self.judge.settings.sandbox, &self.granted_by_rules(verdict)),
            timeout: Duration::from_secs(self.judge.settings.approval.timeout_s),
        }
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
    reach: Vec<String>,
    timeout: Duration,
}

impl Asking<'_> {
    /// The rules that an "always" answer adds to the settings.
    pub(super) fn always(self) -> Option<Always> {
        self.always
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
            reach: &self.reach,
            timeout: self.timeout,
        }
    }
}

fn approval_for(how: &str) -> ApprovedBy {
    let who = format!("an approval for {how}");
    ApprovedBy { who, channel: ApprovalChannel::Settings, remark: None }
}

/// The scope of a grant for exactly this request.
fn exact(request: &Request) -> GrantScope {
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
