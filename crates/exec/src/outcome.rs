//! How an execution ended, or its state when its caller was answered.

use std::time::Duration;

use serde::{Deserialize, Serialize};

use crate::{Denials, Effects, ExceededLimit, PerStream, State};

/// The answer to the caller of an execution.
#[derive(Clone, Debug, Serialize, Deserialize)]
pub struct Outcome {
    /// The last state; [`State::Running`] is the answer to a background start.
    pub state: State,
    /// The process id of its program, if that was started.
    pub pid: Option<u32>,
    /// The process id that commands of the session know the program by. Without a pod it is the same.
    pub session_pid: Option<u32>,
    /// How the program ended, if it did.
    pub exit: Option<Exit>,
    /// Why the program was not started, or why its end is unknown.
    pub failure: Option<Failure>,
    /// The timeout that expired, if one did.
    pub clock: Option<Clock>,
    /// The resource limit that it reached, if it did.
    pub limit: Option<ExceededLimit>,
    /// Its output.
    pub output: PerStream<Output>,
    /// The processes that are still alive, parents before their children.
    pub background: Vec<Process>,
    /// From the start of the process to the answer.
    pub duration: Duration,
    /// Whether it runs and waits for input.
    pub waiting_for_input: bool,
    /// Why it was not confined, though it was to be; if this begins with [`GUARD_LACKS`], it was confined and not guarded.
    pub unconfined: Option<String>,
    /// What the sandbox refused. `None`: it was not confined.
    pub denials: Option<Denials>,
    /// What it did. `None`: it was not observed.
    pub effects: Option<Box<Effects>>,
}

/// How [`Outcome::unconfined`] begins if only the guard is missing.
pub const GUARD_LACKS: &str = "tracing (ptrace";

/// How a process ended.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub enum Exit {
    /// By itself, with this code.
    Code(i32),
    /// By this signal.
    Signal(i32),
}

/// Why an execution has no exit status.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub enum Failure {
    /// The program could not be executed.
    NotExecuted {
        /// What the kernel said, as a number.
        errno: i32,
        /// The same in words.
        message: String,
    },
    /// The folder could not be entered.
    NoDirectory {
        /// What the kernel said.
        message: String,
    },
    /// The machine has no process or descriptor left.
    NoProcess {
        /// What the kernel said.
        message: String,
    },
    /// Its standard input can't be opened in the sandbox.
    NoInput,
    /// It can't be confined.
    NotConfined {
        /// What is missing.
        mechanism: String,
        /// What the kernel said.
        message: String,
    },
    /// The session has as many jobs as it may have.
    TooManyJobs {
        /// The maximum.
        limit: u32,
    },
    /// The keeper ended before the command did. The output that it wrote to the files is still there.
    KeeperLost,
    /// The launcher ended while it started the command, which may have run for a moment. Its processes were killed.
    LauncherLost,
}

/// One of the two timeouts.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub enum Clock {
    /// Time since the start.
    Wall(Duration),
    /// Time since the last output.
    Idle(Duration),
}

/// One stream at the time of the answer.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct Output {
    /// How many bytes were printed.
    pub total: u64,
    /// How many of them, counted from the first, are in the file.
    pub spooled: u64,
    /// The last bytes, when not all are in the file.
    #[serde(with = "serde_bytes")]
    pub tail: Vec<u8>,
    /// Why the file is shorter than both the output and the limit on it, if it is.
    pub lost: Option<String>,
}

/// A process that outlived the answer.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct Process {
    /// Its process id.
    pub pid: u32,
    /// The process id that commands of the session know it by. Without a pod it is the same.
    pub session_pid: u32,
    /// Its argument list, separated by spaces.
    pub command: String,
}

/// The kernel's error message, without the number in parentheses that Rust adds.
#[must_use]
pub fn plain(error: &std::io::Error) -> String {
    let text = error.to_string();
    text.split_once(" (os error").map_or(text.clone(), |(words, _)| words.to_owned())
}
