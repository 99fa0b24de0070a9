//! Jobs: executions as other processes of this user see and control them. The process that started a job is not needed.
//!
//! | file | what it holds |
//! |---|---|
//! | `list` | the list of jobs, with the state of each |
//! | `usage` | CPU time, memory and ports of a job's processes |
//! | `listeners` | the listening TCP sockets of this machine |
//! | `report` | the report of one job, running or ended |
//! | `call` | a call by the id of its execution, with the answer that it asked for |
//! | `output` | parts of a job's output |
//! | `matches` | lines of it that match a pattern |
//! | `watch` | new output of a running job, as it comes |
//! | `wait` | waiting for an end, a line, a port or silence |
//! | `input` | what can be typed at a job |
//! | `judged_sender` | sends input, and judges it first where that is needed |
//! | `input_reader` | the process that reads the terminal |
//! | `script_source` | whether a shell reads the terminal as a script |
//! | `shell_line` | command lines for an interactive shell |
//! | `keys` | keys by name |
//! | `terminal` | size and screen of a job's terminal |
//! | `tools` | all of that as tools for models |

mod call;
mod input;
mod input_reader;
mod judged_sender;
mod keys;
mod list;
mod listeners;
mod matches;
mod output;
mod report;
mod script_source;
mod shell_line;
mod terminal;
pub mod tools;
mod usage;
mod wait;
mod watch;

pub use shellgate_exec::RunEvent;
use shellgate_exec::{ExecId, StateFolder, Urgency, release, stop_execution};
use shellgate_journal::{Journal, PastExecution, RecordedView, Step};
use tracing::warn;

pub use call::{Call, CallState};
pub use input::InputItem;
pub use keys::Key;
pub use list::{JobList, JobSummary, MAX_ENDED_LISTED};
pub use output::{OutputQuery, OutputText, StreamPart, for_each_line, trim_carriage_return};
pub use regex::bytes::Regex as Pattern;
pub use report::explain_never_started;
pub use wait::{Port, WaitConditions, WaitControl, WaitReport, WaitResult};
pub use watch::JobWatcher;

use crate::admit::inside::{self, RestrictedAction};
use crate::answer::report::Report;
use crate::answer::settings::AnswerSettings;
use crate::answer::writer::OutputWriter;
use crate::gate::session_error;
use crate::intake::request::Detail;
use crate::record::{RecordStore, settle};
use crate::scope::{ScopedGate, SessionFilter};
use crate::{Code, ErrorObject, Hint};

/// How many executions are checked for one whose id begins with a text.
const MAX_CANDIDATES: usize = 256;

/// The executions of a [`Scope`](crate::Scope).
#[derive(Debug)]
pub struct Jobs<'a> {
    state: &'a StateFolder,
    journal: &'a Journal,
    sessions: SessionFilter,
    answers: AnswerSettings,
}

impl<'a> ScopedGate<'a> {
    /// The jobs in its scope.
    ///
    /// # Errors
    /// `config` when the gate has no journal: jobs are found in it.
    pub fn jobs(&self) -> Result<Jobs<'a>, ErrorObject> {
        let gate = self.gate;
        gate.recorder.check()?;
        let journal = gate.recorder.journal().ok_or_else(|| {
            ErrorObject::new(Code::Config, "jobs can't be listed without a journal")
                .hint("make the state folder writable")
        })?;
        let jobs = Jobs {
            state: &gate.state,
            journal,
            sessions: self.sessions.clone(),
            answers: AnswerSettings::from(&gate.judge.settings),
        };
        jobs.settle();
        Ok(jobs)
    }
}

impl RecordStore {
    /// The jobs of this user, or of one session and its chats.
    #[must_use]
    pub fn jobs(&self, session: Option<String>) -> Jobs<'_> {
        let sessions = session.map_or(SessionFilter::All, SessionFilter::Named);
        Jobs { state: self.state(), journal: self.journal(), sessions, answers: AnswerSettings::default() }
    }
}

impl Jobs<'_> {
    /// The execution whose id begins with `prefix`.
    ///
    /// # Errors
    /// `unknown_job` when there is none here, `invalid_input` when there are several.
    pub fn find(&self, prefix: &str) -> Result<PastExecution, ErrorObject> {
        let name = prefix.to_ascii_uppercase();
        let sane = !name.is_empty() && name.bytes().all(|byte| byte.is_ascii_alphanumeric());
        if !sane {
            return Err(unknown(prefix));
        }
        let names = self.journal.names(&name, self.sessions.journal_name(), MAX_CANDIDATES);
        let mut found = None;
        for name in names.map_err(|error| journal_error(&error))? {
            let execution = self.journal.execution(&name).map_err(|error| journal_error(&error))?;
            let Some(execution) = execution.filter(|execution| self.sessions.contains(execution)) else {
                continue;
            };
            if found.replace(execution).is_some() {
                let message = format!("the ids of several executions begin with `{prefix}`");
                return Err(ErrorObject::invalid(message)
                    .token(prefix)
                    .hint("write more of the id: ids differ at the end"));
            }
        }
        found.ok_or_else(|| unknown(prefix))
    }

    /// Stops a job and its leftover processes. Returns its report when all of them have ended.
    ///
    /// # Errors
    /// `unknown_job` when there is none. Stopping a job that has ended is no error.
    pub fn stop(&self, id: &str, urgency: Urgency) -> Result<Report, ErrorObject> {
        let execution = self.find(id)?;
        if !self.sessions.is_of_gate() {
            inside::refuse(RestrictedAction::Stop)?;
        }
        stop_execution(self.state, parse(&execution.id)?, urgency).map_err(|error| session_error(&error))?;
        self.report(&execution.id, Detail::Minimal)
    }

    /// Answers the call that waits for an execution, and lets the execution continue as a job.
    ///
    /// # Errors
    /// `unknown_job` when no running execution has this id.
    pub fn release(&self, id: &str) -> Result<Report, ErrorObject> {
        let execution = self.find(id)?;
        if !self.sessions.is_of_gate() {
            inside::refuse(RestrictedAction::Release)?;
        }
        if !release(self.state, parse(&execution.id)?).map_err(|error| session_error(&error))? {
            let message = format!("execution `{}` has ended", execution.id);
            return Err(ErrorObject::new(Code::UnknownJob, message).token(id));
        }
        self.report(&execution.id, Detail::Minimal)
    }

    /// Records what an answer showed of an execution's output, for `gain`.
    fn record_read(&self, id: &str, shown: RecordedView) {
        let program = self.journal.execution(id).ok().flatten().and_then(|execution| execution.asked);
        let program = program.and_then(|asked| OutputWriter::Recorded(Box::new(asked)).program());
        let step = Step::Read(RecordedView { program, ..shown });
        // The answer is worth more than its count.
        if let Err(error) = self.journal.append(id, vec![step]) {
            warn!(id, %error, "it can't be recorded that output was read");
        }
    }

    /// Records the ends of executions whose caller had gone.
    fn settle(&self) {
        // A failure is ignored: an end that can't be recorded now is recorded by the next process that opens the journal.
        let _ = settle(self.journal, self.state);
    }
}

fn parse(id: &str) -> Result<ExecId, ErrorObject> {
    id.parse().map_err(|_| unknown(id))
}

fn unknown(id: &str) -> ErrorObject {
    ErrorObject::new(Code::UnknownJob, format!("no execution is called `{id}`"))
        .token(id)
        .hint(Hint::ListExecutions)
}

fn journal_error(error: &shellgate_journal::Error) -> ErrorObject {
    ErrorObject::new(Code::Config, error.to_string()).hint("look at the state folder")
}
