//! Asimi's `run_shell_command`: JSON in the shape of its Go structure.

use std::path::Path;

use serde::Serialize;

use super::field::Field;
use super::fields::Arguments;
use super::run_shell_command::{
    ABOUT_PROMPTS, ABOUT_RULES, ABOUT_STATE, ABOUT_TOOL, COMMAND, DESCRIPTION, DIRECTORY, TOOL, request,
};
use super::{
    DefaultApproval, DefaultPreset, DefaultRoot, Dialect, DialectAnswer, no_assistant_text, whole_report,
};
use crate::ErrorObject;
use crate::answer::report::Report;
use crate::intake::request::{Detail, Format, Request, Substitutions, Words};

pub(super) static DIALECT: Dialect = Dialect {
    name: "asimi",
    tool: TOOL,
    about: &[
        ABOUT_TOOL,
        "Processes started with `&` (on Windows `start /b`) stay in the background; `backgroundPids` lists them (empty on \
         Windows).",
        "Refused: command substitution, that is `$( )`, backticks, `<( )` and `>( )`.",
        "Returns JSON: `stdout` and `stderr` complete, `exitCode` (null when a signal ended it), `signal`, `error` (when it \
         did not run), `pid`, `backgroundPids`. A non-zero `exitCode` or any `stderr` may mean failure: read both.",
        ABOUT_STATE,
        ABOUT_PROMPTS,
        ABOUT_RULES,
        "Commands see `ASIMI_CLI=1`.",
    ],
    marks: &[("ASIMI_CLI", "1")],
    words: Words::Free,
    substitutions: Substitutions::Refused,
    default_root: DefaultRoot::Current,
    default_preset: DefaultPreset::None,
    default_approval: DefaultApproval::Ask,
    format: ("", Format::Json),
    fields: FIELDS,
    request: read,
    answer,
    structured: whole_report,
    over_mcp: None,
    assistant: no_assistant_text,
};

static FIELDS: &[Field] = &[
    COMMAND,
    Field {
        about: "What the command will do, short and clear. Shown to the user who is asked to approve it, so name what it \
                changes.",
        ..DESCRIPTION
    },
    Field {
        about: "The folder to run in, relative to the project's root. Default: the root. Absolute paths are refused.",
        ..DIRECTORY
    },
];

fn read(arguments: &mut Arguments) -> Result<Request, ErrorObject> {
    // The tool's description promises complete output.
    let request = Request { detail: Detail::Full, ..request(arguments)? };
    match &request.directory {
        Some(directory) if Path::new(directory).is_absolute() => {
            Err(ErrorObject::invalid(format!("`directory` `{directory}` is an absolute path"))
                .token(directory.clone())
                .hint("name a folder relative to the project's root"))
        }
        _ => Ok(request),
    }
}

/// The answer. The order of its keys is Asimi's. Keys without a value are left out, except the exit code, which is null.
#[derive(Serialize)]
#[serde(rename_all = "camelCase")]
struct Answer<'a> {
    stdout: &'a str,
    stderr: &'a str,
    exit_code: Option<i32>,
    #[serde(skip_serializing_if = "Option::is_none")]
    signal: Option<i32>,
    #[serde(skip_serializing_if = "Option::is_none")]
    error: Option<String>,
    #[serde(skip_serializing_if = "Option::is_none")]
    error_info: Option<&'a ErrorObject>,
    #[serde(skip_serializing_if = "Option::is_none")]
    pid: Option<u32>,
    #[serde(skip_serializing_if = "Vec::is_empty")]
    background_pids: Vec<u32>,
    #[serde(skip_serializing_if = "Option::is_none")]
    job: Option<&'a str>,
}

fn answer(report: &Report) -> DialectAnswer {
    let error = report.error.as_ref();
    DialectAnswer::json(&Answer {
        stdout: &report.stdout,
        stderr: &report.stderr,
        exit_code: report.exit_code,
        signal: report.signal.as_ref().map(|signal| signal.number),
        error: error.map(|error| format!("{}: {}", error.code, error.message)),
        error_info: error,
        pid: report.pid,
        background_pids: report.background.iter().map(|process| process.pid).collect(),
        job: report.unfinished_job(),
    })
}
