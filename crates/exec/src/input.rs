//! Who sits at an execution's input, and who types.

use serde::{Deserialize, Serialize};

use crate::spec::Size;
use crate::{ExecId, PartialLine};

/// What somebody types, or does to the terminal.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub enum Input {
    /// These bytes.
    Bytes {
        /// As they are: Enter is `\r` on a terminal.
        #[serde(with = "serde_bytes")]
        bytes: Vec<u8>,
        /// Only if nothing was typed since this count of inputs: see [`InputState::sequence`].
        after: Option<u64>,
        /// Who reads them, if that is known.
        reader: Option<u32>,
    },
    /// The end of the input. On a terminal: Ctrl-D.
    End,
    /// The terminal gets another size, and its programs a word of it.
    Resize(Size),
    /// Its programs stand still.
    Suspend,
    /// And go on.
    Continue,
}

/// Why input wasn't taken.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize, thiserror::Error)]
pub enum NotTaken {
    /// No keeper holds the execution.
    #[error("no keeper holds it")]
    Unknown,
    /// It has no input that anybody could write to.
    #[error("its standard input is closed")]
    Closed,
    /// It has no terminal, so it has no size.
    #[error("it has no terminal")]
    NoTerminal,
    /// Somebody else typed meanwhile.
    #[error("somebody else typed at the same time")]
    Changed,
    /// It doesn't read, and what was typed before waits for it.
    #[error("it doesn't read what was typed before")]
    Full,
    /// Its terminal takes lines, and none as long as this.
    #[error("its terminal takes lines of at most 4095 bytes")]
    LongLine,
    /// It ended before it had read everything.
    #[error("it ended before it took all of it")]
    Ended,
}

/// An execution's input as it stands.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct InputState {
    /// The execution.
    pub id: ExecId,
    /// What its input is.
    pub kind: InputKind,
    /// Whether somebody waits for input, and there is none.
    pub waiting: bool,
    /// Who could read it.
    pub processes: Vec<TerminalProcess>,
    /// The line that was begun.
    pub partial_line: PartialLine,
    /// How many inputs there were.
    pub sequence: u64,
}

/// What an execution's input is.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub enum InputKind {
    /// Nothing that can be written to.
    Closed,
    /// A terminal.
    Terminal {
        /// Its size.
        size: Size,
        /// Whether readers get whole lines, which the kernel lets people edit. Else they get each key.
        lines: bool,
        /// Whether what is typed is shown.
        echo: bool,
        /// Whether something was typed that nobody has read.
        unread: bool,
        /// Whether Ctrl-Z is lost on it: the kernel doesn't suspend programs that no shell watches over.
        unsuspendable: bool,
        /// Its keys are not what they are in other terminals: letters erase, or become others.
        remapped_keys: bool,
    },
}

/// A process that has the input open.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct TerminalProcess {
    /// Its number.
    pub pid: u32,
    /// Its argument list.
    pub argv: Vec<String>,
    /// The program that it runs, as a path.
    pub program: Option<String>,
    /// Its working directory.
    pub directory: Option<String>,
    /// Whether the terminal is its own at the moment. Others are suspended when they read.
    pub foreground: bool,
    /// What it does.
    pub read_state: ReadState,
}

/// Whether a process waits for input.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub enum ReadState {
    /// It does.
    Reading,
    /// It does something else.
    NotReading,
    /// The kernel doesn't tell us, mostly because it is another user's.
    Unknown,
}
