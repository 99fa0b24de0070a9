//! What front ends and keepers say to each other.
//!
//! One connection carries one execution at a time, and then the next. A message is a length of four bytes (little
//! endian) and that many bytes of [postcard](https://postcard.jamesmunns.com); descriptors ride on the first byte of the
//! message that they belong to. [`FromKeeper::Hello`] answers the first message of a connection: the keeper has taken it
//! in. Where the connection is reset before that (which is what the kernel does to bytes that nobody read), the keeper
//! was leaving, nothing was started, and the caller asks again.
//!
//! Output doesn't travel here. The keeper writes it to the spool files, which the caller opened, and sends ranges;
//! only what no longer fits into the file is sent as bytes. A slow reader thus costs the keeper no memory.

mod frame;
mod message;

pub(crate) use frame::{Frames, encode, send};
pub use message::Urgency;
pub(crate) use message::{FromKeeper, ToKeeper};

/// Changes with every change of the messages; part of the socket's name, so that two versions never meet.
pub(crate) const VERSION: u32 = 4;
