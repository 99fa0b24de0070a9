//! Trying a command before a person is asked about it (`approval.mode = "on-need"`).
//!
//! The trial runs in a keeper and a pod of its own: nothing can be written, there is no network, and there is no other process
//! to signal or to talk to. If nothing that matters was refused ([`needs`]), its result is the answer to the request. Else a
//! person is asked, and is told what it needs. The trial itself is in the record either way, as an execution of its own whose
//! sandbox is `trial`.

pub(crate) mod needs;

use std::time::{Duration, Instant};

use shellgate_exec::{
    EncodedConfinement, ExecId, Failure, Follow, Mode, Outcome, Session, SessionKey, State, Urgency,
};
use shellgate_policy::ReasonCode;
use tracing::{info, warn};

use self::needs::{Needs, Surroundings};
use super::asking::Approval;
use super::inside;
use super::pending::{Considered, UnaskedQuestion};
use crate::admit::approval::{ApprovalChannel, ApprovedBy};
use crate::admit::judge::{CallEffect, EffectName, Verdict, VerdictSummary};
use crate::answer::denials::SandboxContext;
use crate::confine::{self, trial};
use crate::gate::{Gate, Refused};
use crate::intake::request::{Request, Stdin};
use crate::record;
use crate::run::execution::Execution;
use crate::run::start::Start;
use crate::settings::{Grants, SandboxMode};

/// The longest trial. A person who is asked after it knows that the command had not ended by then.
const MAX_TIME: Duration = Duration::from_secs(10);

/// The reasons to ask that a trial can settle: no rule decides about the command. A person is asked first for all others.
const SETTLED_BY_TRIAL: [ReasonCode; 7] = [
    ReasonCode::NotInCore,
    ReasonCode::Uncovered,
    ReasonCode::Unknown,
    ReasonCode::Assignment,
    ReasonCode::Write,
    ReasonCode::Outside,
    ReasonCode::Unusual,
];

/// What a command is known to do that no trial can show: it would fail there, or show what it should not.
const NEVER_TRIED: [EffectName; 3] = [EffectName::Publish, EffectName::Machine, EffectName::Secret];

/// The mode of the sandbox of a trial, as answers and the record have it.
pub(crate) const TRIAL_MODE: &str = "trial";

/// A trial that has ended.
#[derive(Debug)]
struct Trial {
    execution: Execution,
    outcome: Box<Outcome>,
}

/// What is left of a trial for the question and the run after it.
#[derive(Debug)]
pub(crate) struct Tried {
    pub(crate) needs: Needs,
    /// How long it took. It counts as time of the command.
    pub(crate) spent: Duration,
}

/// Whether a request is tried before a person is asked.
#[derive(Debug)]
pub(crate) enum TrialState {
    /// It isn't.
    None,
    /// It is to be.
    Due,
    /// It was, and needs something.
    Held(Tried),
}

impl TrialState {
    pub(crate) fn tried(&self) -> Option<&Tried> {
        match self {
            Self::Held(tried) => Some(tried),
            Self::None | Self::Due => None,
        }
    }

    pub(crate) fn into_tried(self) -> Option<Tried> {
        match self {
            Self::Held(tried) => Some(tried),
            Self::None | Self::Due => None,
        }
    }
}

impl Gate {
    /// Whether a request that a person would be asked about is tried first.
    pub(super) fn is_tried(&self, request: &Request, verdict: &Verdict) -> bool {
        // A rule is a decision of a person, even if the text only may be what the rule is about.
        let mut reasons = verdict.reasons().iter();
        let is_settled =
            reasons.all(|reason| reason.rule.is_none() && SETTLED_BY_TRIAL.contains(&reason.code));
        let effects = || verdict.parts().iter().flat_map(|part| &part.effects);
        let is_unseen = |effect: &CallEffect| matches!(effect.effect, EffectName::Code | EffectName::Unknown);
        self.judge.tries_first()
            && self.confinement.is_some()
            && is_settled
            && !effects().any(|effect| NEVER_TRIED.contains(&effect.effect))
            && !(self.judge.restricts_reading() && effects().any(is_unseen))
            && !request.background
            && request.pty.is_none()
            && matches!(request.stdin, Stdin::Closed)
            && self.granted_by_rules(verdict).is_empty()
            && !inside::is_inside()
    }

    /// Tries a request.
    fn try_request<'a>(&'a self, mut unasked: UnaskedQuestion<'a>) -> Result<Considered<'a>, Refused> {
        let begin = Instant::now();
        let tried_as = unasked.id;
        let Some(Trial { mut execution, outcome }) = self.hold_trial(&unasked)? else {
            // The record has the trial that failed, so the request needs another name.
            unasked.rename(ExecId::generate());
            return Ok(Considered::NeedsApproval(Box::new(unasked)));
        };
        let home = std::env::home_dir();
        let needs = Needs::of(&outcome, home.as_deref());
        info!(id = %tried_as, answers = needs.is_empty(), "tried");
        // One that was stopped is not asked about.
        if needs.is_empty() || outcome.state == State::Canceled {
            let by = execution.asked.verdict.as_ref().and_then(|verdict| verdict.approved_by.clone());
            if let Some(verdict) = &mut unasked.asked.verdict {
                verdict.approved_by = by;
            }
            return Ok(Considered::Allowed(Box::new(unasked.answered(execution))));
        }
        // This records its end.
        drop(execution.wait());
        drop(execution);
        let spent = begin.elapsed();
        if let Some(around) = self.surroundings() {
            let mut reasons = needs.reasons(around);
            reasons.push(format!("it was tried first, as {tried_as}"));
            unasked.verdict.require_needs(reasons);
        }
        unasked.rename(ExecId::generate());
        unasked.asked.verdict = Some(VerdictSummary::of(&unasked.verdict));
        if let Some(wait) = &mut unasked.request.wait {
            *wait = wait.saturating_sub(spent);
        }
        unasked.trial = TrialState::Held(Tried { needs, spent });
        Ok(Considered::NeedsApproval(Box::new(unasked)))
    }

    /// What the needs of a trial are told with.
    pub(super) fn surroundings(&self) -> Option<Surroundings<'_>> {
        let (base, _) = self.confinement.as_ref()?;
        Some(Surroundings { root: self.judge.root.path(), base })
    }

    /// The sandbox of a command that gets what its trial needed. `None`: that of all commands.
    pub(crate) fn narrowed(&self, tried: &Tried) -> Option<EncodedConfinement> {
        let (base, _) = self.confinement.as_ref()?;
        let needed = tried.needs.needed()?;
        confine::encoded(&trial::narrowed(base, &self.free_places, &needed)).ok()
    }

    /// Runs a trial to its end. `None`: it can't be held.
    fn hold_trial(&self, unasked: &UnaskedQuestion<'_>) -> Result<Option<Trial>, Refused> {
        let Some((base, _)) = &self.confinement else { return Ok(None) };
        let UnaskedQuestion { id, request, directory, verdict, .. } = unasked;
        let mut asked = unasked.asked.clone();
        let who = format!("approval.mode = on-need{}: a trial", self.judge.mode_origin());
        let by = ApprovedBy { who, channel: ApprovalChannel::Settings, remark: None };
        if let Some(verdict) = &mut asked.verdict {
            verdict.approved_by = Some(by.to_string());
        }
        let root = self.judge.root.path();
        asked.sandbox = Some(SandboxContext::judged(TRIAL_MODE, &root.to_string_lossy(), verdict.clone()));
        let entry = record::asked(request, Some(verdict), root, directory.shown());
        let step = record::tried(&by, Some(self.state.spool_files(*id)), verdict);
        let entry = self
            .recorder
            .begin(&asked.id, &self.session_of(request), entry, vec![step])
            .map_err(|error| Box::new(crate::Report::refused(&asked, error)))?;
        let not_held = |error: &crate::ErrorObject| {
            warn!(%id, code = ?error.code, "the trial can't be held");
            entry.iter().for_each(|entry| entry.not_started(error));
        };
        let session = match self.trial_session(*id, request) {
            Ok(session) => session,
            Err(error) => {
                not_held(&error);
                return Ok(None);
            }
        };
        let started = confine::encoded(&trial::trial(base)).and_then(|confinement| {
            let guard = self.guard.as_ref().map(|guard| guard.for_verdict(verdict, false));
            let start = Start {
                id: *id,
                directory,
                grants: &Grants::default(),
                guard,
                follow: Follow::Quietly,
                confinement: Some(confinement),
                spent: Duration::ZERO,
            };
            let (mut spec, stdin) = self.prepare(trial_request(request), &start)?;
            let limits = [spec.timeout, request.wait].into_iter().flatten().map(|limit| limit / 2);
            spec.timeout = limits.chain([MAX_TIME]).min();
            spec.mode = Mode::FOREGROUND;
            spec.observe = true;
            spec.may_be_unconfined = false;
            session.start(spec, stdin).map_err(|error| crate::gate::session_error(&error))
        });
        let inner = match started {
            Ok(inner) => inner,
            Err(error) => {
                not_held(&error);
                return Ok(None);
            }
        };
        let mut execution = Execution::new(self, inner, asked, entry, Some(session));
        let Ok(outcome) = execution.inner.wait() else { return Ok(None) };
        if !outcome.background.is_empty()
            && let Some(session) = execution.session()
            && let Err(error) = session.stop(Urgency::Now)
        {
            warn!(%id, %error, "processes of the trial can't be stopped");
        }
        if is_held(&outcome) {
            return Ok(Some(Trial { execution, outcome }));
        }
        // This records its end.
        drop(execution.wait());
        Ok(None)
    }

    /// A session of the trial's own, below that of the request: stopping that one stops the trial.
    fn trial_session(&self, id: ExecId, request: &Request) -> Result<Session, crate::ErrorObject> {
        let above = match request.chat.as_deref() {
            Some(chat) => self.session_name.chat(chat)?.key(),
            None => self.session_name.key(),
        };
        let name = id.to_string().to_lowercase();
        // The end of an id is its random part. A whole one may be too long for the name of a socket.
        let own =
            name.char_indices().nth_back(9).map_or(name.as_str(), |(at, _)| name.get(at..).unwrap_or(&name));
        let key =
            SessionKey { own: format!("{}t{own}", above.below), below: format!("{}t{own}-", above.below) };
        Ok(Session::new(self.state.clone(), key, self.starter.clone(), self.keep_bytes))
    }
}

/// Whether a trial was held: its command ran in its sandbox, or could not have run in any.
fn is_held(outcome: &Outcome) -> bool {
    !matches!(
        outcome.failure,
        Some(
            Failure::NotConfined { .. }
                | Failure::NoProcess { .. }
                | Failure::KeeperLost
                | Failure::LauncherLost
                | Failure::TooManyJobs { .. }
        )
    ) && outcome.denials.is_some()
}

/// The request with the variables of a trial.
fn trial_request(request: &Request) -> Request {
    let mut request = request.clone();
    for (name, value) in trial::VARIABLES {
        request.env.insert(name.to_owned(), value.to_owned());
    }
    request
}

/// Whether a mode of the sandbox has trials. In the others a session has a `/tmp` of its own, which no other pod can see: a
/// trial would miss files that earlier commands left there.
pub(crate) fn has_trials(mode: SandboxMode) -> bool {
    mode == SandboxMode::Workspace
}

impl<'a> UnaskedQuestion<'a> {
    /// Whether the request is to be tried before a person is asked.
    #[must_use]
    pub fn is_untried(&self) -> bool {
        matches!(self.trial, TrialState::Due)
    }

    /// Tries the request, if the settings say so and it was not tried yet. If the trial can't be held, a person is asked as
    /// without it. Blocks for as long as the command runs, at most ten seconds.
    ///
    /// # Errors
    /// The refusal, when the trial can't be recorded.
    pub fn try_first(mut self) -> Result<Considered<'a>, Refused> {
        if !self.is_untried() {
            return Ok(Considered::NeedsApproval(Box::new(self)));
        }
        self.trial = TrialState::None;
        self.gate.try_request(self)
    }

    /// Gives the request another id.
    fn rename(&mut self, id: ExecId) {
        self.id = id;
        self.asked.id = id.to_string();
    }

    /// The request, whose trial is the answer.
    fn answered(self, execution: Execution) -> super::Admitted<'a> {
        let mut admitted = self.approved(Approval::default());
        admitted.trial = Some(Box::new(execution));
        admitted
    }
}
