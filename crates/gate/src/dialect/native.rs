//! Our own dialect: the tool `shell`, whose answer is the report as it is.

use std::time::Duration;

use super::fields::{Arguments, Field};
use super::{DefaultRoot, Dialect, markdown, nobody};
use crate::ErrorObject;
use crate::report::Report;
use crate::request::{Action, Detail, Format, Request, Stdin};

// `SHELLGATE=1` marks every command, whatever the form.
pub(super) static DIALECT: Dialect = Dialect {
    name: "shellgate",
    tool: "shell",
    marks: &[],
    default_root: DefaultRoot::Current,
    format: ("format", Format::Json),
    fields: FIELDS,
    request,
    answer,
    assistant: nobody,
};

const fn field(name: &'static str) -> Field {
    Field { name, aliases: &[], required: false }
}

static FIELDS: &[Field] = &[
    Field { name: "command", aliases: &["cmd"], required: true },
    field("args"),
    field("description"),
    Field { name: "directory", aliases: &["cwd", "workdir", "dir_path"], required: false },
    field("background"),
    field("pty"),
    field("stdin"),
    field("timeout_ms"),
    field("idle_timeout_ms"),
    field("wait_ms"),
    field("env"),
    field("artifacts"),
    field("format"),
    field("detail"),
    field("session"),
];

fn request(arguments: &mut Arguments) -> Result<Request, ErrorObject> {
    refuse_unbuilt(arguments)?;
    let command = arguments.text("command")?.unwrap_or_default();
    let action = match arguments.texts("args")? {
        None => Action::Shell(command),
        Some(args) => Action::Program([command].into_iter().chain(args).collect()),
    };
    let detail = match arguments.word("detail", &["minimal", "full"])? {
        Some("full") => Detail::Full,
        _ => Detail::Minimal,
    };
    let format = match arguments.word("format", &["json", "markdown"])? {
        Some("markdown") => Format::Markdown,
        _ => Format::Json,
    };
    Ok(Request {
        action,
        description: arguments.text("description")?,
        directory: arguments.text("directory")?,
        background: arguments.flag("background")?.unwrap_or(false),
        stdin: arguments.text("stdin")?.map_or(Stdin::Closed, Stdin::Text),
        timeout: arguments.milliseconds("timeout_ms")?.map(Duration::from_millis),
        idle_timeout: arguments.milliseconds("idle_timeout_ms")?.map(Duration::from_millis),
        env: arguments.variables("env")?,
        artifacts: arguments.texts("artifacts")?.unwrap_or_default(),
        chat: arguments.text("session")?,
        format,
        detail,
        ..Request::default()
    })
}

/// What the contract has and we don't have yet. Read for its type all the same, so that a mistake is told as one.
fn refuse_unbuilt(arguments: &mut Arguments) -> Result<(), ErrorObject> {
    let unbuilt = |name: &str, hint: &str| {
        Err(ErrorObject::invalid(format!("`{name}` is not yet built")).token(name).hint(hint))
    };
    if arguments.flag("pty")? == Some(true) {
        return unbuilt("pty", "leave it out: the command then runs with pipes");
    }
    if arguments.milliseconds("wait_ms")?.is_some() {
        return unbuilt("wait_ms", "leave it out to wait for the end, or use `background`");
    }
    Ok(())
}

fn answer(report: &Report) -> String {
    if report.format == Format::Markdown {
        return markdown::answer(report);
    }
    // A report is strings, numbers and lists: it always serializes.
    serde_json::to_string(report)
        .unwrap_or_else(|error| format!(r#"{{"status":"failed","error":"{error}"}}"#))
}
