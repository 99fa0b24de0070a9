//! Functions for what a table can't say: the small languages inside some programs' words, and calls with a grammar of their
//! own.
//!
//! A function of a role reads one word and adds its effects to the [`Collector`]. A [`Special`] reads all words of a call; it
//! may leave the part that the table knows to [`read::by_table`](super::read::by_table). What a function can't read it
//! reports as an opaque or unusual effect.

mod awk;
mod cargo;
mod chmod;
mod cmake_setting;
mod curl;
mod debugger;
mod declare;
mod directory;
mod editor;
mod embedded_path;
mod env;
mod find;
mod git_config_command;
mod git_folder;
mod git_format;
mod git_remote;
mod git_setting;
mod javac;
mod jq;
mod launchers;
mod less;
mod linker;
mod magick;
mod make;
mod nested;
mod new_root;
mod nopt;
mod package_script;
mod path_or_name;
mod placeholders;
mod plain;
mod powershell;
mod prefixed;
mod printf;
mod python;
mod python_runners;
mod remote_ssh;
mod sed;
mod setting;
mod shell;
mod shell_options;
mod shell_texts;
mod shellgate;
mod signals;
mod socat;
mod sql;
mod sqlite_files;
mod ssh;
mod tar;
mod test;
mod tex;
mod tmux;
mod toolchain;
mod zip;

pub(crate) use awk::awk_program;
pub(crate) use cargo::{cargo_compiler, cargo_config, rust_codegen};
pub(crate) use chmod::chmod;
pub(crate) use cmake_setting::cmake_setting;
pub(crate) use curl::curl_value;
pub(crate) use debugger::{debugger_command, gdb, lldb};
pub(crate) use declare::declare;
pub(crate) use directory::directory;
pub(crate) use editor::{editor_command, editor_names};
pub(crate) use embedded_path::{hides_scheme, path_in};
pub(crate) use env::env_split;
pub(crate) use find::find;
pub(crate) use git_config_command::git_settings;
pub(crate) use git_folder::git_place;
pub(crate) use git_format::git_format;
pub(crate) use git_remote::git_remote;
pub(crate) use git_setting::git_config;
pub(crate) use javac::javac;
pub(crate) use jq::jq_program;
pub(crate) use launchers::{mise_exec, nix_run, npx};
pub(crate) use less::less;
pub(crate) use linker::linker_flags;
pub(crate) use magick::magick;
pub(crate) use make::{make_word, makefile};
pub(crate) use nested::{cmake, first_operand, number_first, yarn_call, yarn_workspace};
pub(crate) use new_root::{bind, bwrap, new_root};
pub(crate) use nopt::nopt;
pub(crate) use package_script::package_script;
pub(crate) use path_or_name::place;
pub(crate) use placeholders::{flock, parallel, xargs};
pub(crate) use plain::{
    bare_name, output_place, pg_connection, pipe_or_write, plain_values, server_options, tape,
};
pub(crate) use powershell::powershell;
pub(crate) use prefixed::prefixed_options;
pub(crate) use printf::printf;
pub(crate) use python::{module_arguments, python_arguments, python_module};
pub(crate) use python_runners::{hatch_run, uv_run};
pub(crate) use remote_ssh::{remote_ssh, vagrant_ssh};
pub(crate) use sed::{backup_suffix, path_prefix, sed_script};
pub(crate) use setting::settings;
pub(crate) use shell::shell;
pub(crate) use shell_options::{set, shopt};
pub(crate) use shell_texts::{alias, expands, trap_text};
pub(crate) use shellgate::shellgate_run;
pub(crate) use signals::signals;
pub(crate) use socat::socat_address;
pub(crate) use sql::{sql, sqlite_file};
pub(crate) use ssh::{ssh_jump, ssh_option};
pub(crate) use tar::{tar, tar_action};
pub(crate) use test::test;
pub(crate) use tex::tex_word;
pub(crate) use tmux::tmux;
pub(crate) use toolchain::toolchain;
pub(crate) use zip::zip;

use super::collector::Collector;
use super::form::Entry;
use shellgate_syntax::{Why, Word};

/// A function that reads a whole call: its entry, and the words that follow the name.
pub(crate) type Special = fn(&'static Entry, &[Word], &mut Collector);

/// Whether an expansion is certainly a plain number: `$?`, `$#`, `$$`, `$!`.
pub(crate) fn is_number(why: &Why) -> bool {
    matches!(why, Why::Parameter(name) if ["?", "#", "$", "!"].contains(&name.as_str()))
}
