//! Errors for people: one sentence and a hint, on standard error, and the exit code.

use std::process::ExitCode;

use clap::builder::StyledStr;
use clap::error::{ContextKind, ContextValue, ErrorKind};
use shellgate::{Code, ErrorObject, Report, SpawnTrouble, State};

use crate::output;

/// Exit codes of `run` that aren't the command's own.
pub(crate) const TIMED_OUT: u8 = 124;
const REFUSED: u8 = 125;
const NOT_EXECUTABLE: u8 = 126;
const NOT_FOUND: u8 = 127;
pub(crate) const CANCELED: u8 = 130;
const KILLED: u8 = 137;

/// Exit codes of everything else.
const USAGE: u8 = 2;
pub(crate) const CALL_REFUSED: u8 = 3;
const UNKNOWN: u8 = 4;
/// The record isn't what was written.
pub(crate) const BROKEN: u8 = 5;
/// Somebody else answered before.
pub(crate) const TOO_LATE: u8 = 6;
/// What a program gets that writes to a reader which is gone: 128 and the number of `SIGPIPE`.
const READER_GONE: u8 = 141;

/// Why a command that only looks or tells did not do what it was asked.
#[derive(Debug)]
pub(crate) enum CliError {
    /// With a sentence to show.
    Error(Box<ErrorObject>),
    /// Everything was said; this is the exit code.
    Reported(u8),
}

impl CliError {
    /// There is no such execution.
    pub(crate) fn unknown(id: &str) -> Self {
        ErrorObject::new(Code::UnknownJob, format!("no execution is called `{id}`")).token(id).into()
    }

    /// Standard output takes no more.
    pub(crate) fn write_failed(error: &std::io::Error) -> Self {
        match error.kind() {
            std::io::ErrorKind::BrokenPipe => Self::Reported(READER_GONE),
            _ => ErrorObject::new(Code::Config, format!("the answer can't be written: {error}")).into(),
        }
    }
}

impl From<ErrorObject> for CliError {
    fn from(error: ErrorObject) -> Self {
        Self::Error(Box::new(error))
    }
}

/// The exit code of a command that only looks or tells; its trouble is shown.
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

/// What clap has to say.
pub(crate) fn usage(mut error: clap::Error) -> ExitCode {
    let for_help = !error.use_stderr();
    // Of `run`, 2 could be the command's own.
    let run = std::env::args_os().nth(1).is_some_and(|word| word == "run");
    if run {
        explain_words(&mut error);
    }
    let _ = error.print();
    ExitCode::from(match (for_help, run) {
        (true, _) => 0,
        (false, true) => REFUSED,
        (false, false) => USAGE,
    })
}

/// `run ls -la`: clap would say to put `--` before the second word, and that is no way to write it either.
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
            "a text for bash is one word: shellgate run 'ls -la | head'",
            "a program and its arguments stand behind `--`: shellgate run -- ls -la",
        ];
        let tips = tips.map(StyledStr::from).to_vec();
        error.insert(ContextKind::Suggested, ContextValue::StyledStrs(tips));
    }
}

/// Shows `error`.
pub(crate) fn show(error: &ErrorObject) {
    output::print_message(&format!("{}: {}", error.code, error.message));
    if let Some(rule) = &error.rule {
        output::print_message(&format!("  rule: {rule}"));
    }
    if let Some(hint) = &error.hint {
        output::print_message(&format!("  hint: {hint}"));
    }
}

/// The exit code of `run`.
pub(crate) fn run_code(report: &Report) -> u8 {
    match (report.status, &report.error) {
        (State::TimedOut, _) => TIMED_OUT,
        (State::Canceled, _) => CANCELED,
        (State::Failed, Some(error)) if error.code == Code::LimitExceeded => match own_code(report) {
            // A shell may end well whose child was killed for the limit: then what it was told is not the truth.
            0 => KILLED,
            code => code,
        },
        (_, Some(error)) if error.code != Code::LimitExceeded => spawn_code(error),
        _ => own_code(report),
    }
}

/// The command's own.
fn own_code(report: &Report) -> u8 {
    match (report.exit_code, &report.signal) {
        (Some(code), _) => u8::try_from(code & 0xff).unwrap_or(u8::MAX),
        (None, Some(signal)) => u8::try_from(128 + signal.number).unwrap_or(u8::MAX),
        (None, None) => 0,
    }
}

/// No bash is our trouble; a program that was named and isn't there is the caller's, and shells have codes for it.
fn spawn_code(error: &ErrorObject) -> u8 {
    match error.spawn {
        Some(SpawnTrouble::NotFound) => NOT_FOUND,
        Some(SpawnTrouble::NotExecutable) => NOT_EXECUTABLE,
        Some(SpawnTrouble::NoShell | SpawnTrouble::Other) | None => REFUSED,
    }
}
