//! What to run: everything the keeper must know, as plain data that travels over a socket.

use std::ffi::CString;
use std::time::Duration;

use serde::{Deserialize, Serialize};

use crate::{ExecId, Limits, SoftLimits};

/// One execution to be.
#[derive(Clone, Debug, Serialize, Deserialize)]
pub struct Spec {
    /// Its name.
    pub id: ExecId,
    /// The executable, as a path. Whoever makes the spec has searched for it.
    pub program: CString,
    /// The argument list, the program's own name first.
    pub argv: Vec<CString>,
    /// The whole environment, as `NAME=value`.
    pub env: Vec<CString>,
    /// The folder to start in.
    pub directory: CString,
    /// The file mode creation mask.
    pub umask: u32,
    /// The caller's soft limits.
    pub soft_limits: SoftLimits,
    /// Whether the caller waits for the end.
    pub mode: Mode,
    /// How long it may run, from its start. `None`: for ever.
    pub timeout: Option<Duration>,
    /// How long it may be silent. `None`: for ever.
    pub idle_timeout: Option<Duration>,
    /// How much of each stream is kept on disk.
    pub capture_bytes: u64,
    /// How many executions of the session may run before this one has to wait.
    pub max_running: u32,
    /// How many jobs the session may have before another one is refused.
    pub max_jobs: u32,
    /// What it may use, with all its processes.
    pub limits: Limits,
    /// Whether the caller wants to see states and output as they come.
    pub follow: Follow,
    /// The terminal that it is to have instead of pipes. What it prints there is its standard output.
    pub terminal: Option<Size>,
}

/// The size of a terminal.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct Size {
    /// Lines.
    pub rows: u16,
    /// Characters in a line.
    pub cols: u16,
}

impl Default for Size {
    fn default() -> Self {
        Self { rows: 24, cols: 80 }
    }
}

/// Whether the caller waits for the end.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub enum Mode {
    /// It does. When it goes away, the execution is stopped.
    Foreground {
        /// For so long, from its asking. Then it is answered, and the execution goes on as a job. `None`: to the end.
        answer_after: Option<Duration>,
    },
    /// It wants an answer after this time at the latest; the execution goes on.
    Background {
        /// How long an early end is waited for.
        answer_after: Duration,
    },
}

impl Mode {
    /// A caller that waits for the end.
    pub const FOREGROUND: Self = Self::Foreground { answer_after: None };
}

/// What the caller is told before the end.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub enum Follow {
    /// Nothing.
    Quietly,
    /// States and output.
    Closely,
}

/// One of the two output streams.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, Serialize, Deserialize)]
pub enum Stream {
    /// Standard output.
    Stdout,
    /// Standard error.
    Stderr,
}

impl Stream {
    /// Both, in the order of their descriptors.
    pub const BOTH: [Self; 2] = [Self::Stdout, Self::Stderr];

    /// The name that programs read.
    #[must_use]
    pub const fn name(self) -> &'static str {
        match self {
            Self::Stdout => "stdout",
            Self::Stderr => "stderr",
        }
    }
}

/// A value for each stream.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct PerStream<T> {
    /// For standard output.
    pub stdout: T,
    /// For standard error.
    pub stderr: T,
}

impl<T> PerStream<T> {
    /// The value for `stream`.
    pub const fn get(&self, stream: Stream) -> &T {
        match stream {
            Stream::Stdout => &self.stdout,
            Stream::Stderr => &self.stderr,
        }
    }

    /// The value for `stream`, to change.
    pub const fn get_mut(&mut self, stream: Stream) -> &mut T {
        match stream {
            Stream::Stdout => &mut self.stdout,
            Stream::Stderr => &mut self.stderr,
        }
    }

    /// Both values.
    pub const fn both(&self) -> [&T; 2] {
        [&self.stdout, &self.stderr]
    }
}
