//! The record: what a gate writes to the journal, and what `history`, `approvals`, `stop` and `trust` read from it.
//!
//! The gate writes an entry before it starts a command and another one after its end. The journal itself is in
//! [`shellgate_journal`]. A request that can't be recorded is refused before it starts, unless the settings say that the
//! record isn't required.
//!
//! Writing may block: see [`Journal`] for which of its calls do, and [`shellgate_journal::BUSY_TIMEOUT`] for how long.
//! [`RecordStore::open`], [`settle()`] and [`Recorder::tidy`] also wait for the keepers' answers.

mod forecast;
mod gain;
mod grants;
mod history;
mod identity;
mod kept_output;
mod retention;
mod settle;
mod stop;
mod store;
mod translate;

use std::sync::Arc;

use serde_json::{Value, json};
use shellgate_exec::{Outcome, StateFolder};
use shellgate_journal::{self as journal, Journal, RecordedEnd, RecordedStart, RecordedView, Step};
use tracing::warn;

pub use gain::{Gain, ProgramGain, TokenCount};
pub(crate) use grants::end_for_session;
pub(crate) use identity::own_identity;
pub(crate) use kept_output::{KeptOutput, MAX_TEXT_BYTES, recorded_texts, short_texts};
pub(crate) use settle::{expire_questions, settle};
pub use stop::Stopped;
pub use store::{GivenAnswer, RecordStore};
pub(crate) use translate::{action, asked, canceled, decision, now, problem, question, typed};

use crate::admit::approval::ApprovedBy;
use crate::admit::judge::Verdict;
use crate::admit::trial::TRIAL_MODE;
use crate::answer::outcome_error::outcome_error;
use crate::answer::summary::RequestSummary;
use crate::settings::SandboxMode;
use crate::{Code, ErrorObject};

/// The field of a recorded confinement that names the mode.
const MODE: &str = "mode";

/// Writes the record of a gate.
#[derive(Clone, Debug)]
pub(crate) struct Recorder {
    journal: Option<Arc<Journal>>,
    /// Why the journal can't be used, when it is required.
    missing: Option<String>,
}

/// Writes the entries of one execution.
#[derive(Clone, Debug)]
pub(crate) struct ExecutionLog {
    journal: Arc<Journal>,
    id: String,
}

impl Recorder {
    /// For programs that keep a record of their own: writes nothing.
    pub(crate) const fn none() -> Self {
        Self { journal: None, missing: None }
    }

    /// Opens the journal in the state folder. `one_shot`: for a process that makes one call.
    pub(crate) fn open(state: &StateFolder, required: bool, one_shot: bool) -> Self {
        let open = if one_shot { Journal::open_lazily } else { Journal::open };
        match open(state.path()) {
            Ok(journal) => Self { journal: Some(Arc::new(journal)), missing: None },
            Err(error) => {
                warn!(%error, required, "the journal can't be opened");
                Self { journal: None, missing: required.then(|| error.to_string()) }
            }
        }
    }

    /// Settles executions that a crash left open, and removes entries and output that need not be kept. It may take
    /// seconds, so only processes that run for long call it.
    pub(crate) fn tidy(&self, state: &StateFolder, keep: &crate::settings::JournalSettings) {
        if let Some(journal) = &self.journal {
            // No caller waits for this, so a failure is only logged. The next process that tidies tries again.
            let _ = settle(journal, state);
            if let Err(error) = retention::prune(journal, state, keep) {
                warn!(%error, "the record can't be pruned");
            }
        }
    }

    /// The journal, if one is open.
    pub(crate) fn journal(&self) -> Option<&Journal> {
        self.journal.as_deref()
    }

    /// Fails when a record is required and the journal can't be used.
    ///
    /// # Errors
    /// `config`, with the reason.
    pub(crate) fn check(&self) -> Result<(), ErrorObject> {
        self.missing.as_deref().map_or(Ok(()), |why| Err(unrecorded(why)))
    }

    /// Writes a request and the entries that follow it at once.
    ///
    /// # Errors
    /// `config` when they can't be written although a record is required.
    pub(crate) fn begin(
        &self,
        id: &str,
        session: &str,
        asked: journal::RecordedRequest,
        steps: Vec<Step>,
    ) -> Result<Option<ExecutionLog>, ErrorObject> {
        self.begin_with(id, |journal| journal.begin(id, session, asked, steps).map(drop))
    }

    /// The same for a request of which nothing is recorded yet.
    ///
    /// # Errors
    /// As [`begin`](Self::begin).
    pub(crate) fn begin_new(
        &self,
        id: &str,
        session: &str,
        asked: journal::RecordedRequest,
        steps: Vec<Step>,
    ) -> Result<Option<ExecutionLog>, ErrorObject> {
        self.begin_with(id, |journal| journal.begin_new(id, session, asked, steps).map(drop))
    }

    fn begin_with(
        &self,
        id: &str,
        write: impl FnOnce(&Journal) -> Result<(), journal::Error>,
    ) -> Result<Option<ExecutionLog>, ErrorObject> {
        self.check()?;
        let Some(journal) = &self.journal else { return Ok(None) };
        write(journal).map_err(|error| unwritable(&error))?;
        Ok(Some(ExecutionLog { journal: journal.clone(), id: id.to_owned() }))
    }
}

impl ExecutionLog {
    /// Writes the next entry.
    ///
    /// # Errors
    /// `config` when it can't be written.
    pub(crate) fn append(&self, step: Step) -> Result<(), ErrorObject> {
        self.journal.append(&self.id, vec![step]).map(drop).map_err(|error| unwritable(&error))
    }

    /// Writes the end. `false` when it can't be written: then the keeper stores the end, for [`settle()`] to write later.
    pub(crate) fn ended(
        &self,
        asked: &RequestSummary,
        outcome: &Outcome,
        shown: RecordedView,
        output: &KeptOutput<'_>,
    ) -> bool {
        let error = outcome_error(&asked.action, &asked.directory, outcome);
        let ended = translate::ended(outcome, error, output, translate::now());
        let ended = translate::with_denials(ended, asked.sandbox.as_ref(), outcome);
        let written = self.append(Step::Ended(RecordedEnd { shown: Some(Box::new(shown)), ..ended }));
        if let Err(error) = &written {
            warn!(id = self.id, code = ?error.code, "the end can't be recorded: the keeper stores it");
        }
        written.is_ok()
    }

    /// Enters the log of the record into its database, if it is long.
    pub(crate) fn enter_if_long(&self) {
        if let Err(error) = self.journal.enter_if_long() {
            // What is in the log is recorded. The next who writes or reads tries again.
            warn!(%error, "the log of the record can't be entered");
        }
    }

    /// Writes that the execution ended before it started.
    pub(crate) fn not_started(&self, error: &ErrorObject) {
        // The caller is told of `error` in any case. Without this entry the execution stays open in the record until
        // it is settled, and is then closed as lost.
        if self.append(Step::Ended(translate::not_started(error))).is_err() {
            warn!(id = self.id, "it can't be recorded that it did not start");
        }
    }

    /// The journal that it writes to.
    pub(crate) fn journal(&self) -> &Arc<Journal> {
        &self.journal
    }
}

/// The entry before a start.
pub(crate) fn started(
    approved_by: Option<&ApprovedBy>,
    sandbox: SandboxMode,
    spool: Option<(String, String)>,
    foretold: Option<&Verdict>,
) -> Step {
    let (stdout_file, stderr_file) = spool.unzip();
    let is_confined = sandbox != SandboxMode::Off;
    Step::Started(RecordedStart {
        confinement: if is_confined { json!({ MODE: sandbox.to_string() }) } else { Value::Null },
        approved_by: approved_by.map(translate::approved_by),
        caller: Some(own_identity()),
        stdout_file,
        stderr_file,
        foretold: foretold.map(|verdict| Box::new(forecast::recorded(verdict))),
    })
}

/// The entry before a trial.
pub(crate) fn tried(by: &ApprovedBy, spool: Option<(String, String)>, foretold: &Verdict) -> Step {
    let (stdout_file, stderr_file) = spool.unzip();
    Step::Started(RecordedStart {
        confinement: json!({ MODE: TRIAL_MODE }),
        approved_by: Some(translate::approved_by(by)),
        caller: Some(own_identity()),
        stdout_file,
        stderr_file,
        foretold: Some(Box::new(forecast::recorded(foretold))),
    })
}

/// The mode of an execution's sandbox, if it was confined.
pub(crate) fn sandbox_mode(started: &RecordedStart) -> Option<&str> {
    started.confinement.get(MODE)?.as_str()
}

/// The answer to a command that the journal doesn't take.
pub(crate) fn unwritable(error: &journal::Error) -> ErrorObject {
    match error {
        journal::Error::Busy => {
            not_recorded(&error.to_string(), "try again when the other processes have written")
        }
        error => unrecorded(&error.to_string()),
    }
}

/// The answer to a command while there is no journal.
fn unrecorded(why: &str) -> ErrorObject {
    not_recorded(why, "free some space or make the state folder writable")
}

fn not_recorded(why: &str, advice: &str) -> ErrorObject {
    ErrorObject::new(Code::Config, format!("the command can't be recorded: {why}"))
        .hint(format!("{advice}; `journal.required = false` runs commands without a record"))
}
