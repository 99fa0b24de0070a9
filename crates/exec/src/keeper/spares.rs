//! Descriptors that are held for the moment when no other is left.
//!
//! A keeper that can't open a descriptor can't take a connection, so no front end could list or stop its commands.
//! The keeper then closes its spare descriptors, and starts no command until it has them again.

use std::os::fd::{BorrowedFd, OwnedFd};

use rustix::process::Resource;

/// How many are held, unless few can be open at all.
const MAX_SPARES: usize = 16;

/// The descriptors that are held.
#[derive(Debug)]
pub(super) struct Spares {
    held: Vec<OwnedFd>,
    wanted: usize,
}

impl Spares {
    /// None yet, for a process with this limit of open descriptors.
    pub(super) fn new() -> Self {
        let limit = rustix::process::getrlimit(Resource::Nofile).current;
        let quarter = limit.and_then(|limit| usize::try_from(limit / 4).ok());
        Self { held: Vec::new(), wanted: quarter.map_or(MAX_SPARES, |quarter| quarter.min(MAX_SPARES)) }
    }

    /// Takes copies of `descriptor` as long as some are missing and can be had.
    pub(super) fn refill(&mut self, descriptor: BorrowedFd<'_>) {
        while !self.are_complete() {
            match rustix::io::fcntl_dupfd_cloexec(descriptor, 0) {
                Ok(copy) => self.held.push(copy),
                Err(_) => return,
            }
        }
    }

    /// Whether none is missing.
    pub(super) fn are_complete(&self) -> bool {
        self.held.len() >= self.wanted
    }

    /// Gives all of them up. Returns whether there were any.
    pub(super) fn release(&mut self) -> bool {
        !std::mem::take(&mut self.held).is_empty()
    }
}
