//! Passing output on without ever being stuck: a reader that stands still must not keep Ctrl-C from being heard.

use std::io;
use std::os::fd::{AsFd, BorrowedFd};
use std::time::Duration;

use rustix::event::PollFlags;
use rustix::io::Errno;

use crate::signals::Interrupts;

/// What a pipe takes without blocking once it says that it has room.
const PIPE_CHUNK_BYTES: usize = 4096;

/// How long a reader that stands still is waited for once somebody wants an end.
const STALLED_READER_TIMEOUT: Duration = Duration::from_millis(500);

/// Standard output or standard error.
#[derive(Debug)]
pub(crate) struct InterruptibleWriter<'a> {
    to: BorrowedFd<'a>,
    chunk: usize,
}

/// Whether bytes were passed on.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Written {
    All,
    /// A signal came while the reader stood still. The rest can wait for ever, so it was dropped.
    Interrupted,
}

impl<'a> InterruptibleWriter<'a> {
    pub(crate) fn new(to: BorrowedFd<'a>) -> Self {
        let stat = rustix::fs::fstat(to);
        let file = stat.is_ok_and(|stat| rustix::fs::FileType::from_raw_mode(stat.st_mode).is_file());
        // A file always has room.
        Self { to, chunk: if file { usize::MAX } else { PIPE_CHUNK_BYTES } }
    }

    /// Writes all of `bytes`, unless a signal comes while that isn't possible. Signals are heard, not acted upon.
    pub(crate) fn write_all(&self, bytes: &[u8], interrupts: &Interrupts) -> io::Result<Written> {
        let mut rest = bytes;
        while !rest.is_empty() {
            if self.chunk != usize::MAX && !interrupts.wait_until_writable(self.to)? {
                return Ok(Written::Interrupted);
            }
            let chunk = rest.get(..rest.len().min(self.chunk)).unwrap_or(rest);
            match rustix::io::write(self.to, chunk) {
                Ok(written) => rest = rest.get(written..).unwrap_or_default(),
                // Somebody made the pipe non-blocking, and somebody else filled it.
                Err(Errno::AGAIN | Errno::INTR) => {}
                Err(error) => return Err(error.into()),
            }
        }
        Ok(Written::All)
    }
}

impl Interrupts {
    /// Waits until `to` takes bytes. Says no when a signal comes first, or came before and there is no room for a while.
    fn wait_until_writable(&self, to: impl AsFd) -> io::Result<bool> {
        let timeout = self.any_received().then_some(STALLED_READER_TIMEOUT);
        loop {
            let (room, signal) = self.poll(to.as_fd(), PollFlags::OUT, timeout)?;
            match (room, signal) {
                (true, _) => return Ok(true),
                (false, true) => return Ok(false),
                (false, false) if timeout.is_some() => return Ok(false),
                (false, false) => {}
            }
        }
    }
}
