//! Standard input and output. Their descriptors keep their flags: other processes may share them.

use std::io;
use std::os::fd::{AsFd as _, BorrowedFd, OwnedFd};

use rustix::buffer::spare_capacity;
use rustix::event::{PollFd, PollFlags, Timespec};
use tokio::io::Interest;

use crate::async_descriptor::AsyncDescriptor;

/// A ready descriptor takes this much without blocking.
const WRITE_CHUNK_BYTES: usize = 4096;

/// How often the system is asked whether a descriptor is ready.
const POLL_ATTEMPTS: u8 = 8;

/// A pipe, a socket, a terminal or a file.
#[derive(Debug)]
pub(super) struct StandardStream {
    descriptor: OwnedFd,
    /// `None`: a file, which is always ready.
    readiness: Option<AsyncDescriptor>,
}

impl StandardStream {
    pub(super) fn input() -> io::Result<Self> {
        Self::new(io::stdin().as_fd(), Interest::READABLE)
    }

    pub(super) fn output() -> io::Result<Self> {
        Self::new(io::stdout().as_fd(), Interest::WRITABLE)
    }

    fn new(descriptor: BorrowedFd<'_>, interest: Interest) -> io::Result<Self> {
        let readiness = match AsyncDescriptor::new(descriptor, interest) {
            Ok(readiness) => Some(readiness),
            Err(error) if error.kind() == io::ErrorKind::PermissionDenied => None,
            Err(error) => return Err(error),
        };
        Ok(Self { descriptor: descriptor.try_clone_to_owned()?, readiness })
    }

    /// Waits for bytes and appends them to `buffer`, which gets room for `room` bytes at least. Returns 0 at the end.
    pub(super) async fn read(&self, buffer: &mut Vec<u8>, room: usize) -> io::Result<usize> {
        loop {
            while !self.is_ready(PollFlags::IN)? {
                if let Some(readiness) = &self.readiness {
                    readiness.readable().await?;
                }
            }
            buffer.reserve(room);
            match rustix::io::read(&self.descriptor, spare_capacity(buffer)) {
                Err(rustix::io::Errno::INTR | rustix::io::Errno::AGAIN) => {}
                read => return Ok(read?),
            }
        }
    }

    /// Whether the other end is closed. There may be bytes left to read.
    pub(super) fn has_hung_up(&self) -> bool {
        let no_wait = Timespec { tv_sec: 0, tv_nsec: 0 };
        let mut polled = [PollFd::new(&self.descriptor, PollFlags::empty())];
        rustix::event::poll(&mut polled, Some(&no_wait)).is_ok_and(|ready| ready > 0)
    }

    /// Writes all of `bytes`.
    pub(super) async fn write(&self, mut bytes: &[u8]) -> io::Result<()> {
        while !bytes.is_empty() {
            while !self.is_ready(PollFlags::OUT)? {
                if let Some(readiness) = &self.readiness {
                    readiness.writable().await?;
                }
            }
            let piece = bytes.get(..WRITE_CHUNK_BYTES).unwrap_or(bytes);
            match rustix::io::write(&self.descriptor, piece) {
                Ok(written) => bytes = bytes.get(written..).unwrap_or_default(),
                Err(rustix::io::Errno::INTR | rustix::io::Errno::AGAIN) => {}
                Err(error) => return Err(error.into()),
            }
        }
        Ok(())
    }

    /// Whether reading or writing would not block. It may fail.
    fn is_ready(&self, flags: PollFlags) -> io::Result<bool> {
        let no_wait = Timespec { tv_sec: 0, tv_nsec: 0 };
        let mut attempt = 1;
        loop {
            match rustix::event::poll(&mut [PollFd::new(&self.descriptor, flags)], Some(&no_wait)) {
                Ok(ready) => return Ok(ready > 0),
                // The system may have been short of memory for a moment.
                Err(_) if attempt < POLL_ATTEMPTS => attempt += 1,
                Err(error) => return Err(error.into()),
            }
        }
    }
}
