//! The input of an execution: what can be sent, and which processes read it.

use serde::{Deserialize, Serialize};

use crate::spec::Size;
use crate::{ExecId, PartialLine};

/// Something sent to the input of an execution, or done to its terminal.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub enum Input {
    /// These bytes.
    Bytes {
        /// They are sent unchanged: Enter is `\r` on a terminal.
        #[serde(with = "serde_bytes")]
        bytes: Vec<u8>,
        /// Refuse them if more inputs than this came before: see [`InputState::sequence`].
        after: Option<u64>,
        /// The process that will read them, if the sender knows.
        reader: Option<u32>,
    },
    /// End of input. On a terminal: Ctrl-D.
    End,
    /// A new size of the terminal. The kernel tells its programs.
    Resize(Size),
    /// Suspend its processes.
    Suspend,
    /// Let them continue.
    Continue,
}

/// Why input was refused.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize, thiserror::Error)]
pub enum NotTaken {
    /// No keeper holds the execution.
    #[error("no keeper holds it")]
    Unknown,
    /// It has no input that can be written to.
    #[error("its standard input is closed")]
    Closed,
    /// It has no terminal.
    #[error("it has no terminal")]
    NoTerminal,
    /// Another front end sent input first.
    #[error("another terminal or program typed at the same time")]
    Changed,
    /// It doesn't read, and earlier input fills the queue.
    #[error("it doesn't read what was typed before")]
    Full,
    /// Its terminal is in line mode, and the line is too long for it.
    #[error("its terminal takes lines of at most 4095 bytes")]
    LongLine,
    /// It ended before it had read all of the input.
    #[error("it ended before it took all of it")]
    Ended,
}

/// The input of an execution at one moment.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct InputState {
    /// The execution.
    pub id: ExecId,
    /// Whether it has a terminal.
    pub kind: InputKind,
    /// Whether a process waits for input and there is none.
    pub waiting: bool,
    /// The processes that have the input open.
    pub processes: Vec<TerminalProcess>,
    /// The line that was typed and not finished with Enter.
    pub partial_line: PartialLine,
    /// How many inputs came so far.
    pub sequence: u64,
}

/// The kind of an execution's input.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub enum InputKind {
    /// It can't be written to.
    Closed,
    /// A terminal.
    Terminal {
        /// Its size.
        size: Size,
        /// Line mode: readers get whole lines, which the kernel lets a person edit. Else they get each key.
        lines: bool,
        /// Whether typed characters are shown.
        echo: bool,
        /// Whether typed characters have not been read.
        unread: bool,
        /// Whether Ctrl-Z has no effect: the kernel doesn't suspend the processes of an orphaned process group.
        unsuspendable: bool,
        /// Whether keys have unusual meanings: letters that erase, or that become other letters.
        remapped_keys: bool,
    },
}

/// A process that has the input open.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct TerminalProcess {
    /// Its process id.
    pub pid: u32,
    /// Its argument list.
    pub argv: Vec<String>,
    /// The program that it runs, as a path.
    pub program: Option<String>,
    /// Its working directory.
    pub directory: Option<String>,
    /// Whether it is in the foreground process group. The kernel suspends others when they read.
    pub foreground: bool,
    /// Whether it waits for input.
    pub read_state: ReadState,
}

/// Whether a process waits for input.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub enum ReadState {
    /// It waits for input.
    Reading,
    /// It does something else.
    NotReading,
    /// The kernel doesn't say, mostly because the process belongs to another user.
    Unknown,
}
