//! Admitting requests: checks a request, judges it by the rules, and asks a person where the rules say so.

use shellgate_exec::ExecId;
use shellgate_journal::{RecordedRequest, Step};
use shellgate_policy::ReasonCode;
use tracing::{debug, info, trace, warn};

use super::asking::Approval;
use super::pending::{Considered, UnaskedQuestion};
use super::trial::{TrialState, Tried};
use crate::admit::judge::{Verdict, VerdictSummary};
use crate::answer::artifacts;
use crate::answer::report::Report;
use crate::answer::summary::RequestSummary;
use crate::answer::writer::OutputWriter;
use crate::gate::{Gate, Refused};
use crate::intake::dialect::Dialect;
use crate::intake::request::{Action, Request};
use crate::record;
use crate::root::WorkingDirectory;
use crate::run::execution::Execution;
use crate::settings::{Network, SandboxMode};
use crate::{Code, ErrorObject, Hint};

/// Longer arguments that can't be read are not recorded word by word.
const MAX_RECORDED_ARGUMENTS_BYTES: usize = 64 << 10;

impl Gate {
    /// Judges `request`, and asks a person if the rules say so. Nothing runs yet.
    ///
    /// # Errors
    /// The refusal, when it may not run.
    pub fn admit(&self, request: Request) -> Result<Admitted<'_>, Refused> {
        match (self.consider(request)?, self.approver.as_deref()) {
            (Considered::Allowed(admitted), _) => Ok(*admitted),
            (Considered::NeedsApproval(unasked), Some(approver)) => unasked.post()?.ask(approver),
            (Considered::NeedsApproval(unasked), None) => Err(unasked.no_approver()),
        }
    }

    /// Judges `request` without asking a person. Where the settings say so, it is tried first: that blocks for as long as the
    /// command runs, at most ten seconds.
    ///
    /// # Errors
    /// The refusal, when it may not run.
    pub fn consider(&self, request: Request) -> Result<Considered<'_>, Refused> {
        match self.consider_untried(request)? {
            Considered::NeedsApproval(unasked) => unasked.try_first(),
            allowed @ Considered::Allowed(_) => Ok(allowed),
        }
    }

    /// The same without trying anything: the caller does that with [`UnaskedQuestion::try_first`] where it may block.
    ///
    /// # Errors
    /// The refusal, when it may not run.
    pub fn consider_untried(&self, request: Request) -> Result<Considered<'_>, Refused> {
        if self.confinement.is_some() && request.chat.is_none() {
            // Making a confined process takes as long as judging: both happen at the same time.
            self.session.make_ready();
        }
        let id = ExecId::generate();
        let mut asked = RequestSummary {
            id: id.to_string(),
            action: request.action.clone(),
            directory: request.directory.clone().unwrap_or_else(|| ".".to_owned()),
            detail: request.detail,
            format: request.format,
            speaks: request.speaks,
            artifacts: request.artifacts.clone(),
            raw: request.raw,
            writer: OutputWriter::default(),
            terminal: request.pty.as_ref().map(|pty| pty.size),
            verdict: None,
            sandbox: None,
        };
        debug!(%id, dialect = request.dialect, session = self.session_of(&request), "request");
        trace!(%id, command = request.action.shown(), "request");
        let (directory, verdict) = match self.judged(&request, &mut asked) {
            Ok(judged) => judged,
            Err(error) => return Err(self.refused(&asked, &request, None, error)),
        };
        info!(%id, decision = ?verdict.decision(), reasons = ?reason_codes(&verdict), "judged");
        match self.approve(&request, &verdict, &directory) {
            Ok(approval) => {
                let is_untried = approval.is_none() && self.is_tried(&request, &verdict);
                let trial = if is_untried { TrialState::Due } else { TrialState::None };
                let what = UnaskedQuestion { gate: self, id, request, directory, asked, verdict, trial };
                Ok(match approval {
                    Some(approval) => Considered::Allowed(Box::new(what.approved(approval))),
                    None => Considered::NeedsApproval(Box::new(what)),
                })
            }
            Err(error) => Err(self.refused(&asked, &request, Some(&verdict), error)),
        }
    }

    /// Admits input that is typed at a running execution: asks a person if the rules say so, and records it.
    ///
    /// # Errors
    /// Why it may not be typed.
    pub(crate) fn admit_typed(
        &self,
        request: &Request,
        verdict: Verdict,
        directory: &WorkingDirectory,
    ) -> Result<(), ErrorObject> {
        self.recorder.check()?;
        let id = ExecId::generate();
        let asked = RequestSummary {
            id: id.to_string(),
            action: request.action.clone(),
            directory: directory.shown().to_owned(),
            ..RequestSummary::unread()
        };
        let why = |refused: Refused| {
            refused.error.unwrap_or_else(|| ErrorObject::new(Code::DeniedByPolicy, "it may not be typed"))
        };
        let approval = match self.approve(request, &verdict, directory) {
            Err(error) => return Err(why(self.refused(&asked, request, Some(&verdict), error))),
            Ok(Some(approval)) => approval,
            Ok(None) => {
                let (request, directory) = (request.clone(), directory.clone());
                let verdict = verdict.clone();
                let asked = asked.clone();
                let trial = TrialState::None;
                let unasked = UnaskedQuestion { gate: self, id, request, directory, asked, verdict, trial };
                let admitted = match self.approver.as_deref() {
                    Some(approver) => unasked.post().and_then(|pending| pending.ask(approver)),
                    None => Err(unasked.no_approver()),
                };
                admitted.map_err(why)?.approval
            }
        };
        let steps = vec![
            record::started(approval.by.as_ref(), SandboxMode::Off, None, None),
            Step::Ended(record::typed()),
        ];
        match approval.entry {
            Some(entry) => steps.into_iter().try_for_each(|step| entry.append(step)),
            None => {
                let root = self.judge.root.path();
                let entry = record::asked(request, Some(&verdict), root, directory.shown());
                self.recorder.begin(&asked.id, &self.session_of(request), entry, steps).map(drop)
            }
        }
    }

    fn judged(
        &self,
        request: &Request,
        asked: &mut RequestSummary,
    ) -> Result<(WorkingDirectory, Verdict), ErrorObject> {
        request.check()?;
        self.recorder.check()?;
        let directory = self.judge.root.directory(request.directory.as_deref())?;
        directory.shown().clone_into(&mut asked.directory);
        artifacts::check(&request.artifacts, &self.judge.root)?;
        self.check_sandbox()?;
        self.judge.check_words(request, &directory)?;
        let verdict = self.judge.judge_in(request, &directory);
        asked.verdict = Some(VerdictSummary::of(&verdict));
        asked.writer = OutputWriter::of(&request.action, verdict.parts());
        Ok((directory, verdict))
    }

    /// The answer to a request that may not run. The refusal is recorded; if it can't be, the request is refused all the
    /// same.
    pub(super) fn refused(
        &self,
        asked: &RequestSummary,
        request: &Request,
        verdict: Option<&Verdict>,
        error: ErrorObject,
    ) -> Refused {
        let session = self.session_of(request);
        info!(id = asked.id, code = ?error.code, "refused");
        trace!(id = asked.id, reason = error.message, "refused");
        let problem = match error.code {
            Code::Canceled => Step::Ended(record::canceled(&error)),
            _ => Step::Refused(record::problem(&error)),
        };
        let entry = record::asked(request, verdict, self.judge.root.path(), &asked.directory);
        // If a person was asked, the entry exists already.
        if let Err(_unwritten) = self.recorder.begin(&asked.id, &session, entry, vec![problem.clone()])
            && let Some(journal) = self.recorder.journal()
            && let Err(error) = journal.append(&asked.id, vec![problem])
        {
            warn!(id = asked.id, %error, "the refusal can't be recorded");
        }
        Box::new(Report::refused(asked, error))
    }

    /// The answer to a call whose arguments can't be read, or that can't be taken for another reason. It is recorded as a
    /// refusal. `chat`: the chat of the caller, if it has one.
    #[must_use]
    pub fn refuse_unread(
        &self,
        dialect: &Dialect,
        arguments: &str,
        chat: Option<&str>,
        error: ErrorObject,
    ) -> Report {
        let problem = Step::Refused(record::problem(&error));
        info!(code = ?error.code, "a call can't be read");
        let report = dialect.refused(arguments, error);
        let request = Request {
            dialect: dialect.name,
            action: Action::Shell(report.command.clone()),
            chat: chat.map(str::to_owned),
            ..Request::default()
        };
        let entry = RecordedRequest {
            request: (arguments.len() <= MAX_RECORDED_ARGUMENTS_BYTES).then(|| arguments.to_owned()),
            ..record::asked(&request, None, self.judge.root.path(), ".")
        };
        // The call is refused in any case.
        if self.recorder.begin(&report.id, &self.session_of(&request), entry, vec![problem]).is_err() {
            warn!(id = report.id, "the refusal can't be recorded");
        }
        report
    }

    /// The name of the session that a request belongs to.
    pub(crate) fn session_of(&self, request: &Request) -> String {
        let name = request.chat.as_deref().and_then(|chat| self.session_name.chat(chat).ok());
        name.as_ref().unwrap_or(&self.session_name).shown().to_owned()
    }

    /// Refuses settings that deny the network without a sandbox, which is what denies it.
    fn check_sandbox(&self) -> Result<(), ErrorObject> {
        let sandbox = &self.judge.settings.sandbox;
        if (sandbox.mode, sandbox.network) != (SandboxMode::Off, Network::Deny) {
            return Ok(());
        }
        let origin =
            self.judge.settings.origin("sandbox.network").map(ToString::to_string).unwrap_or_default();
        let message =
            "`sandbox.network = \"deny\"` was asked for, and `sandbox.mode = \"off\"` confines nothing";
        Err(ErrorObject::new(Code::SandboxUnavailable, message)
            .token("deny")
            .rule(format!("sandbox.network = deny ({origin})"))
            .hint(Hint::ChooseSandbox))
    }
}

/// The codes of a verdict's reasons, for the log: without any text of the command.
fn reason_codes(verdict: &Verdict) -> Vec<ReasonCode> {
    verdict.reasons().iter().map(|reason| reason.code).collect()
}

/// A request that may run.
#[derive(Debug)]
pub struct Admitted<'a> {
    pub(crate) gate: &'a Gate,
    pub(crate) id: ExecId,
    pub(crate) request: Request,
    pub(crate) directory: WorkingDirectory,
    pub(crate) asked: RequestSummary,
    pub(crate) verdict: Verdict,
    pub(crate) approval: Approval,
    /// What its trial needed, if it was tried.
    pub(crate) tried: Option<Tried>,
    /// The trial, if that is the answer.
    pub(crate) trial: Option<Box<Execution>>,
}

impl<'a> UnaskedQuestion<'a> {
    /// The request, approved.
    pub(super) fn approved(self, approval: Approval) -> Admitted<'a> {
        let Self { gate, id, request, directory, mut asked, verdict, trial } = self;
        let tried = trial.into_tried();
        if let Some(verdict) = &mut asked.verdict
            && approval.by.is_some()
        {
            verdict.approved_by = approval.by.as_ref().map(ToString::to_string);
        }
        Admitted { gate, id, request, directory, asked, verdict, approval, tried, trial: None }
    }
}
