//! The native result: everything that is known about one request, in the order of the contract.
//!
//! Every dialect writes its answer from this.

use std::path::{Path, PathBuf};
use std::time::Duration;

use serde::Serialize;
use shellgate_exec::{Clock, Exit, Failure, Outcome, PerStream, Process, Size, Spool, State, Stream};

use crate::admit::judge::Verdict;
use crate::answer::artifacts::Artifact;
use crate::answer::signal_names::SignalName;
use crate::intake::request::{Action, Detail, Format};
use crate::settings::Limits;
use crate::text::{Limit, Source, view};
use crate::{Code, ErrorObject, SpawnTrouble};

/// How much of a stream a preview shows, in characters.
const PREVIEW: usize = 400;

/// One request and what became of it.
#[derive(Clone, Debug, Serialize)]
#[expect(missing_docs, reason = "the fields are documented in docs/results.md, where their readers look")]
#[expect(clippy::struct_excessive_bools, reason = "the fields are the contract's")]
pub struct Report {
    pub id: String,
    pub status: State,
    pub command: String,
    pub directory: String,
    pub exit_code: Option<i32>,
    pub signal: Option<SignalName>,
    pub error: Option<ErrorObject>,
    pub stdout: String,
    pub stderr: String,
    pub stdout_bytes: u64,
    pub stderr_bytes: u64,
    pub stdout_truncated: bool,
    pub stderr_truncated: bool,
    #[serde(serialize_with = "path")]
    pub stdout_file: Option<PathBuf>,
    #[serde(serialize_with = "path")]
    pub stderr_file: Option<PathBuf>,
    pub timed_out: bool,
    pub canceled: bool,
    pub duration_ms: u64,
    pub pid: Option<u32>,
    pub host_pid: Option<u32>,
    pub background: Vec<Background>,
    pub job: Option<String>,
    pub waiting_for_input: bool,
    pub verdict: Option<Verdict>,
    pub effects: Option<()>,
    pub denials: Option<()>,
    pub artifacts: Vec<Artifact>,
    /// How the answer is to be written.
    #[serde(skip)]
    pub format: Format,
    /// The program, when no shell was asked for.
    #[serde(skip)]
    pub program: Option<String>,
    /// The streams up to `limits.answer_bytes`, of a command that speaks for itself.
    #[serde(skip)]
    pub words: Option<PerStream<String>>,
    /// Standard output is what stands on its terminal's screen.
    #[serde(skip)]
    pub screen: bool,
    /// Why a stream's file is shorter than the stream, when that is not the limit asked for.
    #[serde(skip)]
    pub lost: PerStream<Option<String>>,
}

/// A path that isn't UTF-8 must not cost the whole answer: what JSON can't say of it is replaced.
fn path<S: serde::Serializer>(path: &Option<PathBuf>, serializer: S) -> Result<S::Ok, S::Error> {
    path.as_ref().map(|path| path.to_string_lossy()).serialize(serializer)
}

/// A process that outlived the answer.
#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
#[expect(missing_docs, reason = "as above")]
pub struct Background {
    pub pid: u32,
    pub host_pid: u32,
    pub command: String,
}

impl Background {
    pub(crate) fn of(process: &Process) -> Self {
        Self { pid: process.pid, host_pid: process.pid, command: process.command.clone() }
    }
}

/// What is known of a request before it runs.
#[derive(Clone, Debug)]
pub(crate) struct Asked {
    pub(crate) id: String,
    pub(crate) action: Action,
    pub(crate) directory: String,
    pub(crate) detail: Detail,
    pub(crate) format: Format,
    pub(crate) speaks: bool,
    pub(crate) artifacts: Vec<String>,
    /// The size of its terminal, if it has one.
    pub(crate) terminal: Option<Size>,
    pub(crate) verdict: Option<Verdict>,
}

impl Report {
    /// A request that was refused, or whose program could not even be looked for.
    pub(crate) fn refused(asked: &Asked, error: ErrorObject) -> Self {
        let canceled = error.code == Code::Canceled;
        Self {
            id: asked.id.clone(),
            status: if canceled { State::Canceled } else { State::Failed },
            command: asked.action.shown(),
            directory: asked.directory.clone(),
            exit_code: None,
            signal: None,
            error: Some(error),
            stdout: String::new(),
            stderr: String::new(),
            stdout_bytes: 0,
            stderr_bytes: 0,
            stdout_truncated: false,
            stderr_truncated: false,
            stdout_file: None,
            stderr_file: None,
            timed_out: false,
            canceled,
            duration_ms: 0,
            pid: None,
            host_pid: None,
            background: Vec::new(),
            job: None,
            waiting_for_input: false,
            verdict: asked.verdict.clone(),
            effects: None,
            denials: None,
            artifacts: Vec::new(),
            format: asked.format,
            words: None,
            program: match &asked.action {
                Action::Program(argv) => argv.first().cloned(),
                Action::Shell(_) => None,
            },
            screen: false,
            lost: PerStream::default(),
        }
    }

    /// A request that waits for somebody's yes. It will run under its own name, so that is its job.
    pub(crate) fn queued(asked: &Asked) -> Self {
        Self {
            status: State::Queued,
            error: None,
            job: Some(asked.id.clone()),
            ..Self::refused(asked, ErrorObject::new(Code::Busy, ""))
        }
    }

    /// The answer to a call that could not even be read.
    #[must_use]
    pub fn of_error(error: ErrorObject) -> Self {
        Self::refused(&Asked::unread(), error)
    }

    /// A request that ran, or was to run.
    pub(crate) fn ended(asked: &Asked, limits: &Limits, outcome: Outcome, spool: &Spool) -> Self {
        let limit = match asked.detail {
            Detail::Minimal => Limit::Chars(usize::try_from(limits.answer_chars).unwrap_or(usize::MAX)),
            Detail::Preview => Limit::Chars(PREVIEW),
            Detail::Full => Limit::Bytes(usize::try_from(limits.answer_bytes).unwrap_or(usize::MAX)),
        };
        let whole = Limit::Bytes(usize::try_from(limits.answer_bytes).unwrap_or(usize::MAX));
        let drawn = std::cell::Cell::new(false);
        let text = |stream: Stream, limit: Limit| {
            let output = outcome.output.get(stream);
            if output.total == 0 {
                return (String::new(), false);
            }
            let source = Source {
                file: spool.files.get(stream),
                path: spool.paths.as_ref().map_or(Path::new(""), |paths| paths.get(stream)),
                begins: 0,
                spooled: output.spooled,
                total: output.total,
                tail: &output.tail,
                lost: output.lost.clone(),
            };
            // What a full-screen program has on its screen; what it drew before is of no use.
            let live = asked.terminal.filter(|_| outcome.state == State::Running);
            match live
                .and_then(|size| crate::screen(&source, size.rows, size.cols))
                .filter(|screen| screen.drawn)
            {
                Some(screen) => {
                    drawn.set(true);
                    (limit.first_of(&screen.text).to_owned(), true)
                }
                None => {
                    let view = view(&source, limit);
                    (view.text, view.truncated)
                }
            }
        };
        let (stdout, stdout_truncated) = text(Stream::Stdout, limit);
        let (stderr, stderr_truncated) = text(Stream::Stderr, limit);
        let words = asked.speaks.then(|| PerStream {
            stdout: text(Stream::Stdout, whole).0,
            stderr: text(Stream::Stderr, whole).0,
        });
        let background = outcome.background.iter().map(Background::of);
        Self {
            status: outcome.state,
            exit_code: exit_code(outcome.exit),
            signal: signal(outcome.exit),
            error: outcome_error(&asked.action, &asked.directory, &outcome),
            stdout,
            stderr,
            stdout_bytes: outcome.output.stdout.total,
            stderr_bytes: outcome.output.stderr.total,
            stdout_truncated,
            stderr_truncated,
            stdout_file: spool.paths.as_ref().map(|paths| paths.stdout.clone()),
            stderr_file: spool.paths.as_ref().map(|paths| paths.stderr.clone()),
            timed_out: outcome.state == State::TimedOut,
            canceled: outcome.state == State::Canceled,
            duration_ms: u64::try_from(outcome.duration.as_millis()).unwrap_or(u64::MAX),
            pid: outcome.pid,
            host_pid: outcome.pid,
            job: (!outcome.state.is_final() || !outcome.background.is_empty()).then(|| asked.id.clone()),
            background: background.collect(),
            waiting_for_input: outcome.waiting_for_input,
            screen: drawn.get(),
            words,
            lost: PerStream {
                stdout: outcome.output.stdout.lost.clone(),
                stderr: outcome.output.stderr.lost.clone(),
            },
            ..Self::refused(asked, ErrorObject::new(Code::Busy, ""))
        }
    }

    /// The name of the job, when this is the answer to a call that goes on.
    #[must_use]
    pub fn unfinished_job(&self) -> Option<&str> {
        self.job.as_deref().filter(|_| !self.status.is_final())
    }

    /// Whether nothing was started, because something or somebody said no.
    #[must_use]
    pub fn is_refusal(&self) -> bool {
        self.error.as_ref().is_some_and(|error| error.code.is_refusal())
    }
}

pub(crate) const fn exit_code(exit: Option<Exit>) -> Option<i32> {
    match exit {
        Some(Exit::Code(code)) => Some(code),
        _ => None,
    }
}

pub(crate) fn signal(exit: Option<Exit>) -> Option<SignalName> {
    match exit {
        Some(Exit::Signal(number)) => Some(SignalName::new(number)),
        _ => None,
    }
}

/// What is said of an execution that did not end by itself: to its caller, and in the journal. `action` and `directory` are
/// those of the request.
pub(crate) fn outcome_error(action: &Action, directory: &str, outcome: &Outcome) -> Option<ErrorObject> {
    if let Some(failure) = &outcome.failure {
        return Some(failed(action, directory, failure));
    }
    if let Some(broken) = &outcome.limit {
        return Some(crate::answer::limits::error(broken));
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

/// What is said of a command that a clock stopped.
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
    ErrorObject::new(Code::TimedOut, message).hint("give it more time, or run it in the background")
}

fn failed(action: &Action, directory: &str, failure: &Failure) -> ErrorObject {
    let program = match action {
        Action::Shell(_) => crate::sys::shell::SHELL,
        Action::Program(argv) => argv.first().map_or("", String::as_str),
    };
    match failure {
        Failure::NotExecuted { message, errno } => {
            let trouble = match (action, *errno == rustix::io::Errno::NOENT.raw_os_error()) {
                (Action::Shell(_), _) => SpawnTrouble::NoShell,
                (Action::Program(_), true) => SpawnTrouble::NotFound,
                (Action::Program(_), false) => SpawnTrouble::NotExecutable,
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
            ErrorObject::spawn_failed(SpawnTrouble::Other, message).token(directory)
        }
        Failure::NoProcess { message } => {
            ErrorObject::spawn_failed(SpawnTrouble::Other, format!("no process could be started: {message}"))
                .hint("the machine is out of processes, memory or descriptors; try again when it has some")
        }
        Failure::TooManyJobs { limit } => {
            ErrorObject::new(Code::Busy, format!("this session has {limit} jobs, and may have no more"))
                .rule(format!("limits.jobs_per_session = {limit}"))
                .hint("stop one that is no longer needed: `shellgate jobs` lists them")
        }
        Failure::KeeperLost => ErrorObject::new(
            Code::KeeperLost,
            "the keeper of this session ended before the command did, so how the command ended is not known",
        )
        .hint("what was printed until then is in the files; run the command again if that is safe"),
    }
}

/// A duration as people say it.
#[must_use]
pub fn seconds(duration: Duration) -> String {
    let ms = duration.as_millis();
    match ms {
        0..1_000 => format!("{ms} ms"),
        _ if ms.is_multiple_of(1_000) => format!("{} s", ms / 1_000),
        _ => format!("{}.{} s", ms / 1_000, format!("{:03}", ms % 1_000).trim_end_matches('0')),
    }
}
