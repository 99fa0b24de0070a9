//! Qwen Code's `run_shell_command`: labelled text, and a choice between foreground and background that must be made.

use super::fields::{Arguments, Field};
use super::labelled::answer;
use super::run_shell_command::{COMMAND, DESCRIPTION, DIRECTORY, TOOL, request};
use super::{DefaultRoot, Dialect, nobody};
use crate::ErrorObject;
use crate::request::{Format, Request};

pub(super) static DIALECT: Dialect = Dialect {
    name: "qwen",
    tool: TOOL,
    marks: &[("QWEN_CODE", "1")],
    default_root: DefaultRoot::Current,
    format: ("", Format::Json),
    fields: FIELDS,
    request: read,
    answer,
    assistant: nobody,
};

static FIELDS: &[Field] =
    &[COMMAND, Field { name: "is_background", aliases: &[], required: true }, DESCRIPTION, DIRECTORY];

fn read(arguments: &mut Arguments) -> Result<Request, ErrorObject> {
    let background = arguments.flag("is_background")?.unwrap_or(false);
    Ok(Request { background, ..request(arguments)? })
}
