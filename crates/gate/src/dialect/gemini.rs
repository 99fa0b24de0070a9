//! Gemini CLI's `run_shell_command`: labelled text.

use super::fields::Field;
use super::labelled::answer;
use super::run_shell_command::{COMMAND, DESCRIPTION, DIRECTORY, TOOL, request};
use super::{DefaultRoot, Dialect, nobody};
use crate::request::Format;

pub(super) static DIALECT: Dialect = Dialect {
    name: "gemini",
    tool: TOOL,
    marks: &[("GEMINI_CLI", "1")],
    default_root: DefaultRoot::Current,
    format: ("", Format::Json),
    fields: FIELDS,
    request,
    answer,
    assistant: nobody,
};

static FIELDS: &[Field] = &[COMMAND, DESCRIPTION, DIRECTORY];
