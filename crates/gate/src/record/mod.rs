//! Writing down what happens: before anything starts, and when it has ended.
//!
//! The journal itself is in [`shellgate_journal`]. A request that must be recorded and can't be is refused before it
//! starts, unless the settings say that the record isn't required.

mod history;
mod identity;
mod retention;
mod settle;
mod stop;
mod store;
mod translate;

use std::sync::Arc;

use shellgate_exec::{Outcome, Spool, StateFolder};
use shellgate_journal::{self as journal, Journal, RecordedStart, Step};

pub(crate) use identity::own_identity;
pub(crate) use settle::settle;
pub use store::RecordStore;
pub(crate) use translate::{action, always, asked, canceled, now, problem, question, typed};

use crate::admit::approval::ApprovedBy;
use crate::answer::outcome_error::outcome_error;
use crate::answer::summary::RequestSummary;
use crate::{Code, ErrorObject};

/// Where a gate writes down what happens.
#[derive(Clone, Debug)]
pub(crate) struct Recorder {
    journal: Option<Arc<Journal>>,
    /// Why there is no journal, when one is required.
    missing: Option<String>,
}

/// One execution in the record.
#[derive(Clone, Debug)]
pub(crate) struct ExecutionLog {
    journal: Arc<Journal>,
    id: String,
}

impl Recorder {
    /// For those who keep their own record.
    pub(crate) const fn none() -> Self {
        Self { journal: None, missing: None }
    }

    /// Opens the journal in the state folder.
    pub(crate) fn open(state: &StateFolder, required: bool) -> Self {
        match Journal::open(state.path()) {
            Ok(journal) => Self { journal: Some(Arc::new(journal)), missing: None },
            Err(error) => Self { journal: None, missing: required.then(|| error.to_string()) },
        }
    }

    /// Closes what a crash left open and lets go of what need not be kept. For whoever stays a while: it takes its time.
    pub(crate) fn tidy(&self, state: &StateFolder, keep: &crate::settings::JournalSettings) {
        if let Some(journal) = &self.journal {
            // No caller waits for this, so a failure is told to none. Whoever tidies next tries again.
            let _ = settle(journal, state);
            let _ = retention::prune(journal, state, keep);
        }
    }

    /// The journal, if there is one.
    pub(crate) fn journal(&self) -> Option<&Journal> {
        self.journal.as_deref()
    }

    /// Says no when a record is required and there is none.
    pub(crate) fn check(&self) -> Result<(), ErrorObject> {
        self.missing.as_deref().map_or(Ok(()), |why| Err(unwritable(why)))
    }

    /// Writes down a request with what followed from it at once.
    ///
    /// # Errors
    /// `config` when it can't be written and must be.
    pub(crate) fn begin(
        &self,
        id: &str,
        session: &str,
        asked: journal::RecordedRequest,
        steps: Vec<Step>,
    ) -> Result<Option<ExecutionLog>, ErrorObject> {
        self.check()?;
        let Some(journal) = &self.journal else { return Ok(None) };
        journal.begin(id, session, asked, steps).map_err(|error| unwritable(&error.to_string()))?;
        Ok(Some(ExecutionLog { journal: journal.clone(), id: id.to_owned() }))
    }
}

impl ExecutionLog {
    /// Adds what happened next.
    ///
    /// # Errors
    /// `config` when it can't be written.
    pub(crate) fn append(&self, step: Step) -> Result<(), ErrorObject> {
        self.journal.append(&self.id, vec![step]).map(drop).map_err(|error| unwritable(&error.to_string()))
    }

    /// Writes down the end. One that can't be written stays with the keeper, for others to write down.
    pub(crate) fn ended(&self, asked: &RequestSummary, outcome: &Outcome, spool: &Spool) -> bool {
        let error = outcome_error(&asked.action, &asked.directory, outcome);
        let ended = translate::ended(outcome, error, spool, translate::now());
        self.append(Step::Ended(ended)).is_ok()
    }

    /// Writes down that nothing was started after all.
    pub(crate) fn not_started(&self, error: &ErrorObject) {
        // The caller is told of `error` in any case. Without this entry the execution stays open in the record until
        // it is settled, and is then closed as lost.
        let _ = self.append(Step::Ended(translate::not_started(error)));
    }

    /// The journal that it is in.
    pub(crate) fn journal(&self) -> &Journal {
        &self.journal
    }
}

/// That a process is about to be started.
pub(crate) fn started(approved_by: Option<&ApprovedBy>, spool: Option<(String, String)>) -> Step {
    let (stdout_file, stderr_file) = spool.unzip();
    Step::Started(RecordedStart {
        approved_by: approved_by.map(translate::approved_by),
        caller: Some(own_identity()),
        stdout_file,
        stderr_file,
        ..RecordedStart::default()
    })
}

pub(crate) fn unwritable(why: &str) -> ErrorObject {
    ErrorObject::new(Code::Config, format!("what runs can't be recorded: {why}")).hint(
        "free some space or make the state folder writable; `journal.required = false` runs without a record",
    )
}
