//! A descriptor that is waited for without changing it: its flags belong to whoever else holds it.

use std::io;
use std::os::fd::{AsFd as _, BorrowedFd, OwnedFd};

use rustix::buffer::spare_capacity;
use rustix::event::{PollFd, PollFlags, Timespec};
use tokio::io::Interest;

use crate::waiter::Waiter;

/// As much as can be written without waiting when there is room at all.
const ROOM: usize = 4096;

/// A pipe, a socket, a terminal or a file.
#[derive(Debug)]
pub(super) struct Descriptor {
    own: OwnedFd,
    /// `None`: a file, which never lets anybody wait.
    waiter: Option<Waiter>,
}

impl Descriptor {
    pub(super) fn standard_input() -> io::Result<Self> {
        Self::new(io::stdin().as_fd(), Interest::READABLE)
    }

    pub(super) fn standard_output() -> io::Result<Self> {
        Self::new(io::stdout().as_fd(), Interest::WRITABLE)
    }

    fn new(descriptor: BorrowedFd<'_>, interest: Interest) -> io::Result<Self> {
        let own = descriptor.try_clone_to_owned()?;
        let waiter = match Waiter::new(descriptor, interest) {
            Ok(waiter) => Some(waiter),
            Err(error) if error.kind() == io::ErrorKind::PermissionDenied => None,
            Err(error) => return Err(error),
        };
        Ok(Self { own, waiter })
    }

    /// Appends what there is to read, waiting for it; 0 at the end. There will be room for `most` bytes at least.
    pub(super) async fn read(&self, buffer: &mut Vec<u8>, most: usize) -> io::Result<usize> {
        while !self.is_ready(PollFlags::IN)? {
            if let Some(waiter) = &self.waiter {
                waiter.readable().await?;
            }
        }
        buffer.reserve(most);
        Ok(rustix::io::read(&self.own, spare_capacity(buffer))?)
    }

    /// Whether the other end is closed, though there may be something left to read.
    pub(super) fn has_hung_up(&self) -> bool {
        let at_once = Timespec { tv_sec: 0, tv_nsec: 0 };
        let mut polled = [PollFd::new(&self.own, PollFlags::empty())];
        rustix::event::poll(&mut polled, Some(&at_once)).is_ok_and(|ready| ready > 0)
    }

    /// Writes all of it.
    pub(super) async fn write(&self, mut bytes: &[u8]) -> io::Result<()> {
        while !bytes.is_empty() {
            while !self.is_ready(PollFlags::OUT)? {
                if let Some(waiter) = &self.waiter {
                    waiter.writable().await?;
                }
            }
            let piece = bytes.get(..ROOM).unwrap_or(bytes);
            match rustix::io::write(&self.own, piece) {
                Ok(written) => bytes = bytes.get(written..).unwrap_or_default(),
                Err(rustix::io::Errno::INTR | rustix::io::Errno::AGAIN) => {}
                Err(error) => return Err(error.into()),
            }
        }
        Ok(())
    }

    /// Whether reading or writing would not wait: also when it would fail.
    fn is_ready(&self, flags: PollFlags) -> io::Result<bool> {
        let at_once = Timespec { tv_sec: 0, tv_nsec: 0 };
        match rustix::event::poll(&mut [PollFd::new(&self.own, flags)], Some(&at_once)) {
            Ok(ready) => Ok(ready > 0),
            Err(rustix::io::Errno::INTR) => Ok(false),
            Err(error) => Err(error.into()),
        }
    }
}
