//! The error of an execution that did not end by itself, as a sentence for its caller and for the journal.

use shellgate_exec::{Clock, Failure, Outcome, State};

use crate::answer::duration::seconds;
use crate::answer::limits;
use crate::intake::request::Action;
use crate::{Code, ErrorObject, Hint, SpawnFailure};

/// The error of an execution that did not end by itself; `None` if it did. `action` and `directory` are those of the
/// request.
pub(crate) fn outcome_error(action: &Action, directory: &str, outcome: &Outcome) -> Option<ErrorObject> {
    if let Some(failure) = &outcome.failure {
        return Some(failed(action, directory, failure));
    }
    if let Some(broken) = &outcome.limit {
        return Some(limits::error(broken));
    }
    match outcome.state {
        State::TimedOut => Some(timed_out(outcome)),
        State::Canceled if outcome.pid.is_none() => {
            Some(ErrorObject::new(Code::Canceled, "the command was canceled before it started"))
        }
        State::Canceled => Some(ErrorObject::new(Code::Canceled, "the command was canceled and stopped")),
        _ => None,
    }
}

/// The error of a command that ran into a timeout.
fn timed_out(outcome: &Outcome) -> ErrorObject {
    let message = match outcome.clock {
        Some(Clock::Idle(limit)) => {
            format!("the command printed nothing for {} and was stopped", seconds(limit))
        }
        Some(Clock::Wall(limit)) => {
            format!("the command ran longer than {} and was stopped", seconds(limit))
        }
        None => format!("the command ran longer than {} and was stopped", seconds(outcome.duration)),
    };
    ErrorObject::new(Code::TimedOut, message).hint(Hint::MoreTime)
}

fn failed(action: &Action, directory: &str, failure: &Failure) -> ErrorObject {
    let program = match action {
        Action::Shell(_) => crate::sys::shell::SHELL,
        Action::Program(argv) => argv.first().map_or("", String::as_str),
    };
    match failure {
        Failure::NotExecuted { message, errno } => {
            let trouble = match (action, *errno == rustix::io::Errno::NOENT.raw_os_error()) {
                (Action::Shell(_), _) => SpawnFailure::NoShell,
                (Action::Program(_), true) => SpawnFailure::NotFound,
                (Action::Program(_), false) => SpawnFailure::NotExecutable,
            };
            let too_long = *errno == rustix::io::Errno::TOOBIG.raw_os_error();
            let message = format!("`{program}` could not be executed: {message}");
            let error = ErrorObject::spawn_failed(trouble, message).token(program);
            if too_long {
                error.hint("arguments and environment are too long in all: use a file or `stdin`")
            } else {
                error
            }
        }
        Failure::NoDirectory { message } => {
            let message = format!("the folder `{directory}` could not be entered: {message}");
            ErrorObject::spawn_failed(SpawnFailure::Other, message).token(directory)
        }
        Failure::NoInput => {
            let message = "standard input is a file or folder that can't be opened in the sandbox";
            ErrorObject::spawn_failed(SpawnFailure::Other, message.to_owned())
                .hint("pass it through a pipe: `cat FILE | …`")
        }
        Failure::NoProcess { message } => {
            ErrorObject::spawn_failed(SpawnFailure::Other, format!("no process could be started: {message}"))
                .hint("the machine is out of processes, memory or descriptors; try again when it has some")
        }
        Failure::NotConfined { mechanism, message } => {
            let message = format!("the sandbox needs {mechanism}, which this machine refuses: {message}");
            ErrorObject::new(Code::SandboxUnavailable, message)
                .rule("sandbox.mode")
                .hint("`shellgate doctor` says what is missing and how to get it; `--on-missing warn` or `--sandbox off` runs it without a sandbox")
        }
        Failure::TooManyJobs { limit } => {
            ErrorObject::new(Code::Busy, format!("this session has {limit} jobs, and may have no more"))
                .rule(format!("limits.jobs_per_session = {limit}"))
                .hint(Hint::StopAJob)
        }
        Failure::KeeperLost => ErrorObject::new(
            Code::KeeperLost,
            "the keeper of this session ended before the command did, so how the command ended is not known",
        )
        .hint("what was printed until then is in the files; run the command again if that is safe"),
        Failure::LauncherLost => ErrorObject::new(
            Code::KeeperLost,
            "the launcher of this session ended while it started the command, so what the command did is not known; it was killed",
        )
        .hint("run the command again if that is safe"),
    }
}
