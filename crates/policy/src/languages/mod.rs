//! Readers of the small languages that some programs take in their words: awk, jq, sed, git's formats, the shells of databases. Expressions of
//! find are words of their own, and are read in `programs/special`.
//!
//! **A text is read only if all of it lies inside a grammar that is known to be read alike by every version of the program.**
//! A reader then yields everything that the text runs, writes and reads. It yields nothing for any other text, not even what
//! it understood before the first unknown sign; such a text counts as unknown, and unknown texts ask. A reader never looks
//! for dangerous signs in a text that it can't read.

pub(crate) mod awk;
pub(crate) mod git_format;
pub(crate) mod jq;
pub(crate) mod sed;
pub(crate) mod sql;

/// What a text of a small language does besides printing. A file or command is `None` if the text computes it.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) enum Does {
    /// Runs this command by a shell.
    Run(Option<String>),
    /// Writes this file.
    Write(Option<String>),
    /// Reads this file.
    Read(Option<String>),
    /// May speak with another machine.
    Connect,
}
