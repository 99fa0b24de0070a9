//! Gemini CLI's `run_shell_command`: labelled text.

use super::field::Field;
use super::labelled::answer;
use super::run_shell_command::{
    ABOUT_ANSWER, ABOUT_PROMPTS, ABOUT_RULES, ABOUT_STATE, ABOUT_TOOL, COMMAND, DESCRIPTION, DIRECTORY, TOOL,
    request,
};
use super::{DefaultApproval, DefaultPreset, DefaultRoot, Dialect, no_assistant_text, whole_report};
use crate::intake::request::{Format, Substitutions, Words};

pub(super) static DIALECT: Dialect = Dialect {
    name: "gemini",
    tool: TOOL,
    about: &[
        ABOUT_TOOL,
        "A process started with `&` (on Windows `start /b`) stays in the background: the call returns at once and Background \
         PIDs names it.",
        ABOUT_ANSWER,
        ABOUT_STATE,
        ABOUT_PROMPTS,
        ABOUT_RULES,
        "Commands see `GEMINI_CLI=1`.",
    ],
    marks: &[("GEMINI_CLI", "1")],
    words: Words::Free,
    substitutions: Substitutions::AsConfigured,
    default_root: DefaultRoot::Current,
    default_preset: DefaultPreset::None,
    default_approval: DefaultApproval::Ask,
    format: ("", Format::Json),
    fields: FIELDS,
    request,
    answer,
    structured: whole_report,
    over_mcp: None,
    assistant: no_assistant_text,
};

static FIELDS: &[Field] = &[COMMAND, DESCRIPTION, DIRECTORY];
