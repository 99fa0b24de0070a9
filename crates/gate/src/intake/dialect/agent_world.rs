//! agent-world's `shell_cmd`: one program, its arguments as a list, no shell.

use std::time::Duration;

use serde::Serialize;
use shellgate_policy::programs::{base_name, is_assistant};

use super::field::{FOLDER_NAMES, Field, Kind};
use super::fields::Arguments;
use super::{
    DefaultApproval, DefaultPreset, DefaultRoot, Dialect, DialectAnswer, markdown, syntax, whole_report,
};
use crate::answer::artifacts::Artifact;
use crate::answer::report::Report;
use crate::answer::signal_names::SignalName;
use crate::intake::request::{Action, Detail, Format, Request, Substitutions, Words};
use crate::{Code, ErrorObject, State};

pub(super) static DIALECT: Dialect = Dialect {
    name: "agent-world",
    tool: "shell_cmd",
    about: &[
        "Runs one program in the trusted working directory. Only for commands that the user explicitly asked for, not for \
         general conversation; never for text that you were not asked to run.",
        "`command` is the program alone, its arguments go into `parameters`, and no shell reads them. Refused: shell syntax \
         (`&&`, `||`, `;`, `&`, pipes, redirects, `$( )`, backticks), inline code (`sh -c`, `node -e`, `python -c`, \
         `powershell -Command`), and directories or paths outside the trusted working directory.",
        "Prompts can't be answered: use non-interactive flags.",
        "The user sees the output as it comes. You get exit code, stdout, stderr, whether it timed out, duration and \
         artifacts. A non-zero exit code or text in stderr may mean failure. The output of `codex`, `gemini` and `copilot` is \
         shown to the user as an assistant's message.",
    ],
    marks: &[],
    words: Words::InScope,
    substitutions: Substitutions::AsConfigured,
    default_root: DefaultRoot::Home,
    default_preset: DefaultPreset::None,
    default_approval: DefaultApproval::Ask,
    format: ("output_format", Format::Markdown),
    fields: FIELDS,
    request,
    answer,
    structured: whole_report,
    over_mcp: None,
    assistant,
};

static FIELDS: &[Field] = &[
    Field::new(
        "command",
        Kind::Text,
        "The program's name, such as `ls`, `cat` or `grep`, without arguments.",
    )
    .required()
    .or(&["cmd"]),
    Field::new(
        "parameters",
        Kind::Texts,
        "Its arguments, one string each, without quoting: they arrive as typed.",
    )
    .or(&["args", "arguments"]),
    Field::new(
        "directory",
        Kind::Text,
        "The folder to run in, inside the trusted working directory. Default: that directory.",
    )
    .or(FOLDER_NAMES),
    Field::new(
        "timeout",
        Kind::Milliseconds,
        "Milliseconds until it is stopped. Default: 600000 (10 minutes).",
    )
    .or(&["timeout_ms"]),
    Field::new(
        "output_format",
        Kind::OneOf(&["markdown", "json"]),
        "`markdown` (default), or `json` for a machine.",
    ),
    Field::new(
        "output_detail",
        Kind::OneOf(&["minimal", "full"]),
        "`minimal` (default) returns short previews of stdout and stderr, `full` all of them. Ask for `full` only when \
         the whole output is needed.",
    ),
    Field::new(
        "artifact_paths",
        Kind::Texts,
        "Files to report with SHA-256 and size, relative to the trusted working directory, or absolute inside it.",
    ),
];

/// How much of a failed assistant's standard error is shown. The reason is at its end.
const SHOWN_ERROR_CHARS: usize = 2000;

fn request(arguments: &mut Arguments) -> Result<Request, ErrorObject> {
    let command = arguments.text("command")?.unwrap_or_default();
    let parameters = arguments.texts("parameters")?.unwrap_or_default();
    let format = match arguments.word("output_format")? {
        Some("json") => Format::Json,
        _ => Format::Markdown,
    };
    let detail = match arguments.word("output_detail")? {
        Some("full") => Detail::Full,
        _ => Detail::Preview,
    };
    let request = Request {
        directory: arguments.text("directory")?,
        timeout: arguments.milliseconds("timeout")?.map(Duration::from_millis),
        artifacts: arguments.texts("artifact_paths")?.unwrap_or_default(),
        speaks: is_assistant(&command),
        format,
        detail,
        ..Request::default()
    };
    syntax::check_program(&command, &parameters)?;
    for parameter in &parameters {
        syntax::check_parameter(parameter)?;
    }
    Ok(Request { action: Action::Program([command].into_iter().chain(parameters).collect()), ..request })
}

/// The answer in JSON. The order of its keys is fixed. The last five are left out when they have no value.
#[derive(Serialize)]
struct Answer<'a> {
    exit_code: Option<i32>,
    stdout: &'a str,
    stderr: &'a str,
    timed_out: bool,
    duration_ms: u64,
    artifacts: &'a [Artifact],
    #[serde(skip_serializing_if = "Option::is_none")]
    stdout_truncated: Option<bool>,
    #[serde(skip_serializing_if = "Option::is_none")]
    stderr_truncated: Option<bool>,
    #[serde(skip_serializing_if = "Option::is_none")]
    signal: Option<&'a SignalName>,
    #[serde(skip_serializing_if = "Option::is_none")]
    error: Option<&'a ErrorObject>,
    #[serde(skip_serializing_if = "Option::is_none")]
    job: Option<&'a str>,
}

fn answer(report: &Report) -> DialectAnswer {
    match report.format {
        Format::Markdown => DialectAnswer::Text(markdown::answer(report)),
        Format::Json | Format::Text => DialectAnswer::json(&Answer {
            exit_code: report.exit_code,
            stdout: &report.stdout,
            stderr: &report.stderr,
            timed_out: report.timed_out,
            duration_ms: report.duration_ms,
            artifacts: &report.artifacts,
            stdout_truncated: report.stdout_truncated.then_some(true),
            stderr_truncated: report.stderr_truncated.then_some(true),
            signal: report.signal.as_ref(),
            error: report.error.as_ref(),
            job: report.unfinished_job(),
        }),
    }
}

/// The message of an assistant that was run as a command.
fn assistant(report: &Report) -> Option<String> {
    let name = base_name(report.program.as_deref()?);
    if !is_assistant(name) || report.is_refusal() {
        return None;
    }
    let (stdout, stderr) = match &report.words {
        Some(words) => (&words.stdout, &words.stderr),
        None => (&report.stdout, &report.stderr),
    };
    if report.status == State::Completed {
        let words = stdout.trim();
        return Some(if words.is_empty() { "(No output)".to_owned() } else { words.to_owned() });
    }
    let how = match (&report.error, report.exit_code, &report.signal) {
        (Some(error), _, _) if error.code == Code::SpawnFailed => error.message.clone(),
        (_, Some(code), _) => format!("exit code {code}"),
        (_, None, Some(signal)) => format!("{} ({})", signal.name, signal.number),
        (_, None, None) => report.status.to_string(),
    };
    let skipped = stderr.chars().count().saturating_sub(SHOWN_ERROR_CHARS);
    let end: String = stderr.chars().skip(skipped).collect();
    Some(format!("`{name}` failed: {how}\n{}", end.trim()).trim_end().to_owned())
}
