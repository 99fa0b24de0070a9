//! Messages as bytes, with descriptors.

use std::collections::VecDeque;
use std::io::{self, IoSlice, IoSliceMut};
use std::mem::MaybeUninit;
use std::os::fd::{AsFd, BorrowedFd, OwnedFd};

use rustix::net::{
    RecvAncillaryBuffer, RecvAncillaryMessage, RecvFlags, ReturnFlags, SendAncillaryBuffer,
    SendAncillaryMessage, SendFlags,
};
use serde::Serialize;
use serde::de::DeserializeOwned;

/// How many descriptors one message carries at most.
const MAX_DESCRIPTORS: usize = 4;

/// The longest message. A command's text is at most 128 KiB, an environment at most a few MiB.
const MAX_MESSAGE_BYTES: usize = 16 << 20;

/// How much is received at once: a command with its environment and what it may reach fits, and it is cheap to clear.
const RECEIVE_BYTES: usize = 16 << 10;

/// How much memory is kept between messages.
const MAX_KEPT_BYTES: usize = 2 * RECEIVE_BYTES;

/// How much of a long message is received at once.
const MAX_RECEIVE_BYTES: usize = 512 << 10;

/// Why bytes are not a message.
#[derive(Debug, thiserror::Error)]
pub(crate) enum FrameError {
    #[error("a message of {0} bytes is longer than any we send")]
    TooLong(usize),
    #[error("a message can't be read: {0}")]
    Malformed(#[from] postcard::Error),
}

impl From<FrameError> for io::Error {
    fn from(error: FrameError) -> Self {
        Self::new(io::ErrorKind::InvalidData, error)
    }
}

/// The bytes of a message.
pub(crate) fn encode(message: &impl Serialize) -> Result<Vec<u8>, FrameError> {
    let mut bytes = postcard::to_extend(message, vec![0; 4])?;
    let length = bytes.len() - 4;
    let header = u32::try_from(length)
        .ok()
        .filter(|_| length <= MAX_MESSAGE_BYTES)
        .ok_or(FrameError::TooLong(length))?;
    if let Some(start) = bytes.first_chunk_mut::<4>() {
        *start = header.to_le_bytes();
    }
    Ok(bytes)
}

/// Sends as many of `bytes` as the socket takes, with `descriptors` on the first byte. Returns the number sent.
pub(crate) fn send(
    socket: BorrowedFd<'_>,
    bytes: &[u8],
    descriptors: &[BorrowedFd<'_>],
) -> io::Result<usize> {
    let mut space = [MaybeUninit::uninit(); rustix::cmsg_space!(ScmRights(MAX_DESCRIPTORS))];
    let mut control = SendAncillaryBuffer::new(&mut space);
    if !descriptors.is_empty() && !control.push(SendAncillaryMessage::ScmRights(descriptors)) {
        return Err(io::Error::other("too many descriptors for one message"));
    }
    // A closed connection shall be an error, not a signal that kills us.
    let sent = rustix::net::sendmsg(socket, &[IoSlice::new(bytes)], &mut control, SendFlags::NOSIGNAL)?;
    Ok(sent)
}

/// Received bytes and descriptors that were not taken as messages yet.
#[derive(Debug, Default)]
pub(crate) struct Frames {
    /// Memory to receive into. It is cleared when it is made, and not for each message.
    memory: Vec<u8>,
    /// How many bytes of it were received.
    received: usize,
    /// How many of those were taken as messages.
    taken: usize,
    descriptors: VecDeque<OwnedFd>,
    lost_descriptors: bool,
}

impl Frames {
    /// Receives once. Returns the number of bytes; 0 is the end of the stream.
    pub(crate) fn receive(&mut self, socket: impl AsFd, flags: RecvFlags) -> io::Result<usize> {
        if self.taken > 0 {
            self.memory.copy_within(self.taken..self.received, 0);
            self.received -= std::mem::take(&mut self.taken);
        }
        if self.received == 0 && self.memory.len() > MAX_KEPT_BYTES {
            // The memory of a long message is given back.
            self.memory.truncate(MAX_KEPT_BYTES);
            self.memory.shrink_to_fit();
        }
        let wanted = self.received + self.missing().clamp(RECEIVE_BYTES, MAX_RECEIVE_BYTES);
        if self.memory.len() < wanted {
            self.memory.resize(wanted, 0);
        }
        let room = self.memory.get_mut(self.received..).unwrap_or_default();
        let mut space = [MaybeUninit::uninit(); rustix::cmsg_space!(ScmRights(MAX_DESCRIPTORS))];
        let mut control = RecvAncillaryBuffer::new(&mut space);
        let flags = flags | RecvFlags::CMSG_CLOEXEC;
        let received = rustix::net::recvmsg(socket, &mut [IoSliceMut::new(room)], &mut control, flags);
        let received = received?;
        self.received += received.bytes;
        if received.flags.contains(ReturnFlags::CTRUNC) {
            // The kernel drops descriptors when the buffer or the process has no room for them.
            self.lost_descriptors = true;
        }
        for message in control.drain() {
            if let RecvAncillaryMessage::ScmRights(descriptors) = message {
                self.descriptors.extend(descriptors);
            }
        }
        Ok(received.bytes)
    }

    /// The number of missing bytes of a message that has begun to arrive.
    fn missing(&self) -> usize {
        let header = self.waiting().first_chunk::<4>().map_or(0, |header| u32::from_le_bytes(*header));
        (usize::try_from(header).unwrap_or(0) + 4).saturating_sub(self.received - self.taken)
    }

    /// The bytes that were not taken as messages yet.
    fn waiting(&self) -> &[u8] {
        self.memory.get(self.taken..self.received).unwrap_or_default()
    }

    /// The next message, if all of it has arrived.
    pub(crate) fn next<T: DeserializeOwned>(&mut self) -> Result<Option<T>, FrameError> {
        let Some((header, rest)) = self.waiting().split_first_chunk::<4>() else { return Ok(None) };
        let length = usize::try_from(u32::from_le_bytes(*header)).unwrap_or(usize::MAX);
        if length > MAX_MESSAGE_BYTES {
            return Err(FrameError::TooLong(length));
        }
        let Some(body) = rest.get(..length) else { return Ok(None) };
        let message = postcard::from_bytes(body)?;
        self.taken += 4 + length;
        Ok(Some(message))
    }

    /// The next descriptor. `None` also after one was lost: then it is unknown which descriptor belongs to which message.
    pub(crate) fn descriptor(&mut self) -> Option<OwnedFd> {
        if self.lost_descriptors { None } else { self.descriptors.pop_front() }
    }
}

#[cfg(test)]
mod tests {
    use std::os::fd::AsFd;

    use proptest::prelude::*;
    use rustix::net::{AddressFamily, RecvFlags, SocketFlags, SocketType, socketpair};

    use super::{Frames, encode, send};
    use crate::wire::{FromKeeper, Urgency};
    use crate::{State, Stream};

    fn pair() -> (std::os::fd::OwnedFd, std::os::fd::OwnedFd) {
        socketpair(AddressFamily::UNIX, SocketType::STREAM, SocketFlags::CLOEXEC, None).unwrap()
    }

    #[test]
    fn messages_arrive_whole_however_they_are_cut() {
        let (ours, theirs) = pair();
        let message = FromKeeper::Bytes { stream: Stream::Stderr, offset: 7, bytes: vec![9; 300] };
        let bytes = [encode(&message).unwrap(), encode(&FromKeeper::State(State::Running)).unwrap()].concat();
        let mut frames = Frames::default();
        let mut seen = Vec::new();
        for piece in bytes.chunks(5) {
            send(ours.as_fd(), piece, &[]).unwrap();
            frames.receive(&theirs, RecvFlags::empty()).unwrap();
            while let Some(message) = frames.next::<FromKeeper>().unwrap() {
                seen.push(message);
            }
        }
        assert!(matches!(
            seen.as_slice(),
            [FromKeeper::Bytes { offset: 7, .. }, FromKeeper::State(State::Running)]
        ));
    }

    #[test]
    fn descriptors_arrive_with_their_message() {
        let (ours, theirs) = pair();
        let file = tempfile::tempfile().unwrap();
        send(ours.as_fd(), &encode(&Urgency::Now).unwrap(), &[file.as_fd(), file.as_fd()]).unwrap();
        let mut frames = Frames::default();
        frames.receive(&theirs, RecvFlags::empty()).unwrap();
        assert_eq!(frames.next::<Urgency>().unwrap(), Some(Urgency::Now));
        assert!(
            frames.descriptor().is_some() && frames.descriptor().is_some() && frames.descriptor().is_none()
        );
    }

    #[test]
    fn an_absurd_length_is_refused_before_memory_is_taken() {
        let mut frames = Frames { memory: vec![0xff; 8], received: 8, ..Frames::default() };
        assert!(frames.next::<Urgency>().is_err());
    }

    proptest! {
        #[test]
        fn noise_never_panics(noise in proptest::collection::vec(any::<u8>(), 0..200)) {
            let mut frames = Frames { received: noise.len(), memory: noise, ..Frames::default() };
            while let Ok(Some(_)) = frames.next::<FromKeeper>() {}
        }
    }
}
