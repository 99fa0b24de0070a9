//! A call by the name of its execution: its state, and, when it is over, the answer that it would have had if somebody
//! had waited for it. All of it comes from the record, the keeper and the spool, so whoever asks need not be the process
//! that made the call.

use shellgate_exec::{Exit, Job, State};
use shellgate_journal::{AnswerOptions, Millis, OutputDetail, PastExecution, RecordedRequest, Status};

use super::{Jobs, Listed, unknown};
use crate::answer::artifacts;
use crate::answer::report::{Background, Report, exit_code, signal};
use crate::gate::{Gate, session_error};
use crate::intake::dialect::Dialect;
use crate::intake::request::Detail;
use crate::{ErrorObject, record};

/// A call, however long ago it was made.
#[derive(Debug)]
pub struct Call {
    /// The name of its execution.
    pub id: String,
    /// The session that it belongs to.
    pub session: String,
    /// The form in which it came.
    pub dialect: &'static Dialect,
    /// When it was made, in milliseconds since 1970.
    pub made_at: u64,
    /// When something last happened to it.
    pub changed_at: u64,
    /// Its state.
    pub state: CallState,
}

/// The state of a call.
#[derive(Debug)]
pub enum CallState {
    /// Somebody must say yes first.
    Asked,
    /// It goes on.
    GoesOn(Box<Listed>),
    /// It is over, and this is its answer.
    Over(Box<Report>),
}

impl Gate {
    /// The call whose execution has exactly this name.
    ///
    /// # Errors
    /// `unknown_job` when this session has none.
    pub fn call_named(&self, id: &str) -> Result<Call, ErrorObject> {
        let jobs = self.jobs()?;
        let execution = jobs.exactly(id)?;
        let held = shellgate_exec::jobs(jobs.state).map_err(|error| session_error(&error))?;
        let job = held.iter().find(|job| job.id.to_string() == execution.id);
        let (state, changed_at) = match job {
            Some(job) if !job.kind.is_leftover() => {
                match job.exit {
                    // Its command has ended, and that was waited for. What it left goes on.
                    Some(_) if !wanted(&execution).background => {
                        let report = jobs.running(&execution, job, detail(&execution))?;
                        let report = self.described(&execution, with_left(report, job));
                        let silence = Millis::try_from(job.silence.as_millis()).unwrap_or(0);
                        (CallState::Over(Box::new(report)), record::now().saturating_sub(silence))
                    }
                    _ => (CallState::GoesOn(Box::new(jobs.held(job, Some(&execution)))), execution.at),
                }
            }
            left => {
                // It may have ended between the two looks.
                jobs.settle();
                let execution = jobs.exactly(id)?;
                let ended = execution.ended.as_ref().map(|ended| ended.ended_at);
                let state = match execution.status {
                    Status::Asked => CallState::Asked,
                    // It is about to be held, or its end about to be written.
                    Status::Running => CallState::GoesOn(Box::new(jobs.gone(&execution))),
                    _ => {
                        let mut report = jobs.over(&execution, detail(&execution));
                        if let Some(job) = left {
                            report = with_left(report, job);
                        }
                        CallState::Over(Box::new(self.described(&execution, report)))
                    }
                };
                (state, ended.unwrap_or(execution.at))
            }
        };
        let dialect = execution.asked.as_ref().and_then(|asked| Dialect::named(&asked.dialect));
        Ok(Call {
            dialect: dialect.unwrap_or(Dialect::SHELLGATE),
            made_at: u64::try_from(execution.at).unwrap_or(0),
            changed_at: u64::try_from(changed_at).unwrap_or(0),
            id: execution.id,
            session: execution.session,
            state,
        })
    }

    /// The same with the files that the call wanted described, as they are now: one may have changed since.
    fn described(&self, execution: &PastExecution, report: Report) -> Report {
        let root = &self.judge.root;
        let here = |asked: &RecordedRequest| asked.root == root.path().display().to_string();
        // Another root's are none of our business, and what never ran made none.
        if report.pid.is_none() || !execution.asked.as_ref().is_some_and(here) {
            return report;
        }
        Report { artifacts: artifacts::collect(&wanted(execution).artifacts, root), ..report }
    }
}

impl Jobs<'_> {
    /// The execution that has this name, all of it.
    fn exactly(&self, id: &str) -> Result<PastExecution, ErrorObject> {
        self.find(id).and_then(|found| if found.id == id { Ok(found) } else { Err(unknown(id)) })
    }
}

fn wanted(execution: &PastExecution) -> AnswerOptions {
    execution.asked.as_ref().map(|asked| asked.wanted.clone()).unwrap_or_default()
}

fn detail(execution: &PastExecution) -> Detail {
    match wanted(execution).shows {
        None => Detail::Minimal,
        Some(OutputDetail::All) => Detail::Full,
        Some(OutputDetail::Preview) => Detail::Preview,
    }
}

/// The answer of a command that left something behind.
fn with_left(report: Report, job: &Job) -> Report {
    let ended = job.exit.map(|exit| if exit == Exit::Code(0) { State::Completed } else { State::Failed });
    Report {
        status: ended.unwrap_or(report.status),
        exit_code: exit_code(job.exit).or(report.exit_code),
        signal: signal(job.exit).or(report.signal),
        background: job.processes.iter().map(Background::of).collect(),
        job: Some(report.id.clone()),
        ..report
    }
}
