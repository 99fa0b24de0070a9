//! `shellgate doctor`: what this machine can do, and what that means for the user. Each check tries the thing itself, as
//! far as that leaves no trace.

mod bug_report;
mod exposure;
mod limits;
mod machine;
mod state;

use std::path::PathBuf;

use serde::Serialize;

pub use bug_report::{BugReport, ReportFile, bug_report};
pub use limits::LimitCheck;

/// The results of all checks.
#[derive(Clone, Debug, Serialize)]
pub struct Diagnosis {
    /// Whether everything that shellgate needs is there.
    pub ok: bool,
    /// The version of shellgate.
    pub version: &'static str,
    /// The number of the user.
    pub user: u32,
    /// The checks, in the order in which people read them.
    pub checks: Vec<Check>,
    /// How each limit would be enforced.
    pub limits: Vec<LimitCheck>,
}

/// One check and its result.
#[derive(Clone, Debug, Serialize)]
pub struct Check {
    /// Its name, for programs.
    pub name: &'static str,
    /// The result.
    pub status: Health,
    /// A sentence for people.
    pub message: String,
    /// What the user can do about it.
    pub hint: Option<String>,
}

/// The result of a check.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize)]
#[serde(rename_all = "snake_case")]
pub enum Health {
    /// It works.
    Ok,
    /// It works, but the user should know something about it.
    Warning,
    /// shellgate needs it, and it doesn't work.
    Missing,
}

impl Health {
    /// The name that people read.
    #[must_use]
    pub const fn name(self) -> &'static str {
        match self {
            Self::Ok => "ok",
            Self::Warning => "warning",
            Self::Missing => "missing",
        }
    }
}

impl Check {
    fn new(name: &'static str, status: Health, message: impl Into<String>) -> Self {
        Self { name, status, message: message.into(), hint: None }
    }

    fn hint(self, hint: impl Into<String>) -> Self {
        Self { hint: Some(hint.into()), ..self }
    }
}

/// Runs all checks. The calling process must have one thread, because some checks fork. `state`: the state folder, if not
/// the standard one. `root`: the folder whose settings apply, if not the current one.
#[must_use]
pub fn examine(state: Option<PathBuf>, root: Option<PathBuf>) -> Diagnosis {
    let (settings, settings_check) = limits::settings(root);
    let shell = machine::shell();
    let mut checks = vec![shell.1, settings_check];
    checks.extend(state::checks(state, shell.0.as_deref()));
    checks.extend(exposure::check(settings.as_ref()));
    checks.extend(machine::checks());
    Diagnosis {
        ok: checks.iter().all(|check| check.status != Health::Missing),
        version: env!("CARGO_PKG_VERSION"),
        user: rustix::process::geteuid().as_raw(),
        checks,
        limits: limits::checks(settings.as_ref()),
    }
}
