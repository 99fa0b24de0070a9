//! The native result: everything that is known about one request, in the order of the contract.
//!
//! Every dialect writes its answer from this.

use std::path::PathBuf;

use serde::Serialize;
use shellgate_exec::{Clock, Exit, Outcome, PerStream, Process, Spool, State};

use crate::admit::judge::VerdictSummary;
use crate::answer::artifacts::Artifact;
use crate::answer::condensed::Condensed;
use crate::answer::denials::{self, Denial, SandboxContext};
use crate::answer::effects::{self, ObservedEffects};
use crate::answer::outcome_error::outcome_error;
use crate::answer::settings::AnswerSettings;
use crate::answer::signal_names::SignalName;
use crate::answer::stream_text::StreamTexts;
use crate::answer::summary::RequestSummary;
use crate::answer::unconfined;
use crate::intake::request::{Detail, Format};
use crate::{Code, ErrorObject};

/// One request and what became of it.
#[derive(Clone, Debug, Serialize)]
#[expect(missing_docs, reason = "the fields are documented in docs/results.md, where their readers look")]
#[expect(clippy::struct_excessive_bools, reason = "the fields are the contract's")]
pub struct Report {
    pub id: String,
    pub status: State,
    pub command: String,
    pub directory: String,
    pub exit_code: Option<i32>,
    pub signal: Option<SignalName>,
    pub error: Option<ErrorObject>,
    pub stdout: String,
    pub stderr: String,
    pub stdout_bytes: u64,
    pub stderr_bytes: u64,
    pub stdout_truncated: bool,
    pub stderr_truncated: bool,
    #[serde(serialize_with = "path")]
    pub stdout_file: Option<PathBuf>,
    #[serde(serialize_with = "path")]
    pub stderr_file: Option<PathBuf>,
    pub timed_out: bool,
    pub canceled: bool,
    pub duration_ms: u64,
    pub pid: Option<u32>,
    pub host_pid: Option<u32>,
    pub background: Vec<Background>,
    pub job: Option<String>,
    pub waiting_for_input: bool,
    pub verdict: Option<VerdictSummary>,
    pub effects: Option<ObservedEffects>,
    pub denials: Option<Vec<Denial>>,
    pub artifacts: Vec<Artifact>,
    /// Why it was not confined, though it was to be: `sandbox.on_missing` is `warn`.
    #[serde(skip)]
    pub unconfined: Option<String>,
    /// How many refusals `denials` doesn't have.
    #[serde(skip)]
    pub omitted_denials: u64,
    /// How the answer is to be written.
    #[serde(skip)]
    pub format: Format,
    /// How much of it is to be written.
    #[serde(skip)]
    pub detail: Detail,
    /// The timeout that ended it, if that is known.
    #[serde(skip)]
    pub clock: Option<Clock>,
    /// That lines which say nothing new are left out.
    #[serde(skip)]
    pub condensed: Option<Condensed>,
    /// About how many tokens all output would cost, if that is known.
    #[serde(skip)]
    pub whole_tokens: u64,
    /// The program, when no shell was asked for.
    #[serde(skip)]
    pub program: Option<String>,
    /// The streams up to `limits.answer_bytes`, of a command that speaks for itself.
    #[serde(skip)]
    pub words: Option<PerStream<String>>,
    /// Standard output is what stands on its terminal's screen.
    #[serde(skip)]
    pub screen: bool,
    /// Why a stream's file is shorter than the stream, when that is not the limit asked for.
    #[serde(skip)]
    pub lost: PerStream<Option<String>>,
}

/// A path that isn't UTF-8 must not cost the whole answer: what JSON can't say of it is replaced.
fn path<S: serde::Serializer>(path: &Option<PathBuf>, serializer: S) -> Result<S::Ok, S::Error> {
    path.as_ref().map(|path| path.to_string_lossy()).serialize(serializer)
}

/// A process that outlived the answer.
#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
#[expect(missing_docs, reason = "as above")]
pub struct Background {
    pub pid: u32,
    pub host_pid: u32,
    pub command: String,
}

impl Background {
    pub(crate) fn of(process: &Process) -> Self {
        Self { pid: process.session_pid, host_pid: process.pid, command: process.command.clone() }
    }
}

impl Report {
    /// A request that was refused, or whose program was not found.
    pub(crate) fn refused(summary: &RequestSummary, error: ErrorObject) -> Self {
        let status = if error.code == Code::Canceled { State::Canceled } else { State::Failed };
        Self::not_run(summary, status, Some(error))
    }

    /// A request that waits for a person's approval. Its execution will have the same id, so that is its job.
    pub(crate) fn queued(summary: &RequestSummary) -> Self {
        Self { job: Some(summary.id.clone()), ..Self::not_run(summary, State::Queued, None) }
    }

    /// A request of which nothing has run.
    fn not_run(summary: &RequestSummary, status: State, error: Option<ErrorObject>) -> Self {
        Self {
            id: summary.id.clone(),
            status,
            command: summary.action.shown(),
            directory: summary.directory.clone(),
            exit_code: None,
            signal: None,
            error,
            stdout: String::new(),
            stderr: String::new(),
            stdout_bytes: 0,
            stderr_bytes: 0,
            stdout_truncated: false,
            stderr_truncated: false,
            stdout_file: None,
            stderr_file: None,
            timed_out: false,
            canceled: status == State::Canceled,
            duration_ms: 0,
            pid: None,
            host_pid: None,
            background: Vec::new(),
            job: None,
            waiting_for_input: false,
            verdict: summary.verdict.clone(),
            effects: None,
            denials: None,
            omitted_denials: 0,
            unconfined: None,
            artifacts: Vec::new(),
            format: summary.format,
            detail: summary.detail,
            clock: None,
            condensed: None,
            whole_tokens: 0,
            program: summary.program(),
            words: None,
            screen: false,
            lost: PerStream::default(),
        }
    }

    /// The answer to a call that could not even be read.
    #[must_use]
    pub fn of_error(error: ErrorObject) -> Self {
        Self::refused(&RequestSummary::unread(), error)
    }

    /// A request that ran, or whose process could not be started. Every field is named here: a new one doesn't compile
    /// until it is decided where its value comes from.
    pub(crate) fn ended(
        summary: &RequestSummary,
        answers: &AnswerSettings,
        outcome: Outcome,
        spool: &Spool,
        artifacts: Vec<Artifact>,
    ) -> Self {
        let streams = StreamTexts::read(summary, answers, &outcome, spool);
        Self {
            id: summary.id.clone(),
            status: outcome.state,
            command: summary.action.shown(),
            directory: summary.directory.clone(),
            exit_code: exit_code(outcome.exit),
            signal: signal(outcome.exit),
            error: outcome_error(&summary.action, &summary.directory, &outcome),
            stdout: streams.shown.stdout.text,
            stderr: streams.shown.stderr.text,
            stdout_bytes: outcome.output.stdout.total,
            stderr_bytes: outcome.output.stderr.total,
            stdout_truncated: streams.shown.stdout.truncated,
            stderr_truncated: streams.shown.stderr.truncated,
            stdout_file: spool.paths.as_ref().map(|paths| paths.stdout.clone()),
            stderr_file: spool.paths.as_ref().map(|paths| paths.stderr.clone()),
            timed_out: outcome.state == State::TimedOut,
            canceled: outcome.state == State::Canceled,
            duration_ms: u64::try_from(outcome.duration.as_millis()).unwrap_or(u64::MAX),
            pid: outcome.session_pid,
            host_pid: outcome.pid,
            background: outcome.background.iter().map(Background::of).collect(),
            job: (!outcome.state.is_final() || !outcome.background.is_empty()).then(|| summary.id.clone()),
            waiting_for_input: outcome.waiting_for_input,
            verdict: verdict_with_remark(summary, outcome.unconfined.as_deref()),
            effects: observed_effects(summary, &outcome),
            unconfined: outcome.unconfined.clone(),
            denials: explained_denials(summary, &outcome),
            omitted_denials: outcome.denials.as_ref().map_or(0, |denials| denials.more),
            artifacts,
            format: summary.format,
            detail: summary.detail,
            clock: outcome.clock,
            condensed: streams.condensed,
            whole_tokens: streams.whole_tokens,
            program: summary.program(),
            words: streams.words,
            screen: streams.is_screen,
            lost: PerStream { stdout: outcome.output.stdout.lost, stderr: outcome.output.stderr.lost },
        }
    }

    /// What the sandbox refused, on one line: `write /etc/hosts`. `None`: nothing.
    #[must_use]
    pub fn denied_targets(&self) -> Option<String> {
        denials::targets(self.denials.as_deref().unwrap_or_default(), self.omitted_denials)
    }

    /// What of the sandbox the command ran without, in words. `None`: it had all of it, or was to have none.
    #[must_use]
    pub fn unconfined_note(&self) -> Option<String> {
        self.unconfined.as_deref().map(unconfined::note)
    }

    /// The rules that refused what [`denied_targets`](Self::denied_targets) names, each once.
    #[must_use]
    pub fn denial_rules(&self) -> Vec<&str> {
        denials::rules(self.denials.as_deref().unwrap_or_default())
    }

    /// Settings that allow what [`denied_targets`](Self::denied_targets) names, each once.
    #[must_use]
    pub fn grants(&self) -> Vec<&str> {
        denials::grants(self.denials.as_deref().unwrap_or_default())
    }

    /// The name of the job, when this is the answer to a call that goes on.
    #[must_use]
    pub fn unfinished_job(&self) -> Option<&str> {
        self.job.as_deref().filter(|_| !self.status.is_final())
    }

    /// Whether nothing was started, because a rule, a person or a failed check refused it.
    #[must_use]
    pub fn is_refusal(&self) -> bool {
        self.error.as_ref().is_some_and(|error| error.code.is_refusal())
    }
}

/// The verdict, with a remark if the command was not confined though it was to be.
fn verdict_with_remark(summary: &RequestSummary, unconfined: Option<&str>) -> Option<VerdictSummary> {
    let mut verdict = summary.verdict.clone()?;
    let remark = unconfined.map(|why| format!("sandbox.on_missing = warn: {}", unconfined::phrase(why)));
    verdict.rules.extend(remark);
    Some(verdict)
}

/// What the sandbox refused, with the settings that allow it. `None`: it was not confined.
pub(crate) fn explained_denials(summary: &RequestSummary, outcome: &Outcome) -> Option<Vec<Denial>> {
    Some(summary.sandbox.as_ref()?.explain(outcome.denials.as_ref()?))
}

/// What the command did. `None`: it was not observed.
fn observed_effects(summary: &RequestSummary, outcome: &Outcome) -> Option<ObservedEffects> {
    let root = summary.sandbox.as_ref().map_or("", SandboxContext::root);
    let recorded = effects::recorded(outcome.effects.as_ref()?, root);
    Some(ObservedEffects::from(&recorded))
}

pub(crate) const fn exit_code(exit: Option<Exit>) -> Option<i32> {
    match exit {
        Some(Exit::Code(code)) => Some(code),
        _ => None,
    }
}

pub(crate) fn signal(exit: Option<Exit>) -> Option<SignalName> {
    match exit {
        Some(Exit::Signal(number)) => Some(SignalName::new(number)),
        _ => None,
    }
}
