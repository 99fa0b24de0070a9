//! The gate itself: requests in, executions out.
//!
//! [`crate::admit`] decides whether a request may run, [`crate::run`] hands it to the session's keeper, [`crate::answer`]
//! makes the report.

use std::ffi::CString;
use std::path::{Path, PathBuf};
use std::sync::{Mutex, OnceLock};

use shellgate_exec::{
    Confinement, EncodedConfinement, Follow, Session, SessionError, SoftLimits, Starter, StateFolder, Urgency,
};
use shellgate_journal::HeldGrant;

use crate::admit::approval::{Always, Approver};
use crate::admit::inside::{self, RestrictedAction};
use crate::admit::judge::{Judge, Verdict};
use crate::answer::report::Report;
use crate::answer::summary::RequestSummary;
use crate::confine::guard::GuardSet;
use crate::intake::dialect::Dialect;
use crate::intake::request::Request;
use crate::record::{self, Recorder};
use crate::run::execution::Execution;
use crate::session_name::SessionName;
use crate::settings::Settings;
use crate::{Code, ErrorObject};

/// The gate that commands pass. Cheap to call from several threads at once.
#[derive(Debug)]
pub struct Gate {
    pub(crate) judge: Judge,
    pub(crate) state: StateFolder,
    /// The state folder as it is named.
    pub(crate) state_name: PathBuf,
    pub(crate) session: Session,
    pub(crate) recorder: Recorder,
    pub(crate) session_name: SessionName,
    pub(crate) keep_bytes: u64,
    pub(crate) starter: Starter,
    /// What every command's environment begins with.
    pub(crate) environment: Vec<CString>,
    pub(crate) umask: u32,
    /// The soft limits that commands get.
    pub(crate) soft_limits: SoftLimits,
    /// What commands may reach. `None`: they are not confined.
    pub(crate) confinement: Option<(Confinement, EncodedConfinement)>,
    /// The folders for temporary files and caches among what commands may write.
    pub(crate) free_places: Vec<PathBuf>,
    /// Rules about the programs that commands start. `None`: there are none, or commands are not confined.
    pub(crate) guard: Option<GuardSet>,
    /// Asks a person. `None`: questions are refused.
    pub(crate) approver: Option<Box<dyn Approver>>,
    /// Rules that were approved for always since the gate was made. Its settings don't have them.
    pub(crate) always: Mutex<Vec<Always>>,
    /// Where the shell was found.
    pub(crate) shell: OnceLock<PathBuf>,
}

/// The answer to a request that didn't become an execution.
pub type Refused = Box<Report>;

impl Gate {
    /// The settings in force.
    #[must_use]
    pub fn settings(&self) -> &Settings {
        self.judge.settings()
    }

    /// The preset in force: what is allowed where no rule says anything.
    #[must_use]
    pub fn preset(&self) -> Option<crate::judge::Preset> {
        self.judge.preset()
    }

    /// The root.
    #[must_use]
    pub fn root(&self) -> &Path {
        self.judge.root.path()
    }

    /// The name of its session.
    #[must_use]
    pub fn session(&self) -> &str {
        self.session_name.shown()
    }

    /// Settles executions that a crash left open in the record, and prunes old entries. May take long.
    pub fn tidy(&self) {
        self.recorder.tidy(&self.state, &self.judge.settings.journal);
    }

    /// The folder that state is kept in.
    #[must_use]
    pub fn state_folder(&self) -> &Path {
        self.state.path()
    }

    /// Replaces the approver, for a caller that chooses one by the settings.
    #[must_use]
    pub fn with_approver(mut self, approver: impl Approver + 'static) -> Self {
        self.approver = Some(Box::new(approver));
        self
    }

    /// One tool call, from its arguments as JSON to what the model gets. Never fails: an error is an answer too.
    #[must_use]
    pub fn call(&self, dialect: &Dialect, arguments: &str) -> String {
        let report = match dialect.read(arguments) {
            Ok(request) => self.run(request),
            Err(error) => self.refuse_unread(dialect, arguments, None, error),
        };
        dialect.write(&report).to_string()
    }

    /// Runs `request` to its answer.
    #[must_use]
    pub fn run(&self, request: Request) -> Report {
        let (detail, action) = (request.detail, request.action.clone());
        match self.submit(request, Follow::Quietly) {
            Ok(mut execution) => execution.wait().unwrap_or_else(|error| {
                let asked = RequestSummary { action, detail, ..RequestSummary::unread() };
                let message = format!("the keeper can't be understood: {error}");
                Report::refused(&asked, ErrorObject::new(Code::KeeperLost, message))
            }),
            Err(refused) => *refused,
        }
    }

    /// Judges `request`, asks for approval if it needs one, and hands it to the session's keeper.
    ///
    /// # Errors
    /// The answer, when nothing was started.
    pub fn submit(&self, request: Request, follow: Follow) -> Result<Execution, Refused> {
        self.admit(request)?.start(follow)
    }

    /// What the rules say about `request`, without running it.
    ///
    /// # Errors
    /// As for [`Judge::judge`].
    pub fn judge(&self, request: &Request) -> Result<Verdict, ErrorObject> {
        self.judge.judge(request)
    }

    /// Stops all executions of this gate's session and its chats, and ends its approvals. Returns when they have ended, with their number.
    ///
    /// # Errors
    /// When the keeper can't be reached. `denied_by_policy` from inside a command, which may be one of them.
    pub fn stop_session(&self, urgency: Urgency) -> Result<u32, ErrorObject> {
        inside::refuse(RestrictedAction::Stop)?;
        self.end_grants(&self.session_name)?;
        self.session.stop(urgency).map_err(|error| session_error(&error))
    }

    /// Stops another session of this user and its chats, as [`stop_session`](Self::stop_session) does.
    ///
    /// # Errors
    /// `invalid_input` when no session can be called that; else when its keeper can't be reached.
    pub fn stop_other_session(&self, name: &str, urgency: Urgency) -> Result<u32, ErrorObject> {
        inside::refuse(RestrictedAction::Stop)?;
        let name = SessionName::named(name)?;
        self.end_grants(&name)?;
        let session = self.session_called(&name);
        session.stop(urgency).map_err(|error| session_error(&error))
    }

    /// Ends the approvals for a session and its chats.
    fn end_grants(&self, session: &SessionName) -> Result<(), ErrorObject> {
        let Some(journal) = self.recorder.journal() else { return Ok(()) };
        let is_stopped = |held: &HeldGrant| session.contains(&held.session, Some(&held.grant.root));
        record::end_for_session(journal, is_stopped).map(drop)
    }

    pub(crate) fn session_called(&self, name: &SessionName) -> Session {
        Session::new(self.state.clone(), name.key(), self.starter.clone(), self.keep_bytes)
    }
}

pub(crate) fn session_error(error: &SessionError) -> ErrorObject {
    let hint = match error {
        SessionError::State(_) | SessionError::Spool { .. } => {
            "make it writable, free some space, or name another folder with SHELLGATE_HOME"
        }
        SessionError::Silent { .. } => "try again; `shellgate stop --all` kills a keeper that never answers",
        SessionError::Unanswered { .. } => "look at what it did before you try again",
        SessionError::Killed { .. } => "`shellgate jobs` lists what still runs",
        SessionError::Keeper(_) | SessionError::Connection(_) => {
            "look at the state folder's `sessions`, and try again"
        }
    };
    let code = match error {
        SessionError::Unanswered { .. } => Code::KeeperLost,
        _ => Code::Config,
    };
    ErrorObject::new(code, error.to_string()).hint(hint)
}
