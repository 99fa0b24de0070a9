//! Writes the events of all shellgate crates to files in the state folder, when a person asked for it.
//!
//! Libraries emit events with `tracing`. Without a subscriber an event costs one load of an atomic number, and that is the
//! normal case: a subscriber is installed only when the variable `SHELLGATE_LOG` or the setting `log.level` asks for one.
//! A command that shellgate runs can't switch it on: below a keeper the variable doesn't count.
//!
//! Each role of a process has its own file (`front-end.log`, `server.log`, `keeper.log`, `standby.log`), which all
//! processes of that role share; a line has the number of the process that wrote it. An event below `trace` carries no
//! command text, arguments, environment or output; `docs/logging.md` promises that.
//!
//! | file | does |
//! |---|---|
//! | `file` | appends lines, rotates, notices a fork |
//! | `line` | an event as one line |
//! | `collector` | the subscriber |

mod collector;
mod file;
mod line;

use std::path::Path;
use std::sync::atomic::{AtomicBool, Ordering};

use shellgate::LOG_VARIABLE;
use shellgate::settings::{LogLevel, Settings, Word as _};
use tracing::level_filters::LevelFilter;

use self::collector::Collector;
use self::file::LogFile;
pub(crate) use self::file::Role;
use crate::output::print_note;

/// Starts the log of a front end if the environment asks for one.
pub(crate) fn start_by_environment(role: Role) {
    let Some(level) = level_by_environment() else { return };
    match shellgate::log_folder() {
        Ok(folder) => start(role, level, &folder),
        Err(error) => print_note(&format!("there is no log: {}", error.message)),
    }
}

/// Starts the log of a process that was run to be a keeper, if the environment asks for one. The settings count as well:
/// the front end that ran it has put their level there.
pub(crate) fn start_in_keeper(folder: &Path) {
    if let Some(level) = level_by_environment() {
        start(Role::Keeper, level, folder);
    }
}

/// Starts the log of a front end if the settings ask for one and the environment doesn't say otherwise.
pub(crate) fn start_by_settings(settings: &Settings, folder: &Path) {
    start_at(Role::FrontEnd, settings.log.level, folder);
}

/// The same, for a server.
pub(crate) fn start_server_by_settings(settings: &Settings, folder: &Path) {
    start_at(Role::Server, settings.log.level, folder);
}

fn start_at(role: Role, level: LogLevel, folder: &Path) {
    // The level first: it is off in most settings, and to find out whether we are inside a command takes a while.
    if level != LogLevel::Off && level_by_environment().is_none() {
        start(role, level, folder);
    }
}

/// The level that the environment asks for. `None`: nothing, or we are inside a command that shellgate runs.
fn level_by_environment() -> Option<LogLevel> {
    let value = std::env::var_os(LOG_VARIABLE).filter(|value| !value.is_empty())?;
    if shellgate::inside::is_inside() {
        return None;
    }
    static SAID: AtomicBool = AtomicBool::new(false);
    let level = value.to_str().and_then(LogLevel::from_name);
    if level.is_none() && !SAID.swap(true, Ordering::Relaxed) {
        let names = LogLevel::NAMES.join(", ");
        print_note(&format!("{LOG_VARIABLE} is not one of {names}: there is no log"));
    }
    Some(level.unwrap_or(LogLevel::Off))
}

fn start(role: Role, level: LogLevel, folder: &Path) {
    let Some(filter) = filter(level) else { return };
    match LogFile::open(folder, role) {
        Ok(file) => {
            // Fails when there is a log already, which is the one to use.
            let _ = tracing::subscriber::set_global_default(Collector::new(filter, file));
            tracing::info!(version = env!("CARGO_PKG_VERSION"), level = level.name(), "log started");
        }
        Err(error) => print_note(&format!("there is no log: {}: {error}", folder.display())),
    }
}

const fn filter(level: LogLevel) -> Option<LevelFilter> {
    match level {
        LogLevel::Off => None,
        LogLevel::Error => Some(LevelFilter::ERROR),
        LogLevel::Warn => Some(LevelFilter::WARN),
        LogLevel::Info => Some(LevelFilter::INFO),
        LogLevel::Debug => Some(LevelFilter::DEBUG),
        LogLevel::Trace => Some(LevelFilter::TRACE),
    }
}
