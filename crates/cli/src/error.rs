//! Errors as people see them (a sentence and a hint on standard error), and exit codes.

use std::process::ExitCode;

use clap::builder::StyledStr;
use clap::error::{ContextKind, ContextValue, ErrorKind};
use shellgate::{Code, ErrorObject, Hint, Report, SpawnFailure, State};

use crate::output::{self, escape};

/// Exit codes of `run` that don't come from the command.
pub(crate) const TIMED_OUT: u8 = 124;
const REFUSED: u8 = 125;
const NOT_EXECUTABLE: u8 = 126;
const NOT_FOUND: u8 = 127;
pub(crate) const CANCELED: u8 = 130;
const KILLED: u8 = 137;

/// Exit codes of the other commands.
const USAGE: u8 = 2;
pub(crate) const CALL_REFUSED: u8 = 3;
const UNKNOWN: u8 = 4;
/// The audit log was changed.
pub(crate) const BROKEN: u8 = 5;
/// The question was answered before.
pub(crate) const TOO_LATE: u8 = 6;
/// The reader of our output is gone: 128 and the number of `SIGPIPE`.
pub(crate) const READER_GONE: u8 = 141;

/// Why a command of ours failed.
#[derive(Debug)]
pub(crate) enum CliError {
    /// An error to show.
    Error(Box<ErrorObject>),
    /// The person was told everything; this is the exit code.
    Reported(u8),
}

impl CliError {
    /// No execution has this id.
    pub(crate) fn unknown(id: &str) -> Self {
        ErrorObject::new(Code::UnknownJob, format!("no execution has the id `{id}`")).token(id).into()
    }

    /// Standard output can't be written.
    pub(crate) fn write_failed(error: &std::io::Error) -> Self {
        match error.kind() {
            std::io::ErrorKind::BrokenPipe => Self::Reported(READER_GONE),
            _ => ErrorObject::new(Code::Config, format!("the output can't be written: {error}")).into(),
        }
    }
}

impl From<ErrorObject> for CliError {
    fn from(error: ErrorObject) -> Self {
        Self::Error(Box::new(error))
    }
}

/// Shows the error of a command, if it failed, and returns its exit code.
pub(crate) fn finish(done: Result<(), CliError>) -> ExitCode {
    let code = match done {
        Ok(()) => 0,
        Err(CliError::Reported(code)) => code,
        Err(CliError::Error(error)) => {
            show(&error);
            match error.code {
                Code::UnknownJob => UNKNOWN,
                Code::DeniedByPolicy | Code::Busy | Code::ApprovalUnavailable => CALL_REFUSED,
                _ => USAGE,
            }
        }
    };
    ExitCode::from(code)
}

/// Shows the help or the usage error that clap found, and returns the exit code.
pub(crate) fn usage(mut error: clap::Error) -> ExitCode {
    let for_help = !error.use_stderr();
    // The exit code 2 of `run` could be the command's own.
    let run = std::env::args_os().nth(1).is_some_and(|word| word == "run");
    if run {
        explain_words(&mut error);
    }
    let text = error.render().ansi().to_string();
    let text = text.trim_end_matches('\n');
    match for_help {
        // Nowhere else to report to.
        true => drop(output::print(&format!("{text}\n"))),
        false => output::print_message(text),
    }
    ExitCode::from(match (for_help, run) {
        (true, _) => 0,
        (false, true) => REFUSED,
        (false, false) => USAGE,
    })
}

/// `run ls -la`: clap would suggest a `--` before the second word, which is wrong as well.
fn explain_words(error: &mut clap::Error) {
    let of_words = match error.kind() {
        ErrorKind::UnknownArgument => error.get(ContextKind::SuggestedArg).is_none(),
        ErrorKind::ArgumentConflict => {
            let argument = error.get(ContextKind::InvalidArg);
            matches!(argument, Some(ContextValue::String(name)) if !name.starts_with('-'))
        }
        _ => false,
    };
    if of_words {
        let tips = [
            "text for bash must be one word: shellgate run 'ls -la | head'",
            "a program and its arguments come after `--`: shellgate run -- ls -la",
        ];
        let tips = tips.map(StyledStr::from).to_vec();
        error.insert(ContextKind::Suggested, ContextValue::StyledStrs(tips));
    }
}

/// Prints an error with its rule and hint.
pub(crate) fn show(error: &ErrorObject) {
    output::print_message(&format!("{}: {}", error.code, escape(&error.message)));
    if let Some(rule) = &error.rule {
        output::print_message(&format!("  rule: {}", escape(rule)));
    }
    if let Some(hint) = &error.hint {
        output::print_message(&format!("  hint: {}", escape(&hint_text(hint))));
    }
}

/// The error with its hint in the words of the command line.
pub(crate) fn with_own_hint(error: ErrorObject) -> ErrorObject {
    let hint = error.hint.as_ref().map(|hint| hint_text(hint).into());
    ErrorObject { hint, ..error }
}

/// A hint in the words of the command line.
fn hint_text(hint: &Hint) -> String {
    let words = match hint {
        Hint::Text(text) => text,
        Hint::PlainerCommand => {
            "`shellgate check` shows which parts of the command are not allowed; a plainer command may pass"
        }
        Hint::ChooseSandbox => "`--sandbox workspace` denies it; `--network allow` runs the command with it",
        Hint::ExistingRoot => "name an existing folder with `--root`",
        Hint::PathInsideRoot => "name a path inside it, relative to it, or use another `--root`",
        Hint::ListJobs => "`shellgate jobs` lists running jobs",
        Hint::ListExecutions => {
            "`shellgate jobs` lists running jobs, `shellgate history` lists all executions"
        }
        Hint::ListQuestions => "`shellgate approvals list` shows the open questions",
        Hint::StopFirst { id } => return format!("stop it first: `shellgate stop {id}`"),
        Hint::StopAJob => "stop one that is no longer needed: `shellgate jobs` lists them",
        Hint::UserSaidNo => return hint.to_string(),
        Hint::MoreTime => "give it more time with `--timeout`, or run it with `--background`",
    };
    words.to_owned()
}

/// The exit code of `run`.
pub(crate) fn run_code(report: &Report) -> u8 {
    match (report.status, &report.error) {
        (State::TimedOut, _) => TIMED_OUT,
        (State::Canceled, _) => CANCELED,
        (State::Failed, Some(error)) if error.code == Code::LimitExceeded => match own_code(report) {
            // A shell can exit 0 although its child was killed for the limit.
            0 => KILLED,
            code => code,
        },
        (_, Some(error)) if error.code != Code::LimitExceeded => spawn_code(error),
        _ => own_code(report),
    }
}

/// The command's own exit code.
fn own_code(report: &Report) -> u8 {
    match (report.exit_code, &report.signal) {
        (Some(code), _) => u8::try_from(code & 0xff).unwrap_or(u8::MAX),
        (None, Some(signal)) => u8::try_from(128 + signal.number).unwrap_or(u8::MAX),
        // A command that was handed over goes on. Of one that has ended, success must be known.
        (None, None) if report.status == State::Completed || !report.status.is_final() => 0,
        (None, None) => REFUSED,
    }
}

/// A missing bash is a failure of ours. For a program that the caller named, shells have exit codes.
fn spawn_code(error: &ErrorObject) -> u8 {
    match error.spawn {
        Some(SpawnFailure::NotFound) => NOT_FOUND,
        Some(SpawnFailure::NotExecutable) => NOT_EXECUTABLE,
        Some(SpawnFailure::NoShell | SpawnFailure::Other) | None => REFUSED,
    }
}
