//! What the commands of a launcher were refused, as its broker tells it.

use std::os::fd::{AsFd, BorrowedFd, OwnedFd};

use rustix::io::Errno;
use rustix::net::RecvFlags;

use crate::{Effect, Observation};

/// A path and what is told with it.
const MAX_OBSERVATION_BYTES: usize = 8 << 10;

/// How often it is tried to read a message.
const READ_ATTEMPTS: u32 = 8;

/// The refusals of a launcher's commands, in their order. [`AsFd`] can be read when there is one, or when no more will
/// come. When nothing reads them, later ones are lost.
#[derive(Debug)]
pub struct Observations {
    socket: OwnedFd,
}

/// The next message of a broker.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Next {
    /// A refusal.
    Observation(Observation),
    /// Something that was done.
    Effect(Effect),
    /// There is none now.
    Nothing,
    /// No more will come: the broker has ended.
    Ended,
    /// They can't be read.
    Failed,
}

impl Observations {
    pub(super) const fn new(socket: OwnedFd) -> Self {
        Self { socket }
    }

    /// The next refusal. It doesn't wait.
    #[must_use]
    pub fn next(&self) -> Next {
        let mut bytes = [0; MAX_OBSERVATION_BYTES];
        let mut attempt = 1;
        loop {
            let length = match rustix::net::recv(&self.socket, &mut bytes[..], RecvFlags::DONTWAIT) {
                Ok((0, _)) => return Next::Ended,
                Ok((length, _)) => length,
                Err(Errno::AGAIN) => return Next::Nothing,
                Err(Errno::CONNRESET) => return Next::Ended,
                Err(Errno::INTR) => continue,
                // The system may be short of memory for a moment.
                Err(_) if attempt < READ_ATTEMPTS => {
                    attempt += 1;
                    continue;
                }
                Err(_) => return Next::Failed,
            };
            if let Some(effect) = bytes.get(..length).and_then(Effect::decode) {
                return Next::Effect(effect);
            }
            if let Some(observation) = bytes.get(..length).and_then(Observation::decode) {
                return Next::Observation(observation);
            }
        }
    }
}

impl AsFd for Observations {
    fn as_fd(&self) -> BorrowedFd<'_> {
        self.socket.as_fd()
    }
}
