//! The keeper's connection to one front end.

use std::fs::File;
use std::io;
use std::os::fd::{AsFd, BorrowedFd, OwnedFd};

use rustix::io::Errno;
use rustix::net::RecvFlags;

use crate::stored_end::StoredEnd;
use crate::wire::{self, Frames, FromKeeper, KnownParts, ToKeeper};
use crate::{ExecId, PerStream, Stream};

use super::events::Interest;
use super::tree::RunKey;

/// The number of a connection within this keeper.
pub(super) type ConnectionKey = u64;

/// How many bytes may wait for a slow front end. With more, the keeper stops reading the command's pipe.
const MAX_OUTGOING_BYTES: usize = 1 << 20;

/// How many ranges may wait for a slow front end. With more, ranges of one stream are joined even if ranges of the other
/// stream are between them. The front end gets the same bytes in a coarser order.
const MAX_RANGES: usize = 64;

/// A connected front end.
#[derive(Debug)]
pub(super) struct Connection {
    socket: OwnedFd,
    frames: Frames,
    outgoing: Vec<u8>,
    ranges: Vec<(Stream, u64, u64)>,
    /// The events that the keeper waits for on it.
    pub(super) interest: Interest,
    /// The execution that it is the caller of.
    pub(super) run: Option<RunKey>,
    /// The execution that it watches without being its caller.
    pub(super) watching: Option<RunKey>,
    /// Whether `Hello` was sent.
    confirmed: bool,
    /// The last end that it was told, until it says that the record has it.
    pub(super) unrecorded: Option<Unrecorded>,
    /// The stop that it waits for.
    pub(super) stopping: Option<Stopping>,
    /// The input that it waits for: up to this byte of that execution's input.
    pub(super) typing: Option<(RunKey, u64)>,
    /// What we know of the starts on this connection.
    pub(super) known: KnownParts,
}

/// An end that a front end was told and has not recorded.
#[derive(Debug)]
pub(super) struct Unrecorded {
    pub(super) id: ExecId,
    pub(super) end: StoredEnd,
    /// The output, if the front end is to save it.
    pub(super) memory: Option<PerStream<File>>,
}

/// A stop that a front end waits for.
#[derive(Clone, Copy, Debug)]
pub(super) enum Stopping {
    /// All executions of the session: their number.
    Session(u32),
    /// One execution.
    This(RunKey),
}

/// The result of reading from a connection.
pub(super) enum Received {
    /// A message.
    Message(ToKeeper),
    /// Nothing more at the moment.
    Nothing,
    /// The front end has closed the connection, or has sent something invalid.
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
            confirmed: false,
            unrecorded: None,
            stopping: None,
            typing: None,
            known: KnownParts::default(),
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

    /// Sends `message` after everything that waits.
    pub(super) fn send(&mut self, message: &FromKeeper) {
        self.queue_ranges();
        self.queue(message);
        self.flush();
    }

    /// Confirms the first message of the connection, once. The keeper calls this after it has acted on the message, so that
    /// the front end isn't woken while the command is being started.
    pub(super) fn confirm(&mut self) {
        if !self.confirmed {
            self.confirmed = true;
            self.send(&FromKeeper::Hello);
        }
    }

    /// Sends a range of new bytes in the file. While the front end is busy, it is joined with those that follow.
    pub(super) fn spooled(&mut self, stream: Stream, from: u64, to: u64) {
        let crowded = self.ranges.len() >= MAX_RANGES;
        let mut recent = self.ranges.iter_mut().rev();
        let last = if crowded { recent.find(|range| range.0 == stream) } else { recent.next() };
        match last {
            Some(range) if range.0 == stream && range.2 == from => range.2 = to,
            _ => self.ranges.push((stream, from, to)),
        }
        self.flush();
    }

    /// Whether more bytes may be queued.
    pub(super) fn has_room(&self) -> bool {
        self.outgoing.len() < MAX_OUTGOING_BYTES
    }

    /// Whether bytes wait to be sent.
    pub(super) fn is_blocked(&self) -> bool {
        !self.outgoing.is_empty()
    }

    /// Sends what the front end takes. A closed connection is noticed when the keeper reads from it.
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
            // Our messages are bounded, so this doesn't happen. If it does, the front end must not wait for the rest.
            Err(_) => {
                // An error means that the connection is closed already.
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
