//! One front end, as the keeper sees it.

use std::io;
use std::os::fd::{AsFd, BorrowedFd, OwnedFd};

use rustix::io::Errno;
use rustix::net::RecvFlags;

use crate::stored_end::StoredEnd;
use crate::wire::{self, Frames, FromKeeper, ToKeeper};
use crate::{ExecId, Stream};

use super::events::Interest;
use super::tree::RunKey;

/// The number of a connection within this keeper.
pub(super) type ConnectionKey = u64;

/// Bytes that no file takes wait here for their reader. Above this the command's pipe isn't read until they are gone.
const MOST_WAITING: usize = 1 << 20;

/// Ranges that wait for a slow reader. Above this, ranges of one stream are joined over those of the other between
/// them: the reader then sees the same bytes, in a coarser order.
const MOST_RANGES: usize = 64;

/// A connected front end.
#[derive(Debug)]
pub(super) struct Connection {
    socket: OwnedFd,
    frames: Frames,
    outgoing: Vec<u8>,
    ranges: Vec<(Stream, u64, u64)>,
    /// What the keeper waits for on it.
    pub(super) interest: Interest,
    /// The execution that it follows.
    pub(super) run: Option<RunKey>,
    /// The execution of somebody else that it looks at.
    pub(super) watching: Option<RunKey>,
    greeted: bool,
    /// The end that it was told and has not written down, as far as we know.
    pub(super) unrecorded: Option<(ExecId, StoredEnd)>,
    /// What it wants to see stopped.
    pub(super) stopping: Option<Stopping>,
    /// What it typed and has not heard of: up to this byte of that execution's input.
    pub(super) typing: Option<(RunKey, u64)>,
}

/// What somebody waits to see stopped.
#[derive(Clone, Copy, Debug)]
pub(super) enum Stopping {
    /// All that there was: so many executions.
    Session(u32),
    /// One.
    This(RunKey),
}

/// What reading gave.
pub(super) enum Received {
    /// A message.
    Message(ToKeeper),
    /// Nothing more at the moment.
    Nothing,
    /// The front end is gone, or talks nonsense.
    Gone,
}

impl Connection {
    pub(super) fn new(socket: OwnedFd) -> Self {
        Self {
            socket,
            frames: Frames::default(),
            outgoing: Vec::new(),
            ranges: Vec::new(),
            interest: Interest::Read,
            run: None,
            watching: None,
            greeted: false,
            unrecorded: None,
            stopping: None,
            typing: None,
        }
    }

    pub(super) fn receive(&mut self) -> Received {
        loop {
            match self.frames.next() {
                Ok(Some(message)) => return Received::Message(message),
                Ok(None) => {}
                Err(_) => return Received::Gone,
            }
            match self.frames.receive(&self.socket, RecvFlags::DONTWAIT) {
                Ok(0) => return Received::Gone,
                Ok(_) => {}
                Err(error) if error.kind() == io::ErrorKind::WouldBlock => return Received::Nothing,
                Err(error) if error.kind() == io::ErrorKind::Interrupted => {}
                Err(_) => return Received::Gone,
            }
        }
    }

    pub(super) fn descriptor(&mut self) -> Option<OwnedFd> {
        self.frames.descriptor()
    }

    /// Sends `message`, behind everything that waits.
    pub(super) fn send(&mut self, message: &FromKeeper) {
        self.queue_ranges();
        self.queue(message);
        self.flush();
    }

    /// Says that the first message was taken in, once. After everything that followed from it, so that whoever waits
    /// isn't woken while the command is being started.
    pub(super) fn greet(&mut self) {
        if !self.greeted {
            self.greeted = true;
            self.send(&FromKeeper::Hello);
        }
    }

    /// Tells of new bytes in the file, now or, while the reader is busy, joined with those that follow.
    pub(super) fn spooled(&mut self, stream: Stream, from: u64, to: u64) {
        let crowded = self.ranges.len() >= MOST_RANGES;
        let mut recent = self.ranges.iter_mut().rev();
        let last = if crowded { recent.find(|range| range.0 == stream) } else { recent.next() };
        match last {
            Some(range) if range.0 == stream && range.2 == from => range.2 = to,
            _ => self.ranges.push((stream, from, to)),
        }
        self.flush();
    }

    /// Whether more bytes may be sent along.
    pub(super) fn has_room(&self) -> bool {
        self.outgoing.len() < MOST_WAITING
    }

    /// Whether something waits to be sent.
    pub(super) fn is_blocked(&self) -> bool {
        !self.outgoing.is_empty()
    }

    /// Sends what the reader takes. A reader that is gone is noticed when we read from it.
    pub(super) fn flush(&mut self) {
        loop {
            if self.outgoing.is_empty() {
                self.queue_ranges();
            }
            if self.outgoing.is_empty() {
                return;
            }
            match rustix::net::send(
                &self.socket,
                &self.outgoing,
                rustix::net::SendFlags::NOSIGNAL | rustix::net::SendFlags::DONTWAIT,
            ) {
                Ok(sent) => drop(self.outgoing.drain(..sent)),
                Err(Errno::INTR) => {}
                Err(Errno::AGAIN) => return,
                Err(_) => {
                    self.outgoing.clear();
                    self.ranges.clear();
                }
            }
        }
    }

    fn queue_ranges(&mut self) {
        for (stream, from, to) in std::mem::take(&mut self.ranges) {
            self.queue(&FromKeeper::Spooled { stream, from, to });
        }
    }

    fn queue(&mut self, message: &FromKeeper) {
        match wire::encode(message) {
            Ok(bytes) => self.outgoing.extend_from_slice(&bytes),
            // Our messages are bounded, so this doesn't happen. If it does, nobody shall wait for the rest.
            Err(_) => {
                let _ = rustix::net::shutdown(&self.socket, rustix::net::Shutdown::Both);
            }
        }
    }
}

impl AsFd for Connection {
    fn as_fd(&self) -> BorrowedFd<'_> {
        self.socket.as_fd()
    }
}
