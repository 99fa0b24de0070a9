//! One job as a report: as it stands while it runs, and as the record has it when it has ended.

use std::time::Duration;

use shellgate_exec::{Exit, Job, Outcome, Output, PerStream, Spool, State, Stream};
use shellgate_journal::{
    self as journal, LossCause, Millis, PastExecution, RecordedEnd, RecordedLoss, Status,
};

use super::{Jobs, parse, trouble};
use crate::admit::approval::ApprovedBy;
use crate::admit::judge::{Decision, VerdictSummary};
use crate::answer::report::{Report, RequestSummary};
use crate::gate::session_error;
use crate::intake::request::{Action, Detail, Format};
use crate::{Code, ErrorObject, record};

impl Jobs<'_> {
    /// How one stands, with what it printed until now.
    ///
    /// # Errors
    /// `unknown_job` when there is none.
    pub fn report(&self, id: &str, detail: Detail) -> Result<Report, ErrorObject> {
        let execution = self.find(id)?;
        let name = parse(&execution.id)?;
        let held = shellgate_exec::jobs(self.state).map_err(|error| session_error(&error))?;
        match held.iter().find(|job| job.id == name) {
            Some(job) => self.running(&execution, job, detail),
            None => {
                // It may have ended between the two looks, or long ago.
                self.settle();
                let execution = self.journal.execution(&execution.id).map_err(|error| trouble(&error))?;
                execution
                    .map_or_else(|| Err(super::unknown(id)), |execution| Ok(self.over(&execution, detail)))
            }
        }
    }

    pub(super) fn running(
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
            exit: None,
            failure: None,
            clock: None,
            limit: None,
            output: PerStream { stdout: output(Stream::Stdout), stderr: output(Stream::Stderr) },
            background: job.processes.clone(),
            duration: job.age,
            waiting_for_input: job.waiting_for_input,
        };
        let asked = RequestSummary { terminal: job.terminal, ..asked(execution, detail) };
        Ok(Report::ended(&asked, &self.limits, outcome, &spool, Vec::new()))
    }

    /// One that has ended, as the record has it.
    pub(super) fn over(&self, execution: &PastExecution, detail: Detail) -> Report {
        let asked = asked(execution, detail);
        let spool = self.spool(execution);
        let ended = execution.ended.as_ref();
        let told = ended.and_then(|ended| ended.error.as_ref()).map(problem);
        let found = execution.closed.as_ref().map(closed);
        let (Ok(spool), None) = (spool, &execution.refused) else {
            let gone = || ErrorObject::new(Code::Config, "what it printed is not kept any more");
            let why = execution.refused.as_ref().map(problem).or(told).or(found);
            return Report::refused(&asked, why.or_else(|| never_ran(execution)).unwrap_or_else(gone));
        };
        let length = |stream: Stream| spool.files.get(stream).metadata().map_or(0, |metadata| metadata.len());
        let output = |stream: Stream, kept: Option<&journal::RecordedStream>| {
            // What it left behind may have printed more since.
            let spooled = length(stream);
            let total = kept.map_or(0, |kept| kept.bytes).max(spooled);
            Output { total, spooled, tail: self.tail(&execution.id, stream), lost: None }
        };
        let outcome = Outcome {
            state: state(execution.status),
            pid: ended.and_then(|ended| ended.pid),
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
                let ran = ended.map_or_else(|| lost_after(execution), ran);
                Duration::from_millis(ran.and_then(|ran| u64::try_from(ran).ok()).unwrap_or(0))
            },
            waiting_for_input: false,
        };
        let report = Report::ended(&asked, &self.limits, outcome, &spool, Vec::new());
        Report { error: told.or(found).or(report.error), ..report }
    }

    /// The end of a stream that was too much for its file; empty when the file has all of it.
    #[must_use]
    pub fn tail(&self, id: &str, stream: Stream) -> Vec<u8> {
        id.parse().map_or_else(|_| Vec::new(), |id| Spool::tail(&self.state.spool(), id, stream))
    }

    pub(super) fn spool(&self, execution: &PastExecution) -> Result<Spool, ErrorObject> {
        Spool::open(&self.state.spool(), parse(&execution.id)?).map_err(|_| {
            never_ran(execution).unwrap_or_else(|| {
                let message = format!("what execution `{}` printed is not kept any more", execution.id);
                ErrorObject::new(Code::UnknownJob, message).token(execution.id.clone())
            })
        })
    }
}

/// Why nothing was ever started, as an answer to who asks what it printed. `None`: something was.
#[must_use]
pub fn never_ran(execution: &PastExecution) -> Option<ErrorObject> {
    let id = &execution.id;
    let ended = execution.ended.as_ref();
    let failed = ended.and_then(|ended| ended.error.as_ref()).map(problem);
    let unstarted = ended.is_some_and(|ended| ended.pid.is_none())
        && failed.as_ref().is_some_and(|why| why.code.is_refusal() || why.code == Code::SpawnFailed);
    // The record says that it starts before anybody tries.
    if execution.started.is_some() && execution.refused.is_none() && !unstarted {
        return None;
    }
    let why = execution.refused.as_ref().map(problem).or(failed);
    Some(match why.or_else(|| execution.closed.as_ref().map(closed)) {
        Some(why) => {
            let message = format!("execution `{id}` never ran: {}", why.message);
            ErrorObject { message, ..why }
        }
        None => {
            let message = format!("execution `{id}` has not started: somebody must say yes first");
            ErrorObject::new(Code::Busy, message).hint("`shellgate approvals list` shows what is asked")
        }
    })
}

/// The request, as the record has it.
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
            _ => Format::Json,
        },
        speaks: false,
        artifacts: Vec::new(),
        terminal: None,
        verdict: known.map(|asked| VerdictSummary {
            decision: match asked.verdict.decision {
                journal::RecordedDecision::Allow => Decision::Allow,
                journal::RecordedDecision::Ask => Decision::Ask,
                journal::RecordedDecision::Deny => Decision::Deny,
            },
            rules: asked.verdict.rules.clone(),
            approved_by: approved.map(|approved| {
                let channel = approved.channel;
                ApprovedBy { who: approved.who.clone(), channel }.to_string()
            }),
        }),
    }
}

/// How long one ran whose end nobody saw: no longer than until that was noticed.
pub(super) fn lost_after(execution: &PastExecution) -> Option<Millis> {
    execution.started.as_ref().map(|_| execution.last_at.saturating_sub(execution.at))
}

/// What was found in place of an end.
fn closed(closed: &RecordedLoss) -> ErrorObject {
    match closed.how {
        LossCause::KeeperLost => ErrorObject::new(
            Code::KeeperLost,
            "the keeper of this session ended before the command did, so how the command ended is not known",
        ),
        LossCause::Reboot => {
            ErrorObject::new(Code::KeeperLost, "the machine was started anew while the command ran")
        }
        LossCause::NeverStarted => ErrorObject::new(Code::Canceled, "it was never started"),
    }
}

/// The state that the record's word means.
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

/// What went wrong, from the record.
fn problem(problem: &journal::RecordedError) -> ErrorObject {
    let code = Code::named(&problem.code).unwrap_or(Code::SpawnFailed);
    ErrorObject {
        token: problem.token.clone(),
        rule: problem.rule.clone(),
        hint: problem.hint.clone(),
        ..ErrorObject::new(code, problem.message.clone())
    }
}
