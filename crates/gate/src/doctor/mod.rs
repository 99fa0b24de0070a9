//! What this machine can do, and what that means for its user. Everything is found by doing it, as far as that leaves
//! nothing behind.

mod limits;
mod machine;
mod state;

use std::path::PathBuf;

use serde::Serialize;

pub use limits::LimitCheck;

/// All that was found.
#[derive(Clone, Debug, Serialize)]
pub struct Diagnosis {
    /// Whether all that is needed is there.
    pub ok: bool,
    /// Our version.
    pub version: &'static str,
    /// The user, by number.
    pub user: u32,
    /// What was looked at, in the order in which people read it.
    pub checks: Vec<Check>,
    /// How each limit would be held.
    pub limits: Vec<LimitCheck>,
}

/// One thing that was looked at.
#[derive(Clone, Debug, Serialize)]
pub struct Check {
    /// What, in one word for programs.
    pub name: &'static str,
    /// How it is.
    pub status: Health,
    /// A sentence for people.
    pub message: String,
    /// What would help.
    pub hint: Option<String>,
}

/// How something is.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize)]
#[serde(rename_all = "snake_case")]
pub enum Health {
    /// As it should be.
    Ok,
    /// It works, and there is something to know.
    Warning,
    /// It is needed and isn't there.
    Missing,
    /// Whether it is there or not: nothing uses it yet.
    NotUsedYet,
}

impl Health {
    /// The word for people.
    #[must_use]
    pub const fn name(self) -> &'static str {
        match self {
            Self::Ok => "ok",
            Self::Warning => "warning",
            Self::Missing => "missing",
            Self::NotUsedYet => "not used yet",
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

/// Looks at this machine, for a small program of one thread. `state`: the state folder, if not the standard one; `root`:
/// the folder whose settings count, if not the current one.
#[must_use]
pub fn examine(state: Option<PathBuf>, root: Option<PathBuf>) -> Diagnosis {
    let (settings, settings_check) = limits::settings(root);
    let shell = machine::shell();
    let mut checks = vec![shell.1, settings_check];
    checks.extend(state::checks(state, shell.0.as_deref()));
    checks.extend(machine::checks());
    Diagnosis {
        ok: checks.iter().all(|check| check.status != Health::Missing),
        version: env!("CARGO_PKG_VERSION"),
        user: rustix::process::geteuid().as_raw(),
        checks,
        limits: limits::checks(settings.as_ref()),
    }
}
