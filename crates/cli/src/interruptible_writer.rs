//! Writing output so that a signal interrupts it: a reader that doesn't read must not block Ctrl-C.

use std::io;
use std::os::fd::{AsFd, BorrowedFd};
use std::time::Duration;

use rustix::event::PollFlags;
use rustix::io::Errno;

use crate::signals::Interrupts;

/// A pipe that is ready for writing takes this much without blocking.
const PIPE_CHUNK_BYTES: usize = 4096;

/// How long to wait for a reader that doesn't read, once a signal arrived.
const STALLED_READER_TIMEOUT: Duration = Duration::from_millis(500);

/// Standard output or standard error.
#[derive(Debug)]
pub(crate) struct InterruptibleWriter<'a> {
    to: BorrowedFd<'a>,
    chunk: usize,
}

/// Whether all bytes were written.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Written {
    All,
    /// A signal arrived while the reader didn't read. The rest was dropped.
    Interrupted,
}

impl<'a> InterruptibleWriter<'a> {
    pub(crate) fn new(to: BorrowedFd<'a>) -> Self {
        let stat = rustix::fs::fstat(to);
        let file = stat.is_ok_and(|stat| rustix::fs::FileType::from_raw_mode(stat.st_mode).is_file());
        // Writing to a file never blocks for a reader.
        Self { to, chunk: if file { usize::MAX } else { PIPE_CHUNK_BYTES } }
    }

    /// Writes all of `bytes`, unless a signal arrives while the reader doesn't read. The signal stays to be handled.
    pub(crate) fn write_all(&self, bytes: &[u8], interrupts: &Interrupts) -> io::Result<Written> {
        let mut rest = bytes;
        while !rest.is_empty() {
            if self.chunk != usize::MAX && !interrupts.wait_until_writable(self.to)? {
                return Ok(Written::Interrupted);
            }
            let chunk = rest.get(..rest.len().min(self.chunk)).unwrap_or(rest);
            match rustix::io::write(self.to, chunk) {
                Ok(written) => rest = rest.get(written..).unwrap_or_default(),
                // Another process made the pipe non-blocking and filled it meanwhile.
                Err(Errno::AGAIN | Errno::INTR) => {}
                Err(error) => return Err(error.into()),
            }
        }
        Ok(Written::All)
    }
}

impl Interrupts {
    /// Waits until `to` takes bytes. Returns false when a signal arrives first, or arrived earlier and the timeout passes.
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
