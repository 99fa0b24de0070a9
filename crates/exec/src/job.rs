//! An execution as others see it: those who neither started it nor wait for its answer.

use std::time::Duration;

use serde::{Deserialize, Serialize};

use crate::outcome::{Exit, Process};
use crate::output_times::Moment;
use crate::{ExecId, PerStream, Size, State};

/// One execution that a keeper holds.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct Job {
    /// Its name.
    pub id: ExecId,
    /// Where it stands. What a command left behind runs.
    pub state: State,
    /// Who holds on to it.
    pub kind: JobKind,
    /// The process that was started, if one was.
    pub pid: Option<u32>,
    /// How that one ended, if it did and others go on.
    pub exit: Option<Exit>,
    /// Since its start.
    pub age: Duration,
    /// Since it last printed something, or since its start.
    pub silence: Duration,
    /// How many bytes were printed.
    pub printed: PerStream<u64>,
    /// Its living processes, parents before their children.
    pub processes: Vec<Process>,
    /// When it printed what. Only in the answer to who watches it.
    pub times: Vec<Moment>,
    /// The size of its terminal, if it has one.
    pub terminal: Option<Size>,
    /// Whether it waits for somebody to type.
    pub waiting_for_input: bool,
}

/// Who holds on to an execution.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum JobKind {
    /// Somebody waits for its answer and takes it along when they go.
    Foreground,
    /// Nobody: it ends by itself, or when it is told to.
    Job,
    /// Nobody: its command was answered, and these processes are what it left.
    Leftover,
}

impl JobKind {
    /// Whether somebody waits for it.
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
