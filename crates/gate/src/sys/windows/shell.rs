//! The shell that runs commands. This file has never been run: the Windows port has an issue of its own.

use std::ffi::OsString;

/// The shell that runs commands.
pub(crate) const SHELL: &str = "cmd.exe";

/// The arguments that make the shell run `text`.
pub(crate) fn arguments(text: &str) -> Vec<OsString> {
    [SHELL, "/c", text].map(OsString::from).into()
}
