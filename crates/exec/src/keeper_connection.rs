//! A front end's connection to a keeper.

use std::fs::File;
use std::io;
use std::os::fd::{AsFd as _, BorrowedFd, OwnedFd};
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};
use std::time::Instant;

use rustix::event::{PollFd, PollFlags, Timespec};
use rustix::process::Signal;

use crate::PerStream;
use crate::keepers;
use crate::spool::memory_files;
use crate::sys::processes::PinnedKeeper;
use crate::wire::{self, FromKeeper, KnownParts, ToKeeper};

/// More idle connections than this are closed.
const MAX_IDLE_CONNECTIONS: usize = 64;

/// Idle connections, to be used again: a new connection would cost more than the rest of a call. The keeper doesn't exit
/// while there is one.
#[derive(Clone, Debug, Default)]
pub(crate) struct Pool {
    idle: Arc<Mutex<Vec<KeeperConnection>>>,
    /// Files in memory for the output of the next execution. They are made while no caller waits.
    memory_files: Arc<Mutex<Option<PerStream<File>>>>,
}

impl Pool {
    pub(crate) fn take(&self) -> Option<KeeperConnection> {
        self.idle.lock().unwrap_or_else(PoisonError::into_inner).pop()
    }

    pub(crate) fn has_one(&self) -> bool {
        !self.idle.lock().unwrap_or_else(PoisonError::into_inner).is_empty()
    }

    /// Sends a message on the connection that is taken next. Whether it arrives doesn't matter.
    pub(crate) fn tell_next(&self, message: &ToKeeper) {
        if let Some(next) = self.idle.lock().unwrap_or_else(PoisonError::into_inner).last_mut() {
            // A connection that can't be used is found out by the next start.
            let _ = next.send(message, &[]);
        }
    }

    pub(crate) fn give_back(&self, mut connection: KeeperConnection) {
        connection.pin_keeper();
        let mut idle = self.idle.lock().unwrap_or_else(PoisonError::into_inner);
        if idle.len() < MAX_IDLE_CONNECTIONS {
            idle.push(connection);
        }
    }

    pub(crate) fn take_memory_files(&self) -> Option<PerStream<File>> {
        self.lock_memory_files().take()
    }

    /// Makes what the next start needs.
    pub(crate) fn prepare_next(&self) {
        let mut files = self.lock_memory_files();
        if files.is_none() {
            // Where none can be made now, the start tries again.
            *files = memory_files().ok();
        }
    }

    fn lock_memory_files(&self) -> MutexGuard<'_, Option<PerStream<File>>> {
        self.memory_files.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

/// A connection to a keeper.
#[derive(Debug)]
pub(crate) struct KeeperConnection {
    socket: OwnedFd,
    frames: wire::Frames,
    /// The keeper, once the connection has been idle: a command may suspend it meanwhile.
    keeper: Option<PinnedKeeper>,
    /// A message that was put back.
    read: Option<FromKeeper>,
    /// What the keeper knows of the starts on this connection.
    known: KnownParts,
}

impl KeeperConnection {
    pub(crate) fn new(socket: OwnedFd) -> Self {
        let (frames, known) = (wire::Frames::default(), KnownParts::default());
        Self { socket, frames, keeper: None, read: None, known }
    }

    fn pin_keeper(&mut self) {
        if self.keeper.is_none() {
            self.keeper = keepers::keeper_of(&self.socket).and_then(PinnedKeeper::of);
        }
    }

    /// Continues the keeper of a connection that was idle. A keeper that isn't suspended doesn't notice.
    pub(crate) fn continue_keeper(&self) {
        if let Some(keeper) = &self.keeper {
            keeper.signal(Signal::CONT);
        }
    }

    pub(crate) fn send(&mut self, message: &ToKeeper, descriptors: &[BorrowedFd<'_>]) -> io::Result<()> {
        send(&self.socket, message, descriptors)
    }

    /// Sends a request, of which the keeper may know parts.
    pub(crate) fn send_request(
        &mut self,
        message: &mut ToKeeper,
        descriptors: &[BorrowedFd<'_>],
    ) -> io::Result<()> {
        if let ToKeeper::Start { spec, parts, .. } = message {
            *parts = self.known.leave_out_known(spec);
        }
        self.send(message, descriptors)
    }

    /// Makes `message` the next one again.
    pub(crate) fn put_back(&mut self, message: FromKeeper) {
        self.read = Some(message);
    }

    /// Waits for the next message until `deadline`.
    ///
    /// # Errors
    /// `TimedOut` when it doesn't come.
    pub(crate) fn next_before(&mut self, deadline: Instant) -> io::Result<Option<FromKeeper>> {
        loop {
            match self.try_next() {
                Err(error) if error.kind() == io::ErrorKind::WouldBlock => {}
                message => return message,
            }
            let left = deadline.saturating_duration_since(Instant::now());
            if left.is_zero() {
                return Err(io::Error::new(io::ErrorKind::TimedOut, "the keeper doesn't answer"));
            }
            let timeout = Timespec::try_from(left).ok();
            match rustix::event::poll(&mut [PollFd::new(&self.socket, PollFlags::IN)], timeout.as_ref()) {
                Ok(_) | Err(rustix::io::Errno::INTR) => {}
                Err(error) => return Err(error.into()),
            }
        }
    }

    /// The next message, if it has arrived.
    ///
    /// # Errors
    /// `WouldBlock` when it has not.
    pub(crate) fn try_next(&mut self) -> io::Result<Option<FromKeeper>> {
        self.receive(rustix::net::RecvFlags::DONTWAIT)
    }

    fn receive(&mut self, flags: rustix::net::RecvFlags) -> io::Result<Option<FromKeeper>> {
        if let Some(message) = self.read.take() {
            return Ok(Some(message));
        }
        loop {
            if let Some(message) = self.frames.next()? {
                return Ok(Some(message));
            }
            match self.frames.receive(&self.socket, flags) {
                Ok(0) => return Ok(None),
                Ok(_) => {}
                Err(error) if error.kind() == io::ErrorKind::Interrupted => {}
                Err(error) => return Err(error),
            }
        }
    }

    pub(crate) fn socket(&self) -> &OwnedFd {
        &self.socket
    }
}

/// Sends a whole message.
pub(crate) fn send(socket: &OwnedFd, message: &ToKeeper, descriptors: &[BorrowedFd<'_>]) -> io::Result<()> {
    let bytes = wire::encode(message)?;
    let mut sent = 0;
    while let Some(rest) = bytes.get(sent..).filter(|rest| !rest.is_empty()) {
        let descriptors = if sent == 0 { descriptors } else { &[] };
        match wire::send(socket.as_fd(), rest, descriptors) {
            Ok(count) => sent += count,
            Err(error) if error.kind() == io::ErrorKind::Interrupted => {}
            Err(error) => return Err(error),
        }
    }
    Ok(())
}
