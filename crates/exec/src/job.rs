//! An execution as front ends see it that are not its caller.

use std::time::Duration;

use serde::{Deserialize, Serialize};

use crate::outcome::{Exit, Process};
use crate::output_times::Moment;
use crate::{Denials, Effects, ExecId, PerStream, Size, State};

/// One execution that a keeper holds.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct Job {
    /// Its name.
    pub id: ExecId,
    /// Its state. Leftover processes of a command are running.
    pub state: State,
    /// Whether a caller waits for it.
    pub kind: JobKind,
    /// The process id of its program, if that was started.
    pub pid: Option<u32>,
    /// The process id that commands of the session know it by. Without a pod it is the same.
    pub session_pid: Option<u32>,
    /// How the program ended, if it did and other processes go on.
    pub exit: Option<Exit>,
    /// Time since its start.
    pub age: Duration,
    /// Time since its last output, or since its start.
    pub silence: Duration,
    /// How many bytes it printed.
    pub printed: PerStream<u64>,
    /// Its living processes, parents before their children.
    pub processes: Vec<Process>,
    /// When it printed what. Only in the answer to a watch request.
    pub times: Vec<Moment>,
    /// The size of its terminal, if it has one.
    pub terminal: Option<Size>,
    /// Whether it waits for input.
    pub waiting_for_input: bool,
    /// What the sandbox refused so far. `None`: it is not confined.
    pub denials: Option<Denials>,
    /// What it did so far. `None`: it is not observed.
    pub effects: Option<Box<Effects>>,
}

/// Whether a caller waits for an execution.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum JobKind {
    /// A caller waits for its answer. It ends when the caller goes away.
    Foreground,
    /// No caller waits. It ends by itself or when it is stopped.
    Job,
    /// Its command has ended and was answered. These are the processes that the command left running.
    Leftover,
}

impl JobKind {
    /// Whether a caller waits for it.
    #[must_use]
    pub const fn is_foreground(self) -> bool {
        matches!(self, Self::Foreground)
    }

    /// Whether its command has ended.
    #[must_use]
    pub const fn is_leftover(self) -> bool {
        matches!(self, Self::Leftover)
    }
}
