//! Bytes from a pipe to a file without passing through our hands.
//!
//! Whoever reads and then writes can be killed in between, and what was read is gone. The kernel takes bytes out of the pipe
//! only once they are in the file: at every moment they are in one of the two.

use std::fs::File;
use std::os::fd::{AsFd, OwnedFd};

use rustix::io::Errno;
use rustix::pipe::{PipeFlags, SpliceFlags};

/// More than the largest pipe that we ask for holds.
const ALL: usize = 1 << 21;

/// Moves what is in `pipe`, at most `most`, to `at` in `file`. Zero is the end of the stream.
///
/// # Errors
/// `AGAIN` when there is nothing at the moment, `INVAL` where the file's system can't, else what is wrong with the file.
pub(super) fn into_file(pipe: impl AsFd, file: &File, at: u64, most: u64) -> Result<usize, Errno> {
    let most = usize::try_from(most).unwrap_or(ALL).min(ALL);
    rustix::io::retry_on_intr(|| {
        rustix::pipe::splice(&pipe, None, file, Some(&mut at.clone()), most, SpliceFlags::NONBLOCK)
    })
}

/// Between a terminal and a file, because the kernel moves bytes only where one side is a pipe.
#[derive(Debug)]
pub(super) struct Relay {
    pub(super) out: OwnedFd,
    into: OwnedFd,
}

impl Relay {
    pub(super) fn new() -> Result<Self, Errno> {
        let (out, into) = rustix::pipe::pipe_with(PipeFlags::CLOEXEC | PipeFlags::NONBLOCK)?;
        Ok(Self { out, into })
    }

    /// Takes what the terminal has, at most `most`.
    pub(super) fn fill(&self, terminal: &OwnedFd, most: u64) -> Result<usize, Errno> {
        let most = usize::try_from(most).unwrap_or(ALL).min(ALL);
        rustix::io::retry_on_intr(|| {
            rustix::pipe::splice(terminal, None, &self.into, None, most, SpliceFlags::NONBLOCK)
        })
    }
}
