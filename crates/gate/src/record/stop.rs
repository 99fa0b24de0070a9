//! Stopping executions and withdrawing questions, from any process of this user.

use shellgate_exec::{ExecId, Session, Starter, Urgency, stop_all, stop_execution};
use shellgate_journal::{AnswerResult, QueuedQuestion};

use super::RecordStore;
use super::grants::{end_for_session, is_of_session};
use super::store::journal_error;
use crate::admit::inside::{self, RestrictedAction};
use crate::gate::session_error;
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
        let withdrawn = self.withdraw(|pending| pending.exec_id == id)?;
        let stopped = stop_execution(&self.state, name, urgency).map_err(|error| session_error(&error))?;
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
        let withdrawn = self
            .withdraw(|pending| SessionName::is_meant(name, &pending.session, Some(&pending.asked.root)))?;
        let mut stopped = withdrawn;
        // What can't be stopped doesn't keep its approvals.
        let grants = end_for_session(&self.journal, |held| is_of_session(held, name))?;
        for name in SessionName::meant(name)? {
            // Stopping starts no keeper, so the way to start one doesn't matter.
            let session = Session::new(self.state.clone(), name.key(), Starter::Fork, u64::MAX);
            stopped += session.stop(urgency).map_err(|error| session_error(&error))?;
        }
        Ok(Stopped { executions: stopped, grants })
    }

    /// Stops every execution of this user, withdraws all questions and ends all grants.
    ///
    /// # Errors
    /// When a keeper's answer can't be read.
    pub fn stop_all(&self, urgency: Urgency) -> Result<Stopped, ErrorObject> {
        inside::refuse(RestrictedAction::Stop)?;
        let withdrawn = self.withdraw(|_| true)?;
        let grants = end_for_session(&self.journal, |_| true)?;
        let stopped = stop_all(&self.state, urgency).map_err(|error| session_error(&error))?;
        Ok(Stopped { executions: withdrawn + stopped, grants })
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
