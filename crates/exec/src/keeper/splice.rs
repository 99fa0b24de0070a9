//! Moves bytes from a pipe into a file without reading them.
//!
//! A keeper that read and then wrote could be killed in between, and the bytes would be lost. Instead the kernel moves
//! bytes from the pipe to the file; at every moment they are in one of the two.

use std::fs::File;
use std::os::fd::{AsFd, OwnedFd};

use rustix::io::Errno;
use rustix::pipe::{PipeFlags, SpliceFlags};

/// More than the largest pipe of ours holds.
const MAX_SPLICE_BYTES: usize = 1 << 21;

/// Moves the bytes in `pipe`, at most `most`, to the offset `at` in `file`. Returns their number; 0 is the end of the
/// stream.
///
/// # Errors
/// `AGAIN` when the pipe is empty, `INVAL` when the file system doesn't support it, else an error of the file.
pub(super) fn into_file(pipe: impl AsFd, file: &File, at: u64, most: u64) -> Result<usize, Errno> {
    let most = usize::try_from(most).unwrap_or(MAX_SPLICE_BYTES).min(MAX_SPLICE_BYTES);
    rustix::io::retry_on_intr(|| {
        rustix::pipe::splice(&pipe, None, file, Some(&mut at.clone()), most, SpliceFlags::NONBLOCK)
    })
}

/// A pipe between a terminal and a file: the kernel can only move bytes from or to a pipe.
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

    /// Moves bytes from the terminal into the pipe, at most `most`.
    pub(super) fn fill(&self, terminal: &OwnedFd, most: u64) -> Result<usize, Errno> {
        let most = usize::try_from(most).unwrap_or(MAX_SPLICE_BYTES).min(MAX_SPLICE_BYTES);
        rustix::io::retry_on_intr(|| {
            rustix::pipe::splice(terminal, None, &self.into, None, most, SpliceFlags::NONBLOCK)
        })
    }
}
