//! Scopes: which executions a caller may see and control.
//!
//! Everything about jobs, calls, output and input is reached through a [`ScopedGate`]. An execution outside the scope gets
//! the same answer as one that never was: by its id, by the beginning of its id, and in lists.

use crate::admit::Considered;
use crate::gate::{Gate, Refused};
use crate::session_name::SessionName;
use crate::{ErrorObject, Report, Request};
use shellgate_journal::PastExecution;

/// Which executions a caller may see and control.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Scope {
    /// Those of all sessions of this user: for the user's own terminal.
    User,
    /// Those of the gate's session and its chats.
    Session,
    /// Those of one chat of the gate's session, and of the chats below it.
    Chat(String),
}

/// A gate whose caller sees and controls only the executions of a [`Scope`].
#[derive(Clone, Debug)]
pub struct ScopedGate<'a> {
    pub(crate) gate: &'a Gate,
    pub(crate) sessions: SessionFilter,
}

/// Sessions to choose executions by.
#[derive(Clone, Debug)]
pub(crate) enum SessionFilter {
    /// All.
    All,
    /// The sessions that a person means by this name, with their chats.
    Named(String),
    /// One session and its chats.
    Session(SessionName),
}

impl SessionFilter {
    /// Whether an execution belongs to these sessions.
    pub(crate) fn contains(&self, execution: &PastExecution) -> bool {
        let root = execution.asked.as_ref().map(|asked| asked.root.as_str());
        match self {
            Self::All => true,
            Self::Named(name) => SessionName::is_meant(name, &execution.session, root),
            Self::Session(session) => session.contains(&execution.session, root),
        }
    }

    /// The name to search the journal by. It may find executions that these sessions don't contain.
    pub(crate) fn journal_name(&self) -> Option<&str> {
        match self {
            Self::All => None,
            Self::Named(name) => Some(name),
            Self::Session(session) => Some(session.shown()),
        }
    }

    /// Whether these are the sessions of a gate. Commands inside them may control their own executions.
    pub(crate) fn is_of_gate(&self) -> bool {
        matches!(self, Self::Session(_))
    }
}

impl Gate {
    /// This gate, for a caller with this scope.
    ///
    /// # Errors
    /// `invalid_input` when no chat can have this name.
    pub fn scoped(&self, scope: &Scope) -> Result<ScopedGate<'_>, ErrorObject> {
        let sessions = match scope {
            Scope::User => SessionFilter::All,
            Scope::Session => SessionFilter::Session(self.session_name.clone()),
            Scope::Chat(name) => SessionFilter::Session(self.session_name.chat(name)?),
        };
        Ok(ScopedGate { gate: self, sessions })
    }
}

impl<'a> ScopedGate<'a> {
    /// Judges a request, as [`Gate::consider_untried`] does. A request for a session outside the scope is refused.
    ///
    /// # Errors
    /// The refusal, when it may not run.
    pub fn consider_untried(&self, request: Request) -> Result<Considered<'a>, Refused> {
        if let SessionFilter::Session(own) = &self.sessions {
            let session = self.gate.session_of(&request);
            if !own.contains(&session, Some(&self.gate.root().display().to_string())) {
                let error =
                    ErrorObject::invalid("the request is for a session of another client").token(session);
                return Err(Box::new(Report::of_error(error)));
            }
        }
        self.gate.consider_untried(request)
    }

    /// Fails when the execution is outside the scope. Without a record there is only the scope of the whole user.
    pub(crate) fn check(&self, id: &str) -> Result<(), ErrorObject> {
        match self.sessions {
            SessionFilter::All => Ok(()),
            SessionFilter::Named(_) | SessionFilter::Session(_) => self.jobs()?.find(id).map(drop),
        }
    }
}
