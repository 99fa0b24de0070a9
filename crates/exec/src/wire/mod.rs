//! The protocol between front ends and keepers.
//!
//! A connection carries one execution at a time. A message is its length in four bytes (little endian) and as many bytes
//! of [postcard](https://postcard.jamesmunns.com). Descriptors are attached to the first byte of their message.
//! [`FromKeeper::Hello`] answers the first message of a connection: the keeper has received it. When the connection is
//! reset before that, which the kernel does when bytes were not read, the keeper was about to exit. Nothing was started,
//! and the caller connects again.
//!
//! Output is not sent here. The keeper writes it to the spool files, which the caller created, and sends ranges. Only
//! bytes that don't fit into the file any more are sent themselves. So a slow reader costs the keeper no memory.

mod frame;
mod lasting;
mod message;

pub(crate) use frame::{Frames, encode, send};
pub(crate) use lasting::{KnownParts, SentParts};
pub use message::Urgency;
pub(crate) use message::{FromKeeper, SpoolKind, ToKeeper};

/// Changes with every change of the messages. It is part of the socket's name, so that two versions never talk to each
/// other.
pub(crate) const VERSION: u32 = 8;
