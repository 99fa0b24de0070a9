//! Gemini CLI's `run_shell_command`: labelled text.

use super::field::Field;
use super::labelled::answer;
use super::run_shell_command::{
    COMMAND, DESCRIPTION, DIRECTORY, FRESH, LABELLED, PROMPTS, RULES, RUNS, TOOL, request,
};
use super::{DefaultRoot, Dialect, nobody};
use crate::intake::request::{Format, Substitutions, Words};

pub(super) static DIALECT: Dialect = Dialect {
    name: "gemini",
    tool: TOOL,
    about: &[
        RUNS,
        "A process started with `&` (on Windows `start /b`) stays in the background: the call returns at once and Background \
         PIDs names it.",
        LABELLED,
        FRESH,
        PROMPTS,
        RULES,
        "Commands see `GEMINI_CLI=1`.",
    ],
    marks: &[("GEMINI_CLI", "1")],
    words: Words::Free,
    substitutions: Substitutions::AsConfigured,
    default_root: DefaultRoot::Current,
    format: ("", Format::Json),
    fields: FIELDS,
    request,
    answer,
    assistant: nobody,
};

static FIELDS: &[Field] = &[COMMAND, DESCRIPTION, DIRECTORY];
