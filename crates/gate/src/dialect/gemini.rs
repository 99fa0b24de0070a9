//! Gemini CLI's `run_shell_command`: labelled text.

use super::Dialect;
use super::fields::Field;
use super::labelled::answer;
use super::run_shell_command::{COMMAND, DESCRIPTION, DIRECTORY, TOOL, request};

pub(super) static DIALECT: Dialect =
    Dialect { name: "gemini", tool: TOOL, marks: &[("GEMINI_CLI", "1")], fields: FIELDS, request, answer };

static FIELDS: &[Field] = &[COMMAND, DESCRIPTION, DIRECTORY];
