//! What the three tools called `run_shell_command` have in common.

use super::fields::{Arguments, Field};
use crate::ErrorObject;
use crate::request::{Action, Request};

pub(super) const TOOL: &str = "run_shell_command";

pub(super) const COMMAND: Field = Field { name: "command", aliases: &["cmd"], required: true };
pub(super) const DESCRIPTION: Field = Field { name: "description", aliases: &[], required: false };
pub(super) const DIRECTORY: Field =
    Field { name: "directory", aliases: &["cwd", "workdir", "dir_path"], required: false };

/// The request that these fields make.
pub(super) fn request(arguments: &mut Arguments) -> Result<Request, ErrorObject> {
    Ok(Request {
        action: Action::Shell(arguments.text("command")?.unwrap_or_default()),
        description: arguments.text("description")?,
        directory: arguments.text("directory")?,
        ..Request::default()
    })
}
