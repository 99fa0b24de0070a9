//! What the keeper waits for: one `epoll`, and a name for everything in it.

use std::io;
use std::os::fd::{AsFd, OwnedFd};
use std::time::{Duration, Instant};

use rustix::buffer::spare_capacity;
use rustix::event::epoll::{self, CreateFlags, Event, EventData, EventFlags};
use rustix::io::Errno;
use rustix::time::Timespec;

use super::connection::ConnectionKey;
use super::tree::RunKey;
use crate::Stream;

/// Something that the keeper listens to.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Token {
    /// Somebody wants to connect.
    Listener,
    /// A signal has come.
    Signals,
    /// A front end says something, or can be told more.
    Connection(ConnectionKey),
    /// A command has printed something.
    Pipe(RunKey, Stream),
    /// A command has room for input.
    Input(RunKey),
}

impl Token {
    // Keys count up from 1 and are never used twice, so three bits of the 64 are to spare.
    const fn encode(self) -> u64 {
        match self {
            Self::Listener => 0,
            Self::Signals => 1,
            Self::Connection(key) => key << 3 | 2,
            Self::Pipe(key, Stream::Stdout) => key << 3 | 3,
            Self::Pipe(key, Stream::Stderr) => key << 3 | 4,
            Self::Input(key) => key << 3 | 5,
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
            _ => Self::Pipe(key, Stream::Stderr),
        }
    }
}

/// What is wanted of a descriptor.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Interest {
    /// Nothing for now.
    None,
    /// To read.
    Read,
    /// To read and to write.
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

/// The set of things waited for.
pub(super) struct Events {
    epoll: OwnedFd,
    ready: Vec<Event>,
}

impl Events {
    pub(super) fn new() -> io::Result<Self> {
        Ok(Self { epoll: epoll::create(CreateFlags::CLOEXEC)?, ready: Vec::with_capacity(64) })
    }

    /// Listens to `source` from now on. Until it is forgotten, or closed by everybody who has a copy.
    pub(super) fn add(&self, source: impl AsFd, token: Token) -> io::Result<()> {
        Ok(epoll::add(&self.epoll, source, EventData::new_u64(token.encode()), Interest::Read.flags())?)
    }

    /// Waits for room in `sink`, until [`forget`](Self::forget).
    pub(super) fn add_sink(&self, sink: impl AsFd, token: Token) -> io::Result<()> {
        Ok(epoll::add(&self.epoll, sink, EventData::new_u64(token.encode()), EventFlags::OUT)?)
    }

    /// Waits for it no longer. A descriptor that hung up would wake us for ever, whatever we want of it.
    pub(super) fn forget(&self, what: impl AsFd) {
        let _ = epoll::delete(&self.epoll, what);
    }

    pub(super) fn change(&self, source: impl AsFd, token: Token, interest: Interest) {
        let _ = epoll::modify(&self.epoll, source, EventData::new_u64(token.encode()), interest.flags());
    }

    /// Waits until something happens or `deadline` comes.
    pub(super) fn wait(&mut self, deadline: Option<Instant>) -> io::Result<Vec<Token>> {
        let timeout = deadline.map(|deadline| timespec(deadline.saturating_duration_since(Instant::now())));
        self.ready.clear();
        match epoll::wait(&self.epoll, spare_capacity(&mut self.ready), timeout.as_ref()) {
            Ok(_) | Err(Errno::INTR) => {}
            Err(error) => return Err(error.into()),
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
    fn tokens_survive_the_kernel() {
        let tokens = [
            Token::Listener,
            Token::Signals,
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
