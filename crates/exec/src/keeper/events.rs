//! Everything that the keeper waits for, in one `epoll`.

use std::io;
use std::os::fd::{AsFd, OwnedFd};
use std::time::{Duration, Instant};

use rustix::buffer::spare_capacity;
use rustix::event::epoll::{self, CreateFlags, Event, EventData, EventFlags};
use rustix::io::Errno;
use rustix::time::Timespec;

use super::confined::LauncherKey;
use super::connection::ConnectionKey;
use super::tree::RunKey;
use crate::Stream;

/// Something that the keeper waits for.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Token {
    /// A front end connects.
    Listener,
    /// A signal has arrived.
    Signals,
    /// A front end has sent something, or takes more bytes.
    Connection(ConnectionKey),
    /// A command has printed something.
    Pipe(RunKey, Stream),
    /// A command's terminal takes more input.
    Input(RunKey),
    /// Orphans in the pod have ended, or the pod has.
    Pod,
    /// Commands of a launcher were refused something, or the launcher's broker has ended.
    Refusals(LauncherKey),
}

impl Token {
    // Keys count up from 1, so they never need the upper three of the 64 bits.
    const fn encode(self) -> u64 {
        match self {
            Self::Listener => 0,
            Self::Signals => 1,
            Self::Connection(key) => key << 3 | 2,
            Self::Pipe(key, Stream::Stdout) => key << 3 | 3,
            Self::Pipe(key, Stream::Stderr) => key << 3 | 4,
            Self::Input(key) => key << 3 | 5,
            Self::Pod => 6,
            Self::Refusals(key) => key << 3 | 7,
        }
    }

    const fn decode(number: u64) -> Self {
        let key = number >> 3;
        match number & 7 {
            0 => Self::Listener,
            1 => Self::Signals,
            2 => Self::Connection(key),
            3 => Self::Pipe(key, Stream::Stdout),
            5 => Self::Input(key),
            6 => Self::Pod,
            7 => Self::Refusals(key),
            _ => Self::Pipe(key, Stream::Stderr),
        }
    }
}

/// The events that are wanted of a descriptor.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Interest {
    /// None for now.
    None,
    /// It can be read.
    Read,
    /// It can be read or written.
    ReadAndWrite,
}

impl Interest {
    const fn flags(self) -> EventFlags {
        match self {
            Self::None => EventFlags::empty(),
            Self::Read => EventFlags::IN,
            Self::ReadAndWrite => EventFlags::IN.union(EventFlags::OUT),
        }
    }
}

/// The descriptors that the keeper waits for.
pub(super) struct Events {
    epoll: OwnedFd,
    ready: Vec<Event>,
}

impl Events {
    pub(super) fn new() -> io::Result<Self> {
        Ok(Self { epoll: epoll::create(CreateFlags::CLOEXEC)?, ready: Vec::with_capacity(64) })
    }

    /// Waits for `source` to be readable, until [`forget`](Self::forget) or until all copies of it are closed.
    pub(super) fn add(&self, source: impl AsFd, token: Token) -> io::Result<()> {
        Ok(epoll::add(&self.epoll, source, EventData::new_u64(token.encode()), Interest::Read.flags())?)
    }

    /// Waits for room in `sink`, until [`forget`](Self::forget).
    pub(super) fn add_sink(&self, sink: impl AsFd, token: Token) -> io::Result<()> {
        Ok(epoll::add(&self.epoll, sink, EventData::new_u64(token.encode()), EventFlags::OUT)?)
    }

    /// Stops waiting for a descriptor. One that was hung up would wake the keeper again and again, even with no interest.
    pub(super) fn forget(&self, what: impl AsFd) {
        // An error means that it was not waited for.
        let _ = epoll::delete(&self.epoll, what);
    }

    pub(super) fn change(&self, source: impl AsFd, token: Token, interest: Interest) {
        // An error means that it is not waited for.
        let _ = epoll::modify(&self.epoll, source, EventData::new_u64(token.encode()), interest.flags());
    }

    /// Waits until something happens, or until `deadline`.
    pub(super) fn wait(&mut self, deadline: Option<Instant>) -> io::Result<Vec<Token>> {
        let mut timeout =
            deadline.map(|deadline| timespec(deadline.saturating_duration_since(Instant::now())));
        self.ready.clear();
        loop {
            match epoll::wait(&self.epoll, spare_capacity(&mut self.ready), timeout.as_ref()) {
                Ok(_) => break,
                // The keeper was suspended for a while. What happened meanwhile comes before a deadline that passed.
                Err(Errno::INTR) => timeout = Some(timespec(Duration::ZERO)),
                Err(error) => return Err(error.into()),
            }
        }
        Ok(self.ready.iter().map(|event| Token::decode(event.data.u64())).collect())
    }
}

fn timespec(duration: Duration) -> Timespec {
    Timespec {
        tv_sec: i64::try_from(duration.as_secs()).unwrap_or(i64::MAX),
        tv_nsec: i64::from(duration.subsec_nanos()),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn tokens_are_decoded_as_they_were_encoded() {
        let tokens = [
            Token::Listener,
            Token::Signals,
            Token::Pod,
            Token::Refusals(5),
            Token::Connection(1),
            Token::Pipe(77, Stream::Stdout),
            Token::Pipe(1 << 50, Stream::Stderr),
            Token::Input(3),
        ];
        for token in tokens {
            assert_eq!(Token::decode(token.encode()), token);
        }
    }
}
