//! Stopping executions and withdrawing questions, from any process of this user.

use std::path::PathBuf;

use shellgate_exec::{ExecId, Session, Starter, Urgency, stop_all, stop_execution};
use shellgate_journal::{AnswerResult, QueuedQuestion};

use super::RecordStore;
use super::grants::{end_for_session, is_of_session};
use super::store::journal_error;
use crate::admit::inside::{self, RestrictedAction};
use crate::gate::session_error;
use crate::locations::open_state;
use crate::session_name::SessionName;
use crate::{Code, ErrorObject};

/// What was stopped.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Stopped {
    /// How many executions, with those whose questions were withdrawn.
    pub executions: u32,
    /// How many approvals for the session ended.
    pub grants: usize,
}

impl RecordStore {
    /// Stops one execution with its leftover processes, or withdraws its question. Returns when it has ended.
    ///
    /// # Errors
    /// `unknown_job` when the execution neither runs nor waits.
    pub fn stop(&self, id: &str, urgency: Urgency) -> Result<(), ErrorObject> {
        inside::refuse(RestrictedAction::Stop)?;
        let unknown = |message: String| Err(ErrorObject::new(Code::UnknownJob, message).token(id));
        let Ok(name) = id.parse::<ExecId>() else { return unknown(format!("no execution is called `{id}`")) };
        let withdrawn = self.withdraw(|pending| pending.exec_id == id);
        let stopped = stop_execution(&self.state, name, urgency).map_err(|error| session_error(&error))?;
        let withdrawn = withdrawn.map_err(|error| although_stopped(u32::from(stopped), error))?;
        if stopped || withdrawn > 0 {
            return Ok(());
        }
        let execution = self.journal.execution(id).map_err(|error| journal_error(&error))?;
        match execution.filter(|execution| !execution.status.is_open()) {
            Some(execution) => unknown(format!("execution `{id}` has ended: {}", execution.status)),
            None => unknown(format!("no keeper holds an execution `{id}`")),
        }
    }

    /// Stops every execution of a session and its chats, withdraws their questions and ends their grants. Returns when they
    /// have ended. A session without a name is called by its root.
    ///
    /// # Errors
    /// `invalid_input` when no session can have this name.
    pub fn stop_session(&self, name: &str, urgency: Urgency) -> Result<Stopped, ErrorObject> {
        inside::refuse(RestrictedAction::Stop)?;
        let meant = SessionName::meant(name)?;
        let withdrawn =
            self.withdraw(|pending| SessionName::is_meant(name, &pending.session, Some(&pending.asked.root)));
        // What can't be stopped doesn't keep its approvals.
        let grants = end_for_session(&self.journal, |held| is_of_session(held, name));
        let mut stopped = 0;
        for name in meant {
            // Stopping starts no keeper, so the way to start one doesn't matter.
            let session = Session::new(self.state.clone(), name.key(), Starter::Fork, u64::MAX);
            stopped += session.stop(urgency).map_err(|error| session_error(&error))?;
        }
        all_stopped(stopped, withdrawn, grants)
    }

    /// Stops every execution of this user, withdraws all questions and ends all grants.
    ///
    /// # Errors
    /// When a keeper's answer can't be read.
    pub fn stop_all(&self, urgency: Urgency) -> Result<Stopped, ErrorObject> {
        inside::refuse(RestrictedAction::Stop)?;
        let withdrawn = self.withdraw(|_| true);
        let grants = end_for_session(&self.journal, |_| true);
        let stopped = stop_all(&self.state, urgency).map_err(|error| session_error(&error))?;
        all_stopped(stopped, withdrawn, grants)
    }

    /// Stops every execution of this user, or one, although the record can't be used because of `error`. The questions and
    /// grants in it stay. `state`: the state folder, if not the standard one. Returns the error, with how many were stopped.
    #[must_use]
    pub fn stop_without_record(
        state: Option<PathBuf>,
        id: Option<&str>,
        urgency: Urgency,
        error: ErrorObject,
    ) -> ErrorObject {
        if let Err(refused) = inside::refuse(RestrictedAction::Stop) {
            return refused;
        }
        let Ok(state) = open_state(state) else { return error };
        let stopped = match id.map(str::parse) {
            None => stop_all(&state, urgency),
            Some(Ok(id)) => stop_execution(&state, id, urgency).map(u32::from),
            Some(Err(_)) => return error,
        };
        stopped.map_or_else(|error| session_error(&error), |stopped| although_stopped(stopped, error))
    }

    /// Withdraws questions. Returns how many were still pending.
    fn withdraw(&self, wanted: impl Fn(&QueuedQuestion) -> bool) -> Result<u32, ErrorObject> {
        let mut withdrawn = 0;
        for pending in self.pending()?.iter().filter(|pending| wanted(pending)) {
            let canceled = self.journal.cancel(pending.id).map_err(|error| journal_error(&error))?;
            withdrawn += u32::from(matches!(canceled, AnswerResult::Taken(_)));
        }
        Ok(withdrawn)
    }
}

/// What was stopped, if the record could be read and written. Processes are stopped whatever becomes of the record.
fn all_stopped(
    stopped: u32,
    withdrawn: Result<u32, ErrorObject>,
    grants: Result<usize, ErrorObject>,
) -> Result<Stopped, ErrorObject> {
    match (withdrawn, grants) {
        (Ok(withdrawn), Ok(grants)) => Ok(Stopped { executions: stopped + withdrawn, grants }),
        (Err(error), _) | (_, Err(error)) => Err(although_stopped(stopped, error)),
    }
}

/// An error of the record, with what was stopped all the same.
fn although_stopped(stopped: u32, error: ErrorObject) -> ErrorObject {
    let what = match stopped {
        0 => "no execution was found to stop".to_owned(),
        1 => "1 execution was stopped".to_owned(),
        count => format!("{count} executions were stopped"),
    };
    ErrorObject { message: format!("{what}, but: {}", error.message), ..error }
}
