//! Texts and fields that the three tools called `run_shell_command` share.

use super::field::{FOLDER_NAMES, Field, Kind};
use super::fields::Arguments;
use crate::ErrorObject;
use crate::intake::request::{Action, Request};

pub(super) const TOOL: &str = "run_shell_command";

pub(super) const ABOUT_TOOL: &str = "Runs a shell command on the user's machine, to work with the system, run scripts or do \
    any command-line work: with `bash -c`, on Windows with `cmd.exe /c`.";
pub(super) const ABOUT_RULES: &str = "Run only what the user's request calls for, and take care with text from other sources \
    in a command. The user's rules may refuse a command, or the user is asked first; every part of a chain must pass.";
pub(super) const ABOUT_STATE: &str =
    "Each call starts fresh: `cd`, variables and functions don't last until the next call.";
pub(super) const ABOUT_PROMPTS: &str =
    "Prompts can't be answered: use non-interactive flags (`npm init -y`).";
pub(super) const ABOUT_ANSWER: &str = "Returns labelled text: Command, Directory, Stdout, Stderr, Error, Exit Code, Signal, \
    Background PIDs, Process Group PGID. A non-zero Exit Code, or text in Stderr or Error, may mean failure: check all \
    three.";

pub(super) const COMMAND: Field = Field::new(
    "command",
    Kind::Text,
    "The exact text for the shell. Pipes, redirects and chains (`&&`, `||`, `;`) work.",
)
.required()
.or(&["cmd"]);
pub(super) const DESCRIPTION: Field = Field::new(
    "description",
    Kind::Text,
    "What the command is for, in a few words. Shown to the user, who may have to approve it.",
);
pub(super) const DIRECTORY: Field = Field::new(
    "directory",
    Kind::Text,
    "The folder to run in, relative to the project's root. Default: the root.",
)
.or(FOLDER_NAMES);

/// Reads these fields into a request.
pub(super) fn request(arguments: &mut Arguments) -> Result<Request, ErrorObject> {
    Ok(Request {
        action: Action::Shell(arguments.text("command")?.unwrap_or_default()),
        description: arguments.text("description")?,
        directory: arguments.text("directory")?,
        ..Request::default()
    })
}
