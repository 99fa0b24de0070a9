//! Jobs: executions as they are seen and handled by those who did not start them, from any process of this user.
//!
//! | file | does |
//! |---|---|
//! | `list` | which there are, and how they do |
//! | `vitals` | what the kernel knows of their processes |
//! | `standing` | one of them as a report, running or ended |
//! | `call` | the answer of one, as its call wanted it |
//! | `printed` | parts of what it printed |
//! | `wait` | waiting for something to happen to it |
//! | `watched` | what it prints from now on |
//! | `input` | what to type at it |
//! | `typing` | typing that, judged where it must be |
//! | `input_tool` | the same for models |
//! | `output_tool` | reading as a tool for models |
//! | `terminal` | its size and its screen |
//! | `keys` | keys by name |
//! | `line` | lines for a shell |
//! | `reader` | who reads what is typed |
//! | `scripts` | whether a shell reads it as a script |
//! | `tools` | all that as tools for models |

mod call;
mod input;
mod input_tool;
mod keys;
mod line;
mod list;
mod listeners;
mod output_tool;
mod printed;
mod reader;
mod scripts;
mod standing;
mod terminal;
pub mod tools;
mod typing;
mod vitals;
mod wait;
mod watched;

pub use shellgate_exec::RunEvent;
use shellgate_exec::{ExecId, StateFolder, Urgency, release, stop_execution};
use shellgate_journal::{Journal, PastExecution};

pub use call::{Call, CallState};
pub use input::Stroke;
pub use keys::Key;
pub use list::{Listed, MOST_ENDED};
pub use printed::{Excerpt, Printed, StreamPart, each_line};
pub use regex::bytes::Regex as Pattern;
pub use standing::never_ran;
pub use wait::{Cancel, Port, Until, WaitReport, WaitResult, unreturned};
pub use watched::Watched;

use crate::admit::inside::{self, RestrictedAction};
use crate::answer::report::Report;
use crate::gate::{Gate, session_error};
use crate::intake::request::Detail;
use crate::record::{RecordStore, settle};
use crate::settings::Limits;
use crate::{Code, ErrorObject};

/// The executions of this user, or of one session and its chats.
#[derive(Debug)]
pub struct Jobs<'a> {
    state: &'a StateFolder,
    journal: &'a Journal,
    /// The session that they must belong to. `None`: any.
    session: Option<String>,
    /// The root of the gate that we are asked through, if these are its jobs.
    own: Option<String>,
    limits: Limits,
}

impl Gate {
    /// The jobs of this gate's session and its chats.
    ///
    /// # Errors
    /// `config` when there is no record, by which they are found.
    pub fn jobs(&self) -> Result<Jobs<'_>, ErrorObject> {
        self.recorder.check()?;
        let journal = self.recorder.journal().ok_or_else(|| {
            ErrorObject::new(Code::Config, "without a record there is no list of jobs")
                .hint("make the state folder writable")
        })?;
        let jobs = Jobs {
            state: &self.state,
            journal,
            session: Some(self.session_name.shown().to_owned()),
            own: Some(self.judge.root.path().display().to_string()),
            limits: self.judge.settings.limits.clone(),
        };
        jobs.settle();
        Ok(jobs)
    }
}

impl RecordStore {
    /// The jobs of this user, or of one session and its chats.
    #[must_use]
    pub fn jobs(&self, session: Option<String>) -> Jobs<'_> {
        Jobs { state: self.state(), journal: self.journal(), session, own: None, limits: Limits::default() }
    }
}

impl Jobs<'_> {
    /// The execution whose name begins with `prefix`.
    ///
    /// # Errors
    /// `unknown_job` when there is none here, `invalid_input` when there are several.
    pub fn find(&self, prefix: &str) -> Result<PastExecution, ErrorObject> {
        let name = prefix.to_ascii_uppercase();
        let sane = !name.is_empty() && name.bytes().all(|byte| byte.is_ascii_alphanumeric());
        let names =
            if sane { self.journal.names(&name, 2).map_err(|error| trouble(&error))? } else { Vec::new() };
        let found = match names.as_slice() {
            [] => None,
            [only] => self.journal.execution(only).map_err(|error| trouble(&error))?,
            _ => {
                let message = format!("more than one execution's name begins with `{prefix}`");
                return Err(ErrorObject::invalid(message)
                    .token(prefix)
                    .hint("write more of it: what differs is at the end"));
            }
        };
        found.filter(|execution| self.has(execution)).ok_or_else(|| unknown(prefix))
    }

    /// Whether an execution is one of those that this is about.
    fn has(&self, execution: &PastExecution) -> bool {
        let of_session = |own: &String| {
            let rest = execution.session.strip_prefix(own.as_str());
            rest.is_some_and(|rest| rest.is_empty() || rest.starts_with('/'))
        };
        // A session without a name is called by its root, and a root below it is not a chat of it.
        let of_root = |own: &String| {
            let by_root = self.session.as_ref() == Some(own);
            !by_root || execution.asked.as_ref().is_some_and(|asked| asked.root == *own)
        };
        self.session.as_ref().is_none_or(of_session) && self.own.as_ref().is_none_or(of_root)
    }

    /// Stops one with all that it left behind, and returns when nobody of it is left: how it stands then.
    ///
    /// # Errors
    /// `unknown_job` when there is none. One that has ended is no error.
    pub fn stop(&self, id: &str, urgency: Urgency) -> Result<Report, ErrorObject> {
        let execution = self.find(id)?;
        if self.own.is_none() {
            inside::refuse(RestrictedAction::Stop)?;
        }
        stop_execution(self.state, parse(&execution.id)?, urgency).map_err(|error| session_error(&error))?;
        self.report(&execution.id, Detail::Minimal)
    }

    /// Answers whoever waits for one, and lets it go on as a job.
    ///
    /// # Errors
    /// `unknown_job` when none runs that is called so.
    pub fn release(&self, id: &str) -> Result<Report, ErrorObject> {
        let execution = self.find(id)?;
        if self.own.is_none() {
            inside::refuse(RestrictedAction::Release)?;
        }
        if !release(self.state, parse(&execution.id)?).map_err(|error| session_error(&error))? {
            let message = format!("execution `{}` does not run any more", execution.id);
            return Err(ErrorObject::new(Code::UnknownJob, message).token(id));
        }
        self.report(&execution.id, Detail::Minimal)
    }

    /// Writes down the ends that nobody heard.
    fn settle(&self) {
        // What can't be written now is written by the next one.
        let _ = settle(self.journal, self.state);
    }
}

fn parse(id: &str) -> Result<ExecId, ErrorObject> {
    id.parse().map_err(|_| unknown(id))
}

fn unknown(id: &str) -> ErrorObject {
    ErrorObject::new(Code::UnknownJob, format!("no execution is called `{id}`"))
        .token(id)
        .hint("`shellgate jobs` lists those that run, `shellgate history` all that ever did")
}

fn trouble(error: &shellgate_journal::Error) -> ErrorObject {
    ErrorObject::new(Code::Config, error.to_string()).hint("look at the state folder")
}
