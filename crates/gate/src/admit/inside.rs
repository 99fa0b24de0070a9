//! What a command that shellgate runs may not do to shellgate.
//!
//! A process is *inside* when a keeper is among its ancestors, or may be; no variable decides that. From inside, shellgate refuses the
//! actions in `REFUSED` and the choices in `LOOSENING`. Front ends and this library ask here. This stops commands that use
//! shellgate. What a command does to shellgate's files by itself is for the judge and the kernel to stop.

use std::path::{Path, PathBuf};

use shellgate_exec::surroundings;
use shellgate_journal::{Journal, PastExecution, Query, Status};

use crate::session_name::SessionName;
use crate::settings::{ApprovalMode, Decision, Flags, Network, OnMissing, PresetChoice, SandboxMode};
use crate::{Code, ErrorObject};

/// An action that only a person may take.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum RestrictedAction {
    /// Answering a question.
    Answer,
    /// Ending an approval.
    Revoke,
    /// Letting a project's settings loosen the rules.
    Trust,
    /// Stopping executions of another session.
    Stop,
    /// Making a job of an execution whose caller waits.
    Release,
    /// Typing at an execution of another session, or changing its terminal.
    Type,
    /// Removing entries from the record.
    Forget,
    /// Changing the settings of an agent.
    SetUp,
    /// Changing shellgate's settings.
    ChangeSettings,
    /// Collecting settings and logs for a bug report.
    Report,
}

const REFUSED: [(RestrictedAction, &str); 10] = [
    (RestrictedAction::Answer, "answer questions"),
    (RestrictedAction::Revoke, "take approvals back"),
    (RestrictedAction::Trust, "trust a project's settings"),
    (RestrictedAction::Stop, "stop what others run"),
    (RestrictedAction::Release, "send what others run to the background"),
    (RestrictedAction::Type, "type at what others run"),
    (RestrictedAction::Forget, "remove what was recorded"),
    (RestrictedAction::SetUp, "change an agent's settings"),
    (RestrictedAction::ChangeSettings, "change shellgate's settings"),
    (RestrictedAction::Report, "collect settings and logs for a bug report"),
];

/// A choice for a gate that would loosen the settings: its name, and whether it was made.
type Choice = (&'static str, fn(&Chosen<'_>) -> bool);

const LOOSENING: [Choice; 12] = [
    ("--config", |chosen| !chosen.config.is_empty()),
    ("--core", |chosen| !chosen.flags.core.is_empty()),
    ("--allow", |chosen| !chosen.flags.allow.is_empty()),
    ("--preset", |chosen| chosen.flags.preset.is_some_and(|preset| preset != PresetChoice::None)),
    ("--default allow", |chosen| chosen.flags.default == Some(Decision::Allow)),
    ("--approve allow", |chosen| chosen.flags.approve == Some(ApprovalMode::Allow)),
    ("--approve on-need", |chosen| chosen.flags.approve == Some(ApprovalMode::OnNeed)),
    // Whether another mode is looser depends on the settings; the strictest never is.
    ("--sandbox", |chosen| chosen.flags.sandbox.is_some_and(|mode| mode != SandboxMode::Strict)),
    ("--network allow", |chosen| chosen.flags.network == Some(Network::Allow)),
    ("--on-missing warn", |chosen| chosen.flags.on_missing == Some(OnMissing::Warn)),
    ("without_record", |chosen| chosen.unrecorded),
    ("state_folder", |chosen| chosen.state.is_some_and(|state| !is_ours(state))),
];

/// The choices for a gate.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Chosen<'a> {
    pub(crate) config: &'a [PathBuf],
    pub(crate) flags: &'a Flags,
    pub(crate) state: Option<&'a Path>,
    pub(crate) unrecorded: bool,
}

/// The execution that this process is part of.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct Outer {
    root: PathBuf,
    session: String,
}

/// Executions that are searched for the last one of a session.
const MAX_SEARCHED_EXECUTIONS: usize = 1000;

/// Whether a command that shellgate runs has started this process.
#[must_use]
pub fn is_inside() -> bool {
    surroundings().is_some()
}

/// Refuses `action` from inside.
///
/// # Errors
/// `denied_by_policy`, from inside.
pub fn refuse(action: RestrictedAction) -> Result<(), ErrorObject> {
    let Some((_, words)) = REFUSED.iter().find(|(known, _)| *known == action).filter(|_| is_inside()) else {
        return Ok(());
    };
    Err(refused(&format!("may not {words}"), "do it from a terminal of your own"))
}

/// Refuses choices that loosen the settings, from inside.
pub(crate) fn check(chosen: Chosen<'_>) -> Result<(), ErrorObject> {
    let loosening = LOOSENING.iter().find(|(_, given)| given(&chosen)).filter(|_| is_inside());
    loosening.map_or(Ok(()), |(name, _)| Err(loosened(name)))
}

/// Refuses a root outside the root of the execution that this process is part of.
pub(crate) fn check_root(root: &Path, explicit: bool) -> Result<(), ErrorObject> {
    if !is_inside() {
        return Ok(());
    }
    let around = outer();
    let is_within = match around.as_slice() {
        // That execution isn't in the record: then the root can't be chosen.
        [] => !explicit,
        around => around.iter().any(|outer| root.starts_with(&outer.root)),
    };
    if is_within { Ok(()) } else { Err(loosened("--root").token(root.display().to_string())) }
}

/// The session, from inside: that of the execution this process is part of, or a chat of it. `None`: not inside, or that
/// execution isn't in the record.
pub(crate) fn session(asked: Option<&str>) -> Result<Option<SessionName>, ErrorObject> {
    if !is_inside() {
        return Ok(None);
    }
    match (outer().into_iter().next(), asked) {
        (None, None) => Ok(None),
        (None, Some(_)) => Err(loosened("--session")),
        (Some(outer), None) => outer.session_name().map(Some),
        (Some(outer), Some(name)) => {
            let root = outer.root.display().to_string();
            if outer.session_name()?.contains(name, Some(&root)) {
                return SessionName::recorded(name, &outer.root).map(Some);
            }
            Err(loosened("--session").token(name))
        }
    }
}

impl Outer {
    fn session_name(&self) -> Result<SessionName, ErrorObject> {
        SessionName::recorded(&self.session, &self.root)
    }
}

fn loosened(what: &str) -> ErrorObject {
    let hint = "leave it out: your settings hold for what commands run, too";
    refused(&format!("may not loosen the rules with `{what}`"), hint).token(what)
}

/// The refusal of places that the environment names, for a process that may be inside.
pub(crate) fn refuse_environment(what: &str) -> ErrorObject {
    refused(&format!("may not choose its {what} by the environment"), "do it from a terminal of your own")
}

fn refused(what: &str, hint: &'static str) -> ErrorObject {
    let message = format!("a command that shellgate runs {what}");
    let message = match surroundings().and_then(|around| around.doubt) {
        Some(doubt) => format!("{message}; this process may be one: {doubt}"),
        None => message,
    };
    ErrorObject::new(Code::DeniedByPolicy, message).hint(hint)
}

fn is_ours(state: &Path) -> bool {
    let same = |one: &Path, other: &Path| one.canonicalize().ok() == other.canonicalize().ok();
    surroundings().and_then(|around| around.state).is_some_and(|ours| same(&ours, state))
}

/// The running executions of the session whose keeper is our ancestor, from the record. Leftovers of an ended command get
/// the session's last execution. The keeper's socket is named for the session, and its commands can't change that.
fn outer() -> Vec<Outer> {
    outer_by_record().unwrap_or_default()
}

fn outer_by_record() -> Option<Vec<Outer>> {
    let around = surroundings()?;
    let socket = around.keeper_socket()?;
    let (key, _) = socket.split_once('.')?;
    let journal = Journal::open_read_only(&around.state?).ok()?;
    let of_session = |execution: PastExecution| {
        let outer = Outer { root: PathBuf::from(execution.asked?.root), session: execution.session };
        let name = outer.session_name().ok()?;
        (name.key().own == key).then_some(outer)
    };
    let open = journal.open_executions().ok()?;
    let running = open.into_iter().filter(|execution| execution.status == Status::Running);
    let running: Vec<Outer> = running.filter_map(of_session).collect();
    if !running.is_empty() {
        return Some(running);
    }
    let newest = journal.history(&Query { limit: MAX_SEARCHED_EXECUTIONS, ..Query::default() }).ok()?;
    Some(newest.into_iter().find_map(of_session).into_iter().collect())
}
