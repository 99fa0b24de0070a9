//! Passing output on without ever being stuck: a reader that stands still must not keep Ctrl-C from being heard.

use std::io;
use std::os::fd::{AsFd, BorrowedFd};
use std::time::Duration;

use rustix::event::PollFlags;
use rustix::io::Errno;

use crate::signals::Interrupts;

/// What a pipe takes without blocking once it says that it has room.
const PIECE: usize = 4096;

/// How long a reader that stands still is waited for once somebody wants an end.
const PATIENCE: Duration = Duration::from_millis(500);

/// Standard output or standard error.
#[derive(Debug)]
pub(crate) struct Outlet<'a> {
    to: BorrowedFd<'a>,
    piece: usize,
}

/// Whether bytes were passed on.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Passed {
    All,
    /// A signal came while the reader stood still. The rest can wait for ever, so it was dropped.
    Interrupted,
}

impl<'a> Outlet<'a> {
    pub(crate) fn new(to: BorrowedFd<'a>) -> Self {
        let stat = rustix::fs::fstat(to);
        let file = stat.is_ok_and(|stat| rustix::fs::FileType::from_raw_mode(stat.st_mode).is_file());
        // A file always has room.
        Self { to, piece: if file { usize::MAX } else { PIECE } }
    }

    /// Writes all of `bytes`, unless a signal comes while that isn't possible. Signals are heard, not acted upon.
    pub(crate) fn pass(&self, bytes: &[u8], interrupts: &Interrupts) -> io::Result<Passed> {
        let mut rest = bytes;
        while !rest.is_empty() {
            if self.piece != usize::MAX && !interrupts.wait_for_room(self.to)? {
                return Ok(Passed::Interrupted);
            }
            let piece = rest.get(..rest.len().min(self.piece)).unwrap_or(rest);
            match rustix::io::write(self.to, piece) {
                Ok(written) => rest = rest.get(written..).unwrap_or_default(),
                // Somebody made the pipe non-blocking, and somebody else filled it.
                Err(Errno::AGAIN | Errno::INTR) => {}
                Err(error) => return Err(error.into()),
            }
        }
        Ok(Passed::All)
    }
}

impl Interrupts {
    /// Waits until `to` takes bytes. Says no when a signal comes first, or came before and there is no room for a while.
    fn wait_for_room(&self, to: impl AsFd) -> io::Result<bool> {
        let patience = self.has_heard().then_some(PATIENCE);
        loop {
            let (room, signal) = self.poll(to.as_fd(), PollFlags::OUT, patience)?;
            match (room, signal) {
                (true, _) => return Ok(true),
                (false, true) => return Ok(false),
                (false, false) if patience.is_some() => return Ok(false),
                (false, false) => {}
            }
        }
    }
}
