//! A call by the id of its execution: its state and, once it has ended, the answer that a waiting caller would have got.
//! Journal, keeper and spool hold all of it, so any process can ask, not only the one that made the call.

use shellgate_exec::{Exit, Job, State};
use shellgate_journal::{AnswerOptions, Millis, OutputDetail, PastExecution, RecordedRequest, Status};

use super::{JobSummary, Jobs, unknown};
use crate::answer::artifacts;
use crate::answer::report::{Background, Report, exit_code, signal};
use crate::gate::session_error;
use crate::intake::dialect::Dialect;
use crate::intake::request::Detail;
use crate::scope::ScopedGate;
use crate::{ErrorObject, RecordStore, record};

/// A call, running or ended.
#[derive(Debug)]
pub struct Call {
    /// The id of its execution.
    pub id: String,
    /// The session that it belongs to.
    pub session: String,
    /// The dialect that it was made in.
    pub dialect: &'static Dialect,
    /// When it was made, in milliseconds since 1970.
    pub made_at: u64,
    /// When its state last changed, in milliseconds since 1970.
    pub changed_at: u64,
    /// Its state.
    pub state: CallState,
}

/// The state of a call.
#[derive(Debug)]
pub enum CallState {
    /// A person must approve it first.
    AwaitingApproval,
    /// Its execution runs.
    Running(Box<JobSummary>),
    /// It has ended. Holds its answer.
    Ended(Box<Report>),
}

impl ScopedGate<'_> {
    /// The call whose execution has exactly this id.
    ///
    /// # Errors
    /// `unknown_job` when its scope has no such call.
    pub fn call(&self, id: &str) -> Result<Call, ErrorObject> {
        let jobs = self.jobs()?;
        let execution = jobs.find_exactly(id)?;
        let held = shellgate_exec::jobs(jobs.state).map_err(|error| session_error(&error))?;
        let held = held.find(super::parse(&execution.id)?).map_err(|error| session_error(&error))?;
        let job = held.as_ref();
        let (state, changed_at) = match job {
            Some(job) if !job.kind.is_leftover() => {
                match job.exit {
                    // The program that the call waited for has ended. Only leftover processes run.
                    Some(_) if !answer_options(&execution).background => {
                        let report = jobs.report_running(&execution, job, detail(&execution))?;
                        let report = self.with_artifacts(&execution, with_leftovers(report, job));
                        let silence = Millis::try_from(job.silence.as_millis()).unwrap_or(0);
                        (CallState::Ended(Box::new(report)), record::now().saturating_sub(silence))
                    }
                    _ => (
                        CallState::Running(Box::new(jobs.summarize_running(job, Some(&execution)))),
                        execution.at,
                    ),
                }
            }
            leftovers => {
                // It may have ended after the keepers were asked.
                jobs.settle();
                let execution = jobs.find_exactly(id)?;
                let ended = execution.ended.as_ref().map(|ended| ended.ended_at);
                let state = match execution.status {
                    Status::Asked => CallState::AwaitingApproval,
                    // No keeper holds it yet, or its end is not recorded yet.
                    Status::Running => CallState::Running(Box::new(jobs.summarize_ended(&execution))),
                    _ => {
                        let mut report = jobs.report_ended(&execution, detail(&execution));
                        if let Some(job) = leftovers {
                            report = with_leftovers(report, job);
                        }
                        CallState::Ended(Box::new(self.with_artifacts(&execution, report)))
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

    /// Adds the artifacts that the call asked for. Files are described as they are now: they may have changed since the call.
    fn with_artifacts(&self, execution: &PastExecution, report: Report) -> Report {
        let root = &self.gate.judge.root;
        let here = |asked: &RecordedRequest| asked.root == root.path().display().to_string();
        // Files below another root are not ours to read. A command that never ran made no files.
        if report.pid.is_none() || !execution.asked.as_ref().is_some_and(here) {
            return report;
        }
        Report { artifacts: artifacts::collect(&answer_options(execution).artifacts, root), ..report }
    }
}

impl Jobs<'_> {
    /// The execution with exactly this id: a prefix is not enough.
    fn find_exactly(&self, id: &str) -> Result<PastExecution, ErrorObject> {
        self.find(id).and_then(|found| if found.id == id { Ok(found) } else { Err(unknown(id)) })
    }
}

fn answer_options(execution: &PastExecution) -> AnswerOptions {
    execution.asked.as_ref().map(|asked| asked.wanted.clone()).unwrap_or_default()
}

impl RecordStore {
    /// The answer that the model was given for the execution of this name, made again from what is kept, with the built-in
    /// limits.
    ///
    /// # Errors
    /// `unknown_job` when there is none.
    pub fn answer_text(&self, id: &str) -> Result<String, ErrorObject> {
        let jobs = self.jobs(None);
        let execution = jobs.find(id)?;
        let dialect = execution.asked.as_ref().and_then(|asked| Dialect::named(&asked.dialect));
        let dialect = dialect.unwrap_or(Dialect::SHELLGATE);
        jobs.report(&execution.id, detail(&execution)).map(|report| dialect.write(&report).to_string())
    }
}

fn detail(execution: &PastExecution) -> Detail {
    match answer_options(execution).shows {
        None | Some(OutputDetail::Raw) => Detail::Minimal,
        Some(OutputDetail::All) => Detail::Full,
        Some(OutputDetail::Preview) => Detail::Preview,
    }
}

/// Adds a command's exit and its leftover processes to the report.
fn with_leftovers(report: Report, job: &Job) -> Report {
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
