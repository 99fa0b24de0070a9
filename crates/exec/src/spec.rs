//! A command to run, as plain data that travels over a socket.

use std::ffi::CString;
use std::time::Duration;

use serde::{Deserialize, Serialize};

use crate::{EncodedConfinement, EncodedGuardRules, ExecId, Limits, SoftLimits};

/// One command to run.
#[derive(Clone, Debug, Serialize, Deserialize)]
pub struct Spec {
    /// Its name.
    pub id: ExecId,
    /// The path of the executable. The keeper doesn't search `PATH`.
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
    /// How long it may run, counted from its start. `None`: without limit.
    pub timeout: Option<Duration>,
    /// How long it may run without output. `None`: without limit.
    pub idle_timeout: Option<Duration>,
    /// How many bytes of each stream are kept on disk.
    pub capture_bytes: u64,
    /// How many executions of the session may run before this one has to wait.
    pub max_running: u32,
    /// How many jobs the session may have before another one is refused.
    pub max_jobs: u32,
    /// Resource limits of its whole process tree.
    pub limits: Limits,
    /// Whether the caller wants to see states and output as they come.
    pub follow: Follow,
    /// What it may reach. `None`: everything that its user may. It travels beside the rest, once on each connection.
    #[serde(skip)]
    pub confinement: Option<EncodedConfinement>,
    /// Which programs it may start. Its confinement must say that it is traced then. `None`: it isn't traced. It travels like that.
    #[serde(skip)]
    pub guard: Option<EncodedGuardRules>,
    /// Whether it is told what it does. Its confinement must say so too.
    pub observe: bool,
    /// Whether it runs without a sandbox where the machine can't make one.
    pub may_be_unconfined: bool,
    /// The size of its terminal. `None`: it has pipes. All output on a terminal counts as standard output.
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
    /// It does. The execution is stopped when the caller goes away.
    Foreground {
        /// How long it waits, counted from the submission. After that it is answered, and the execution goes on as a
        /// job. `None`: it waits for the end.
        answer_after: Option<Duration>,
    },
    /// It doesn't: the execution is a job from the start.
    Background {
        /// How long the answer waits, in case the execution ends early.
        answer_after: Duration,
    },
}

impl Mode {
    /// The caller waits for the end.
    pub const FOREGROUND: Self = Self::Foreground { answer_after: None };
}

/// Which events the caller gets before the end.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub enum Follow {
    /// None.
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
