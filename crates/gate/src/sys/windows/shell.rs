//! The shell that reads commands. Nothing here was run yet: Windows has an issue of its own.

use std::ffi::OsString;

/// The shell's name.
pub(crate) const SHELL: &str = "cmd.exe";

/// The arguments that make the shell run `text`.
pub(crate) fn arguments(text: &str) -> Vec<OsString> {
    [SHELL, "/c", text].map(OsString::from).into()
}
