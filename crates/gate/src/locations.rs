//! Where settings and state are: by the environment, or by the keeper of the command that this process runs in.

use std::ffi::OsString;
use std::path::PathBuf;

use shellgate_exec::{StateFolder, surroundings};

use crate::settings::Sources;
use crate::{Code, ErrorObject};

/// The standard places of settings files.
///
/// Below a command that a keeper runs, the environment is the command's, and doesn't say where settings are: the system's
/// list of users does.
pub(crate) fn settings_sources() -> Sources {
    if surroundings().is_none() {
        return Sources::by_environment(|name| std::env::var_os(name));
    }
    let home = crate::sys::home::of_user().map(OsString::from);
    Sources::by_environment(|name| home.clone().filter(|_| name == "HOME"))
}

/// The path of the state folder. Below a command that a keeper runs, that is the keeper's own, whatever variables say.
pub(crate) fn state_path(chosen: Option<PathBuf>) -> Result<PathBuf, ErrorObject> {
    let absolute = |name| std::env::var_os(name).map(PathBuf::from).filter(|path| path.is_absolute());
    let named = || std::env::var_os("SHELLGATE_HOME").filter(|path| !path.is_empty()).map(PathBuf::from);
    let below = |home: PathBuf| home.join(".local/state/shellgate");
    let standard = || match surroundings() {
        Some(around) => around.state.or_else(|| crate::sys::home::of_user().map(below)),
        None => named()
            .or_else(|| absolute("XDG_STATE_HOME").map(|folder| folder.join("shellgate")))
            .or_else(|| std::env::home_dir().map(below)),
    };
    let path = chosen.or_else(standard).ok_or_else(|| {
        ErrorObject::new(Code::Config, "there is no place for state: HOME is not set")
            .hint("set SHELLGATE_HOME to a folder of your own")
    })?;
    Ok(std::path::absolute(&path).unwrap_or(path))
}

/// Opens the state folder, and makes it if it is missing.
pub(crate) fn open_state(chosen: Option<PathBuf>) -> Result<StateFolder, ErrorObject> {
    let path = state_path(chosen)?;
    StateFolder::open(&path).map_err(|error| {
        ErrorObject::new(Code::Config, error.to_string())
            .token(path.display().to_string())
            .hint("make it writable for you alone, or name another folder with SHELLGATE_HOME")
    })
}
