//! Our own dialect: the tool `shell`. Its answer is the whole report, or over MCP the output and a closing line.

use std::time::Duration;

use serde_json::{Map, Value};

use super::closing::ClosedText;
use super::field::{FOLDER_NAMES, Field, Kind};
use super::fields::Arguments;
use super::run_shell_command::{ABOUT_RULES, ABOUT_STATE, DESCRIPTION};
use super::{
    DENIED, DefaultApproval, DefaultPreset, DefaultRoot, Dialect, DialectAnswer, markdown, no_assistant_text,
    whole_report,
};
use crate::ErrorObject;
use crate::answer::lean;
use crate::answer::report::Report;
use crate::intake::request::{Action, Detail, Format, Pty, Request, Stdin, Substitutions, Words, parse_size};

pub(super) static DIALECT: Dialect = Dialect { over_mcp: Some(&OVER_MCP), ..NATIVE };

/// The same tool for models: its answer is the output and a closing line.
static OVER_MCP: Dialect = Dialect {
    about: &[
        "Runs a command with `bash -c` in the user's project. Returns its output and one last line that the tool adds, such as \
         `[exit 0]`: only that last line says how the command ended.",
        "Each call starts fresh: `cd` and variables don't last. Prompts can't be answered: use non-interactive flags. The user's \
         rules may refuse a command, or the user is asked first.",
    ],
    format: ("format", Format::Text),
    request: request_over_mcp,
    structured,
    ..NATIVE
};

// It needs no marker variables: `SHELLGATE=1` marks every command of every dialect.
const NATIVE: Dialect = Dialect {
    name: "shellgate",
    tool: "shell",
    about: &[
        "Runs a command on the user's machine: text with `bash -c` (on Windows `cmd.exe /c`), or one program without a \
         shell when `args` is given.",
        "The answer has `status`, `exit_code`, `signal`, `error` (with a `hint`), `stdout`, `stderr`, `background` (leftover \
         processes) and more. A non-zero `exit_code` or text in `stderr` may mean failure. Long output is cut in the middle; \
         a line there says where the rest is.",
        ABOUT_STATE,
        "Prompts can't be answered: use non-interactive flags (`npm init -y`) or give `stdin`.",
        ABOUT_RULES,
        "Commands see `SHELLGATE=1`.",
    ],
    marks: &[],
    words: Words::Free,
    substitutions: Substitutions::AsConfigured,
    default_root: DefaultRoot::Current,
    default_preset: DefaultPreset::ByConfinement,
    default_approval: DefaultApproval::OnNeed,
    format: ("format", Format::Json),
    fields: FIELDS,
    request,
    answer,
    structured: whole_report,
    over_mcp: None,
    assistant: no_assistant_text,
};

/// Terminal sizes that a model can choose from. Full-screen programs look well in them.
const TERMINAL_SIZES: &[&str] = &["24x80", "30x100", "40x120", "50x160", "60x200"];

static FIELDS: &[Field] = &[
    Field::new(
        "command",
        Kind::Text,
        "Text for the shell; pipes, redirects and chains (`&&`, `||`, `;`) work.",
    )
    .required()
    .or(&["cmd"]),
    Field::new("args", Kind::Texts, "`command` is one program then, and these are its arguments, one string each; no shell reads them.").rare(),
    DESCRIPTION,
    Field::new("directory", Kind::Text, "The folder to run in, inside the root. Default: the root.")
        .or(FOLDER_NAMES),
    Field::new(
        "background",
        Kind::Flag,
        "true leaves it running and returns at once: for servers and watchers. Default: false.",
    ),
    Field::new(
        "pty",
        Kind::Flag,
        "true runs it in a terminal: full-screen programs and prompts work, `shell_input` types at it. All output is in `stdout`. Default: false.",
    ),
    Field::new(
        "pty_size",
        Kind::OneOf(TERMINAL_SIZES),
        "Rows and columns of that terminal. Default: `24x80`.",
    )
    .rare(),
    Field::new("stdin", Kind::Text, "Text for its standard input. Default: standard input is closed."),
    Field::new(
        "timeout_ms",
        Kind::Milliseconds,
        "Milliseconds until it is stopped. Default: 600000; in the background, none.",
    ),
    Field::new(
        "idle_timeout_ms",
        Kind::Milliseconds,
        "Milliseconds without output until it is stopped. Default: none.",
    )
    .rare(),
    Field::new(
        "wait_ms",
        Kind::Milliseconds,
        "Milliseconds to wait for its end. If it takes longer, it continues as a job and you get the id.",
    )
    .rare(),
    Field::new("env", Kind::Variables, "Environment variables to set.").rare(),
    Field::new("artifacts", Kind::Texts, "Files inside the root to report with SHA-256 and size.").rare(),
    Field::new(
        "format",
        Kind::OneOf(&["text", "json", "markdown"]),
        "The format of the answer: `text` (default over MCP), `json` (default of `shellgate call`) or `markdown`.",
    )
    .rare(),
    Field::new(
        "detail",
        Kind::OneOf(&["minimal", "full"]),
        "`minimal` (default): start and end of long output; `full`: up to 8 MiB per stream. Ask for `full` only when all of it is needed.",
    )
    .rare(),
    Field::new("raw", Kind::Flag, "true shows long output as it is, not condensed. Default: false.").rare(),
    Field::new(
        "session",
        Kind::Text,
        "The chat that it belongs to, if you were given its name. Default: none.",
    )
    .rare(),
];

fn request(arguments: &mut Arguments) -> Result<Request, ErrorObject> {
    read(arguments, Format::Json)
}

fn request_over_mcp(arguments: &mut Arguments) -> Result<Request, ErrorObject> {
    read(arguments, Format::Text)
}

/// Reads a call. `format`: the format of its answer, if it names none.
fn read(arguments: &mut Arguments, format: Format) -> Result<Request, ErrorObject> {
    let command = arguments.text("command")?.unwrap_or_default();
    let action = match arguments.texts("args")? {
        None => Action::Shell(command),
        Some(args) => Action::Program([command].into_iter().chain(args).collect()),
    };
    let detail = match arguments.word("detail")? {
        Some("full") => Detail::Full,
        _ => Detail::Minimal,
    };
    let format = arguments.word("format")?.and_then(Format::named).unwrap_or(format);
    let size = arguments.word("pty_size")?.map(parse_size).transpose()?;
    let pty = arguments.flag("pty")?.unwrap_or(size.is_some());
    Ok(Request {
        action,
        pty: pty.then(|| Pty { size: size.unwrap_or_default(), term: None }),
        description: arguments.text("description")?,
        directory: arguments.text("directory")?,
        background: arguments.flag("background")?.unwrap_or(false),
        stdin: arguments.text("stdin")?.map_or(Stdin::Closed, Stdin::Text),
        timeout: arguments.milliseconds("timeout_ms")?.map(Duration::from_millis),
        idle_timeout: arguments.milliseconds("idle_timeout_ms")?.map(Duration::from_millis),
        wait: arguments.milliseconds("wait_ms")?.map(Duration::from_millis),
        env: arguments.variables("env")?,
        artifacts: arguments.texts("artifacts")?.unwrap_or_default(),
        raw: arguments.flag("raw")?.unwrap_or(false),
        chat: arguments.text("session")?,
        format,
        detail,
        ..Request::default()
    })
}

fn answer(report: &Report) -> DialectAnswer {
    match report.format {
        Format::Text => DialectAnswer::Closed(ClosedText::of(report)),
        Format::Markdown => {
            let denied = report.denied_targets().map(|targets| format!("\n\n{DENIED}: {targets}"));
            DialectAnswer::Text(markdown::answer(report) + &denied.unwrap_or_default())
        }
        Format::Json => DialectAnswer::json(report),
    }
}

/// What a model reads as structured content: the facts that say something, unless all are asked for.
fn structured(report: &Report) -> Map<String, Value> {
    match report.detail {
        Detail::Full => whole_report(report),
        Detail::Minimal | Detail::Preview => lean::facts(report),
    }
}
