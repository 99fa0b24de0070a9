//! The locations of settings and state. The environment names them, or the keeper if this process runs inside a command.

use std::ffi::OsString;
use std::path::PathBuf;

use shellgate_exec::{StateFolder, Surroundings, surroundings};

use crate::admit::inside;
use crate::settings::Sources;
use crate::{Code, ErrorObject};

/// The standard places of settings files.
///
/// Inside a command that a keeper runs, the command controls the environment, so the home folder is read from the system's
/// list of users.
///
/// # Errors
/// `denied_by_policy` when this process may be inside a command, and it is not known, and the two differ.
pub(crate) fn settings_sources() -> Result<Sources, ErrorObject> {
    let by_environment = Sources::by_environment(|name| std::env::var_os(name));
    let Some(around) = surroundings() else { return Ok(by_environment) };
    let home = crate::sys::home::of_user().map(OsString::from);
    let by_system = Sources::by_environment(|name| home.clone().filter(|_| name == "HOME"));
    let is_same = by_environment.user == by_system.user && by_environment.system == by_system.system;
    check_doubt(&around, is_same, "settings")?;
    Ok(by_system)
}

/// Refuses places that the environment names when it isn't certain that we are inside a command. Other places than those that a
/// person meant would be read and written without a word.
fn check_doubt(around: &Surroundings, is_same: bool, what: &str) -> Result<(), ErrorObject> {
    match around.doubt.is_none() || is_same {
        true => Ok(()),
        false => Err(inside::refuse_environment(what)),
    }
}

/// The path of the state folder. Inside a command that a keeper runs it is the keeper's state folder, whatever the environment
/// says.
pub(crate) fn state_path(chosen: Option<PathBuf>) -> Result<PathBuf, ErrorObject> {
    let absolute = |name| std::env::var_os(name).map(PathBuf::from).filter(|path| path.is_absolute());
    let from_variable =
        || std::env::var_os("SHELLGATE_HOME").filter(|path| !path.is_empty()).map(PathBuf::from);
    let below = |home: PathBuf| home.join(".local/state/shellgate");
    let by_environment = || {
        from_variable()
            .or_else(|| absolute("XDG_STATE_HOME").map(|folder| folder.join("shellgate")))
            .or_else(|| std::env::home_dir().map(below))
    };
    let standard = match (&chosen, surroundings()) {
        (Some(_), _) => None,
        (None, None) => by_environment(),
        (None, Some(Surroundings { state: Some(state), .. })) => Some(state),
        (None, Some(around)) => {
            let by_system = crate::sys::home::of_user().map(below);
            check_doubt(&around, by_environment() == by_system, "state folder")?;
            by_system
        }
    };
    let path = chosen.or(standard).ok_or_else(|| {
        ErrorObject::new(Code::Config, "there is no folder for state: HOME is not set")
            .hint("set SHELLGATE_HOME to a folder of your own")
    })?;
    Ok(std::path::absolute(&path).unwrap_or(path))
}

/// The folder for logs, in the state folder. Makes the latter if it is missing.
///
/// # Errors
/// `config` when the state folder can't be used.
pub fn log_folder() -> Result<PathBuf, ErrorObject> {
    open_state(None).map(|state| state.log())
}

/// Opens the state folder, and creates it if it doesn't exist.
pub(crate) fn open_state(chosen: Option<PathBuf>) -> Result<StateFolder, ErrorObject> {
    let path = state_path(chosen)?;
    StateFolder::open(&path).map_err(|error| {
        ErrorObject::new(Code::Config, error.to_string())
            .token(path.display().to_string())
            .hint("make it writable by you alone, or name another folder with SHELLGATE_HOME")
    })
}
