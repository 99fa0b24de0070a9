//! The report of one job: from its keeper while it runs, from the journal after its end.

use std::time::Duration;

use shellgate_exec::{Exit, Job, Outcome, Output, PerStream, Spool, State, StoredEnd, Stream};
use shellgate_journal::{
    self as journal, LossCause, Millis, PastExecution, RecordedEnd, RecordedLoss, Status,
};

use super::{Jobs, journal_error, parse};
use crate::admit::approval::ApprovedBy;
use crate::admit::judge::VerdictSummary;
use crate::answer::denials::{Denial, SandboxContext};
use crate::answer::effects::ObservedEffects;
use crate::answer::report::Report;
use crate::answer::summary::RequestSummary;
use crate::answer::writer::OutputWriter;
use crate::gate::session_error;
use crate::intake::request::{Action, Detail, Format};
use crate::record::settle;
use crate::{Code, ErrorObject, Hint, record};

/// The error for an execution that no keeper holds, when the record can't be settled.
pub(super) fn unsettled(id: &str, error: &str) -> ErrorObject {
    ErrorObject::new(Code::Config, format!("how `{id}` ended can't be read: {error}"))
        .hint("look at the state folder")
}

impl Jobs<'_> {
    /// The current state of a job, with its output so far.
    ///
    /// # Errors
    /// `unknown_job` when there is none.
    pub fn report(&self, id: &str, detail: Detail) -> Result<Report, ErrorObject> {
        let execution = self.find(id)?;
        let name = parse(&execution.id)?;
        let held = shellgate_exec::jobs(self.state).map_err(|error| session_error(&error))?;
        match held.find(name).map_err(|error| session_error(&error))? {
            Some(job) => self.report_running(&execution, &job, detail),
            None => {
                // It has ended, perhaps only after it was found in the journal.
                let settled = settle(self.journal, self.state);
                let execution =
                    self.journal.execution(&execution.id).map_err(|error| journal_error(&error))?;
                let execution = execution.ok_or_else(|| super::unknown(id))?;
                match (execution.status, settled) {
                    // An end that can't be recorded is an end.
                    (Status::Running, Err(error)) => match self.stored_outcome(&execution.id) {
                        Some(outcome) => self.report_told(&execution, outcome, detail),
                        None => Err(unsettled(&execution.id, &error)),
                    },
                    _ => Ok(self.report_ended(&execution, detail)),
                }
            }
        }
    }

    /// How an execution ended, as its keeper has stored it. It is in the record unless that can't be written.
    pub(super) fn stored_outcome(&self, id: &str) -> Option<Outcome> {
        StoredEnd::find(self.state, id).ok().flatten().map(|end| end.outcome)
    }

    /// The report of a job that a keeper holds.
    pub(super) fn report_running(
        &self,
        execution: &PastExecution,
        job: &Job,
        detail: Detail,
    ) -> Result<Report, ErrorObject> {
        let spool = self.spool(execution)?;
        let output = |stream: Stream| {
            let kept = spool.files.get(stream).metadata().map_or(0, |metadata| metadata.len());
            let total = (*job.printed.get(stream)).max(kept);
            Output { total, spooled: kept, tail: self.tail(&execution.id, stream), lost: None }
        };
        let outcome = Outcome {
            state: job.state,
            pid: job.pid,
            session_pid: job.session_pid,
            exit: None,
            failure: None,
            clock: None,
            limit: None,
            output: PerStream { stdout: output(Stream::Stdout), stderr: output(Stream::Stderr) },
            background: job.processes.clone(),
            duration: job.age,
            waiting_for_input: job.waiting_for_input,
            unconfined: None,
            denials: job.denials.clone(),
            effects: job.effects.clone(),
        };
        let asked = RequestSummary { terminal: job.terminal, ..asked(execution, detail) };
        Ok(Report::ended(&asked, &self.answers, outcome, &spool, Vec::new()))
    }

    /// The report of an ended execution, as its keeper told.
    pub(super) fn report_told(
        &self,
        execution: &PastExecution,
        outcome: Outcome,
        detail: Detail,
    ) -> Result<Report, ErrorObject> {
        let spool = self.spool(execution)?;
        Ok(Report::ended(&asked(execution, detail), &self.answers, outcome, &spool, Vec::new()))
    }

    /// The report of an ended execution, from the journal.
    pub(super) fn report_ended(&self, execution: &PastExecution, detail: Detail) -> Report {
        let asked = asked(execution, detail);
        let ended = execution.ended.as_ref();
        let kept = self.spool(execution);
        // An end without its output is an end.
        let is_kept = kept.is_ok();
        let spool = match kept {
            Err(_) if ended.is_some_and(|ended| ended.pid.is_some()) => Spool::nowhere().ok(),
            kept => kept.ok(),
        };
        let recorded_error = ended.and_then(|ended| ended.error.as_deref()).map(error_object);
        let loss = execution.closed.as_ref().map(loss_error);
        let (Some(spool), None) = (spool, &execution.refused) else {
            let no_output = || ErrorObject::new(Code::Config, NOT_KEPT);
            let why = execution.refused.as_ref().map(error_object).or(recorded_error).or(loss);
            let why = why.or_else(|| explain_never_started(execution)).unwrap_or_else(no_output);
            return Report::refused(&asked, why);
        };
        let length = |stream: Stream| spool.files.get(stream).metadata().map_or(0, |metadata| metadata.len());
        let output = |stream: Stream, kept: Option<&journal::RecordedStream>| {
            // Leftover processes may have printed more after the end was recorded.
            let spooled = length(stream);
            let total = kept.map_or(0, |kept| kept.bytes).max(spooled);
            let lost = (!is_kept && total > 0).then(|| NOT_KEPT.to_owned());
            Output { total, spooled, tail: self.tail(&execution.id, stream), lost }
        };
        let outcome = Outcome {
            state: state(execution.status),
            pid: ended.and_then(|ended| ended.pid),
            // The pod is gone, and with it the number that commands knew.
            session_pid: ended.and_then(|ended| ended.pid),
            exit: ended
                .and_then(|ended| ended.exit_code.map(Exit::Code).or_else(|| ended.signal.map(Exit::Signal))),
            failure: None,
            clock: None,
            limit: None,
            output: PerStream {
                stdout: output(Stream::Stdout, ended.map(|ended| &ended.stdout)),
                stderr: output(Stream::Stderr, ended.map(|ended| &ended.stderr)),
            },
            background: Vec::new(),
            duration: {
                let ran = |ended: &RecordedEnd| Some(ended.ended_at.saturating_sub(ended.started_at?));
                let ran = ended.map_or_else(|| run_time_of_lost(execution), ran);
                Duration::from_millis(ran.and_then(|ran| u64::try_from(ran).ok()).unwrap_or(0))
            },
            waiting_for_input: false,
            unconfined: None,
            denials: None,
            effects: None,
        };
        let report = Report::ended(&asked, &self.answers, outcome, &spool, Vec::new());
        Report {
            error: recorded_error.or(loss).or(report.error),
            denials: ended
                .and_then(|ended| ended.denials.as_ref())
                .map(|denials| denials.iter().map(Denial::from).collect()),
            omitted_denials: ended.map_or(0, |ended| ended.omitted_denials),
            effects: ended.and_then(|ended| ended.effects.as_deref()).map(ObservedEffects::from),
            ..report
        }
    }

    /// The last bytes of a stream that was longer than its file may be. Empty if the file holds the whole stream.
    pub(super) fn tail(&self, id: &str, stream: Stream) -> Vec<u8> {
        id.parse().map_or_else(|_| Vec::new(), |id| Spool::tail(&self.state.spool(), id, stream))
    }

    pub(super) fn spool(&self, execution: &PastExecution) -> Result<Spool, ErrorObject> {
        let kept = match record::recorded_texts(execution) {
            Some(texts) => Spool::of_texts(&texts),
            None => Spool::open(&self.state.spool(), parse(&execution.id)?),
        };
        kept.map_err(|_| {
            explain_never_started(execution).unwrap_or_else(|| {
                let message = format!("the output of execution `{}` is not kept any more", execution.id);
                ErrorObject::new(Code::UnknownJob, message).token(execution.id.clone())
            })
        })
    }
}

/// Why output is missing that the record names.
const NOT_KEPT: &str = "its output is not kept any more";

/// Why an execution was never started, for a caller that asks for its output. `None`: it was started.
#[must_use]
pub fn explain_never_started(execution: &PastExecution) -> Option<ErrorObject> {
    let id = &execution.id;
    if execution.status == Status::Forgotten {
        let message = format!("execution `{id}` was forgotten: the record has no more of it");
        return Some(ErrorObject::new(Code::UnknownJob, message).token(id.clone()));
    }
    let ended = execution.ended.as_ref();
    let failed = ended.and_then(|ended| ended.error.as_deref()).map(error_object);
    let failed_to_start = ended.is_some_and(|ended| ended.pid.is_none())
        && failed.as_ref().is_some_and(|why| why.code.is_refusal() || why.code == Code::SpawnFailed);
    // The journal's start entry is written before the start is attempted.
    if execution.started.is_some() && execution.refused.is_none() && !failed_to_start {
        return None;
    }
    let why = execution.refused.as_ref().map(error_object).or(failed);
    Some(match why.or_else(|| execution.closed.as_ref().map(loss_error)) {
        Some(why) => {
            let message = format!("execution `{id}` never ran: {}", why.message);
            ErrorObject { message, ..why }
        }
        None => {
            let message = format!("execution `{id}` has not started: it waits for a person's approval");
            ErrorObject::new(Code::Busy, message).hint(Hint::ListQuestions)
        }
    })
}

/// The request, from the journal.
fn asked(execution: &PastExecution, detail: Detail) -> RequestSummary {
    let known = execution.asked.as_ref();
    let approved = execution.started.as_ref().and_then(|started| started.approved_by.as_ref());
    RequestSummary {
        id: execution.id.clone(),
        action: known.map_or_else(|| Action::Shell(String::new()), record::action),
        directory: known.map_or(".", |asked| &asked.directory).to_owned(),
        detail,
        format: match known {
            Some(known) if known.wanted.markdown => Format::Markdown,
            Some(known) if known.wanted.text => Format::Text,
            _ => Format::Json,
        },
        speaks: false,
        artifacts: Vec::new(),
        raw: known.is_some_and(|known| known.wanted.shows == Some(journal::OutputDetail::Raw)),
        writer: known
            .map_or_else(OutputWriter::default, |known| OutputWriter::Recorded(Box::new(known.clone()))),
        terminal: None,
        sandbox: SandboxContext::recorded(execution),
        verdict: known.map(|asked| VerdictSummary {
            decision: record::decision(asked.verdict.decision),
            rules: asked.verdict.rules.clone(),
            approved_by: approved.map(|approved| {
                let (channel, remark) = (approved.channel, approved.remark.clone());
                ApprovedBy { who: approved.who.clone(), channel, remark }.to_string()
            }),
        }),
    }
}

/// How long an execution ran whose end was not seen: at most until its loss was noticed.
pub(super) fn run_time_of_lost(execution: &PastExecution) -> Option<Millis> {
    execution.started.as_ref().map(|_| execution.last_at.saturating_sub(execution.at))
}

/// The error of an execution that was closed without an end.
fn loss_error(loss: &RecordedLoss) -> ErrorObject {
    match loss.how {
        LossCause::KeeperLost => ErrorObject::new(
            Code::KeeperLost,
            "the keeper of this session ended before the command did, so the command's exit status is not known",
        ),
        LossCause::Reboot => {
            ErrorObject::new(Code::KeeperLost, "the machine was restarted while the command ran")
        }
        LossCause::NeverStarted => ErrorObject::new(Code::Canceled, "the command was never started"),
    }
}

/// The state for a status in the journal.
pub(super) fn state(status: Status) -> State {
    match status {
        Status::Completed => State::Completed,
        Status::Canceled => State::Canceled,
        Status::TimedOut => State::TimedOut,
        Status::Running => State::Running,
        Status::Asked => State::Queued,
        _ => State::Failed,
    }
}

/// An error, from the journal.
fn error_object(recorded: &journal::RecordedError) -> ErrorObject {
    let code = Code::named(&recorded.code).unwrap_or(Code::SpawnFailed);
    ErrorObject {
        token: recorded.token.clone(),
        rule: recorded.rule.clone(),
        hint: recorded.hint.clone().map(Hint::from),
        ..ErrorObject::new(code, recorded.message.clone())
    }
}
