//! Stopping executions and withdrawing questions, from any process of this user.

use shellgate_exec::{ExecId, Session, Starter, Urgency, stop_all, stop_execution};
use shellgate_journal::{AnswerResult, QueuedQuestion};

use super::RecordStore;
use super::store::journal_error;
use crate::admit::inside::{self, RestrictedAction};
use crate::gate::session_error;
use crate::session_name::SessionName;
use crate::{Code, ErrorObject};

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

    /// Stops every execution of a session and its chats, and withdraws their questions. Returns when they have ended, and
    /// how many they were. A session without a name is called by its root.
    ///
    /// # Errors
    /// `invalid_input` when no session can have this name.
    pub fn stop_session(&self, name: &str, urgency: Urgency) -> Result<u32, ErrorObject> {
        inside::refuse(RestrictedAction::Stop)?;
        let withdrawn = self
            .withdraw(|pending| SessionName::is_meant(name, &pending.session, Some(&pending.asked.root)))?;
        let mut stopped = withdrawn;
        for name in SessionName::meant(name)? {
            // Stopping starts no keeper, so the way to start one doesn't matter.
            let session = Session::new(self.state.clone(), name.key(), Starter::Fork, u64::MAX);
            stopped += session.stop(urgency).map_err(|error| session_error(&error))?;
        }
        Ok(stopped)
    }

    /// Stops every execution of this user, and withdraws all questions. Returns how many they were.
    ///
    /// # Errors
    /// When a keeper's answer can't be read.
    pub fn stop_all(&self, urgency: Urgency) -> Result<u32, ErrorObject> {
        inside::refuse(RestrictedAction::Stop)?;
        let withdrawn = self.withdraw(|_| true)?;
        let stopped = stop_all(&self.state, urgency).map_err(|error| session_error(&error))?;
        Ok(withdrawn + stopped)
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
