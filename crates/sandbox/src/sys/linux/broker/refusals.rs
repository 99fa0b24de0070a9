//! Telling the keeper what was refused.
//!
//! The broker refuses by itself what is protected, and sockets of others. What lies outside the writable places the kernel
//! refuses, by read-only mounts: the broker sees that in the error of the call that it made for the command. A file's own
//! permissions have another error, and are no refusal of the sandbox.
//!
//! # A command that is refused a million times
//!
//! It costs the keeper nothing: what was told a moment ago is not told again. Where all paths differ, the socket to the
//! keeper is the bound. It has room for a few hundred messages, and all commands of the launcher share it. So the first
//! refusals of each command wait for room, for a moment; after them, what doesn't fit is lost. In a trial all of them wait
//! for as long as it takes: what the trial needs must not be lost.

use std::hash::{DefaultHasher, Hash as _, Hasher as _};
use std::os::fd::{AsFd as _, BorrowedFd, OwnedFd};
use std::path::PathBuf;
use std::sync::atomic::{AtomicU64, Ordering};

use rustix::event::{PollFd, PollFlags, Timespec};
use rustix::io::Errno;
use rustix::net::SendFlags;

use super::context::Context;
use super::kernel;
use super::protections::{as_path, path_of};
use super::target::Target;
use super::walk::Place;
use crate::confinement::Observing;
use crate::observation::{Observation, Operation, RefusalRule};

/// How many refusals are remembered, so that they are not told again.
const REMEMBERED_REFUSALS: usize = 256;

/// How often it is tried to send a message.
const SEND_ATTEMPTS: u32 = 8;

/// How many refusals of one command wait for room in the socket. The keeper keeps no more than that of one execution.
const PATIENT_REFUSALS: u64 = 32;

/// How many commands are counted at the same time.
const COUNTED_COMMANDS: usize = 64;

/// The longest time that a refusal waits for room. A keeper reads within less, unless it is stopped.
const MAX_WAIT: Timespec = Timespec { tv_sec: 0, tv_nsec: 200_000_000 };

/// Where refusals are told, and which were told.
pub(super) struct Refusals {
    /// A socket for messages to the keeper.
    keeper: OwnedFd,
    /// Places that commands can write. A read-only file in them is not the sandbox's doing.
    writable: Vec<PathBuf>,
    observing: Observing,
    /// Hashes of refusals that were told. Each hash has one place that it can be in.
    told: [AtomicU64; REMEMBERED_REFUSALS],
    /// How many refusals of a command were told: its tag, and the count in the lowest byte. Each tag has one place that it can
    /// be in.
    counts: [AtomicU64; COUNTED_COMMANDS],
}

/// What happens to a message for which the socket has no room.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Patience {
    /// It is lost.
    None,
    /// It waits for [`MAX_WAIT`], then it is lost.
    Short,
    /// It waits until the keeper has read others.
    Endless,
}

/// How much of a path has to be granted.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Extent {
    /// The file or socket.
    Whole,
    /// The folder that it is in: a file that doesn't exist can't be made writable.
    Folder,
}

impl Refusals {
    pub(super) const fn new(keeper: OwnedFd, writable: Vec<PathBuf>, observing: Observing) -> Self {
        Self {
            keeper,
            writable,
            observing,
            told: [const { AtomicU64::new(0) }; REMEMBERED_REFUSALS],
            counts: [const { AtomicU64::new(0) }; COUNTED_COMMANDS],
        }
    }

    /// Whether commands run in a trial.
    pub(super) fn is_trial(&self) -> bool {
        self.observing == Observing::Needs
    }

    /// Sends a message to the keeper, and returns whether that was done.
    pub(super) fn send(&self, message: &[u8], mut patience: Patience) -> bool {
        let wait = if patience == Patience::Endless { SendFlags::empty() } else { SendFlags::DONTWAIT };
        let flags = wait | SendFlags::NOSIGNAL;
        for _ in 0..SEND_ATTEMPTS {
            match rustix::net::send(&self.keeper, message, flags) {
                Ok(_) => return true,
                Err(Errno::AGAIN) if patience == Patience::Short => {
                    // Other threads may take the room. Then this one goes without.
                    patience = Patience::None;
                    let mut room = [PollFd::new(&self.keeper, PollFlags::OUT)];
                    let _ = rustix::event::poll(&mut room, Some(&MAX_WAIT));
                }
                // There is no room, or no keeper.
                Err(Errno::AGAIN | Errno::PIPE | Errno::CONNRESET) => return false,
                // The system may be short of memory for a moment.
                Err(_) => {}
            }
        }
        false
    }

    /// How long the next refusal of a command may wait for room.
    fn patience(&self, tag: u64) -> Patience {
        if self.is_trial() {
            return Patience::Endless;
        }
        let place = usize::try_from(tag).unwrap_or(0) % COUNTED_COMMANDS;
        let Some(entry) = self.counts.get(place) else { return Patience::None };
        let (old, tag) = (entry.load(Ordering::Relaxed), tag << 8);
        let count = if old & !0xff == tag { old & 0xff } else { 0 };
        if count >= PATIENT_REFUSALS {
            return Patience::None;
        }
        // Two threads may count as one: a command then has one more.
        entry.store(tag | (count + 1), Ordering::Relaxed);
        Patience::Short
    }

    /// Tells the keeper, unless it was told a moment ago.
    fn tell(&self, observation: &Observation) {
        let mut hasher = DefaultHasher::new();
        (observation.tag, observation.operation, observation.rule, &observation.path).hash(&mut hasher);
        // A place that was never used has 0.
        let hash = hasher.finish() | 1;
        let place = usize::try_from(hash >> 1).unwrap_or(0) % REMEMBERED_REFUSALS;
        let Some(told) = self.told.get(place) else { return };
        if told.load(Ordering::Relaxed) == hash {
            return;
        }
        // After one for which there was no room the next one like it is told.
        if self.send(&observation.encode(), self.patience(observation.tag)) {
            told.store(hash, Ordering::Relaxed);
        }
    }
}

impl Context {
    /// Tells the keeper of a refusal by the broker, and returns the error for the command.
    pub(super) fn refuse(
        &self,
        target: &Target<'_>,
        operation: Operation,
        rule: RefusalRule,
        path: &[u8],
    ) -> Errno {
        let grant = match rule {
            RefusalRule::Protected => self.protections.protected_length(self.proc(), path),
            RefusalRule::ForeignSocket
            | RefusalRule::ReadOnly
            | RefusalRule::NoNetwork
            | RefusalRule::NoProcess
            | RefusalRule::Debugger => path.len(),
        };
        self.tell(target, (operation, rule), (path, grant), Errno::ACCESS)
    }

    /// Tells the keeper that a debugger was refused, and returns the error for the command.
    pub(super) fn refuse_debugger(&self, target: &Target<'_>) -> Errno {
        let (what, name) = ((Operation::Trace, RefusalRule::Debugger), b"ptrace");
        self.tell(target, what, (name, name.len()), Errno::PERM)
    }

    /// Passes on the result of an operation on a name, and tells the keeper if a read-only mount refused it.
    pub(super) fn observe<T>(
        &self,
        target: &Target<'_>,
        operation: Operation,
        (place, extent): (&Place<'_>, Extent),
        result: Result<T, Errno>,
    ) -> Result<T, Errno> {
        if result.is_ok() && extent == Extent::Folder {
            self.tell_written(target, place);
        }
        if let Err(Errno::ROFS) = result
            && let Ok(mut path) = path_of(self.proc(), place.folder.as_fd())
        {
            let folder = path.len();
            if path.last() != Some(&b'/') {
                path.push(b'/');
            }
            path.extend_from_slice(place.bare_name());
            let grant = if extent == Extent::Folder { folder } else { path.len() };
            self.tell_read_only(target, operation, (&path, grant));
        }
        result
    }

    /// The same for an operation on a file that exists.
    pub(super) fn observe_file<T>(
        &self,
        target: &Target<'_>,
        operation: Operation,
        file: BorrowedFd<'_>,
        result: Result<T, Errno>,
    ) -> Result<T, Errno> {
        if let Err(Errno::ROFS) = result
            && let Ok(path) = path_of(self.proc(), file)
        {
            self.tell_read_only(target, operation, (&path, path.len()));
        }
        result
    }

    pub(super) fn tell_read_only(
        &self,
        target: &Target<'_>,
        operation: Operation,
        (path, grant): (&[u8], usize),
    ) {
        let whole = as_path(path);
        if !self.refusals.writable.iter().any(|writable| whole.starts_with(writable)) {
            self.tell(target, (operation, RefusalRule::ReadOnly), (path, grant), Errno::ROFS);
        }
    }

    pub(super) fn tell(
        &self,
        target: &Target<'_>,
        (operation, rule): (Operation, RefusalRule),
        (path, grant): (&[u8], usize),
        errno: Errno,
    ) -> Errno {
        // While the thread is held, its number means no other one.
        let tag = kernel::lock_limit(target.held.thread).and_then(|tag| target.confirm().map(|()| tag));
        self.refusals.tell(&Observation {
            operation,
            path: as_path(path),
            grant: as_path(path.get(..grant).unwrap_or(path)),
            errno: errno.raw_os_error(),
            rule,
            tag: tag.unwrap_or(0),
        });
        errno
    }
}

#[cfg(test)]
mod tests {
    use rustix::net::{AddressFamily, RecvFlags, SocketFlags, SocketType, recv, socketpair};

    use super::*;

    fn refusal(tag: u64, number: usize) -> Observation {
        let path = PathBuf::from(format!("/outside/{number}"));
        let (operation, rule) = (Operation::Open, RefusalRule::ReadOnly);
        Observation { operation, grant: path.clone(), path, errno: 30, rule, tag }
    }

    /// Reads a message as soon as there is one.
    fn next_tag(keeper: &OwnedFd) -> Option<u64> {
        let mut message = vec![0; 16 << 10];
        let (length, _) = recv(keeper, message.as_mut_slice(), RecvFlags::empty()).unwrap();
        Observation::decode(&message[..length]).map(|observation| observation.tag)
    }

    #[test]
    fn a_flood_of_one_command_costs_no_other_one_a_refusal() {
        let (broker, keeper) =
            socketpair(AddressFamily::UNIX, SocketType::SEQPACKET, SocketFlags::CLOEXEC, None).unwrap();
        let refusals = Refusals::new(broker, Vec::new(), Observing::Refusals);
        let (flooding, quiet) = (2 << 60 | 1, 2 << 60 | 2);
        // The keeper doesn't read. Once the socket is full, a command that has waited before no longer waits.
        let mut number = 0;
        while refusals.send(&refusal(flooding, number).encode(), Patience::None) {
            number += 1;
        }
        for number in 0..PATIENT_REFUSALS {
            assert_eq!(refusals.patience(flooding), Patience::Short, "{number}");
        }
        assert_eq!(refusals.patience(flooding), Patience::None);
        refusals.tell(&refusal(flooding, number));
        std::thread::scope(|scope| {
            let told = scope.spawn(|| refusals.tell(&refusal(quiet, 0)));
            let tags: Vec<_> = (0..=number).map(|_| next_tag(&keeper)).collect();
            told.join().unwrap();
            assert_eq!(tags.last(), Some(&Some(quiet)));
        });
    }

    #[test]
    fn a_keeper_that_never_reads_holds_a_command_up_for_a_moment_only() {
        let (broker, _keeper) =
            socketpair(AddressFamily::UNIX, SocketType::SEQPACKET, SocketFlags::CLOEXEC, None).unwrap();
        let refusals = Refusals::new(broker, Vec::new(), Observing::Refusals);
        while refusals.send(b"x", Patience::None) {}
        assert!(!refusals.send(b"x", Patience::Short));
    }
}
