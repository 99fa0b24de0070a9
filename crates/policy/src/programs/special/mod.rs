//! What a table can't say: the small languages inside some programs' words, and calls with a grammar of their own.

mod awk;
mod curl;
mod declare;
mod directory;
mod editor;
mod env;
mod find;
mod flags;
mod folder;
mod git;
mod holes;
mod launch;
mod make;
mod nopt;
mod paths;
mod places;
mod powershell;
mod python;
mod remote;
mod scripts;
mod sed;
mod settings;
mod shell;
mod shellgate;
mod socat;
mod sql;
mod ssh;
mod switches;
mod tar;
mod test;
mod texts;
mod tmux;
mod zip;

pub(crate) use awk::awk_program;
pub(crate) use curl::curl_value;
pub(crate) use declare::declare;
pub(crate) use directory::directory;
pub(crate) use editor::editor_command;
pub(crate) use env::env_split;
pub(crate) use find::find;
pub(crate) use flags::linker_flags;
pub(crate) use folder::git_place;
pub(crate) use git::git_config;
pub(crate) use holes::{flock, parallel, xargs};
pub(crate) use launch::{mise_exec, nix_run};
pub(crate) use make::make_word;
pub(crate) use nopt::nopt;
pub(crate) use paths::path_in;
pub(crate) use places::place;
pub(crate) use powershell::powershell;
pub(crate) use python::python_module;
pub(crate) use remote::git_remote;
pub(crate) use scripts::package_script;
pub(crate) use sed::sed_script;
pub(crate) use settings::git_settings;
pub(crate) use shell::shell;
pub(crate) use shellgate::shellgate_run;
pub(crate) use socat::socat_address;
pub(crate) use sql::sql;
pub(crate) use ssh::ssh_option;
pub(crate) use switches::{set, shopt};
pub(crate) use tar::{tar, tar_action};
pub(crate) use test::test;
pub(crate) use texts::{alias, expands, trap_text};
pub(crate) use tmux::tmux;
pub(crate) use zip::zip;

use super::entry::Entry;
use super::sink::Sink;
use shellgate_syntax::{Why, Word};

/// Reads a whole call: its entry, and the words that follow the name.
pub(crate) type Special = fn(&'static Entry, &[Word], &mut Sink);

/// Whether an expansion is certainly a plain number: `$?`, `$#`, `$$`, `$!`.
pub(crate) fn is_number(why: &Why) -> bool {
    matches!(why, Why::Parameter(name) if ["?", "#", "$", "!"].contains(&name.as_str()))
}
