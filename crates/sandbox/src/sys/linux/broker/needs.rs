//! What a command in a trial needs: calls that only a trial holds.
//!
//! The broker looks at them, and they go on. A trial has nothing to write, no network and no other processes, so the kernel
//! refuses them, whatever the command does to its memory meanwhile.

use std::os::fd::{AsFd as _, BorrowedFd, OwnedFd};

use rustix::event::{PollFd, PollFlags, Timespec};
use rustix::fs::{AtFlags, FileType};
use rustix::io::Errno;

use super::context::Context;
use super::effects::{file, is_no_file, is_read_only, shown_address};
use super::kernel;
use super::notifications::Reply;
use super::protections::path_of;
use super::target::Target;
use crate::observation::{Operation, RefusalRule};

/// Errors of a connection that say that no program listens there.
const UNREACHED: [Errno; 7] = [
    Errno::NETUNREACH,
    Errno::HOSTUNREACH,
    Errno::CONNREFUSED,
    Errno::ADDRNOTAVAIL,
    Errno::NETDOWN,
    Errno::TIMEDOUT,
    Errno::ACCESS,
];

/// A connection within the trial is made before the call returns; this is for a busy machine.
const CONNECTION_WAIT: Timespec = Timespec { tv_sec: 0, tv_nsec: 20_000_000 };

/// Where a call has the path that it asks about, by the positions of its arguments.
#[derive(Clone, Copy, Debug)]
pub(super) enum FileArgument {
    /// A path.
    Path(usize),
    /// The descriptor of a folder, and a path. Without a path it is the descriptor's own file.
    At(usize, usize),
}

/// The calls that ask whether a file can be written. Those that change one are looked at for all commands.
const QUESTIONS: &[(i64, FileArgument)] = &[
    (libc::SYS_faccessat, FileArgument::At(0, 1)),
    (libc::SYS_faccessat2, FileArgument::At(0, 1)),
    #[cfg(target_arch = "x86_64")]
    (libc::SYS_access, FileArgument::Path(0)),
];

/// Where a call has the file that it asks about. `None`: it doesn't ask.
pub(super) fn asked_file(call: i64) -> Option<FileArgument> {
    QUESTIONS.iter().find(|(number, _)| *number == call).map(|(_, file)| *file)
}

/// Looks at a call that asks whether a file can be written. The kernel does it.
pub(super) fn ask(context: &Context, target: &Target<'_>, argument: FileArgument) -> Reply {
    let found = found_file(context, target, argument).and_then(|file| {
        let path = path_of(context.proc(), file.as_fd())?;
        let stat = rustix::fs::fstat(&file)?;
        // A device can be written on a read-only mount.
        let is_file =
            matches!(FileType::from_raw_mode(stat.st_mode), FileType::RegularFile | FileType::Directory);
        Ok((path, is_file && is_read_only(file.as_fd())))
    });
    if let Ok((path, true)) = found
        && !is_no_file(&path)
    {
        context.tell_read_only(target, Operation::Change, (&path, path.len()));
    }
    Reply::Continue
}

fn found_file(context: &Context, target: &Target<'_>, argument: FileArgument) -> Result<OwnedFd, Errno> {
    match argument {
        FileArgument::Path(path) => file(context, target, (libc::AT_FDCWD, target.long(path))),
        FileArgument::At(folder, path) => match target.path_or_empty(target.long(path)) {
            Ok(name) if !name.is_empty() => file(context, target, (target.int(folder), target.long(path))),
            _ => target.descriptor(target.int(folder)),
        },
    }
}

/// Looks at a `kill`. The kernel does it.
pub(super) fn signal(context: &Context, target: &Target<'_>) -> Reply {
    let process = target.int(0);
    // The launcher's `/proc` has the processes of the pod.
    let is_there = || rustix::fs::statat(&context.root, format!("proc/{process}"), AtFlags::empty()).is_ok();
    if context.refusals.is_trial() && process > 0 && !is_there() {
        let number = process.to_string();
        context.tell(
            target,
            (Operation::Signal, RefusalRule::NoProcess),
            (number.as_bytes(), number.len()),
            Errno::SRCH,
        );
    }
    Reply::Continue
}

/// Tells of a connection to an address where no program listens. A datagram socket is connected all the same.
pub(super) fn connected(
    context: &Context,
    target: &Target<'_>,
    socket: BorrowedFd<'_>,
    (address, error): (&[u8], Option<Errno>),
) {
    if !context.refusals.is_trial() {
        return;
    }
    let is_datagram = || kernel::socket_option(socket, libc::SO_TYPE) == Ok(libc::SOCK_DGRAM);
    let is_unreached = match error {
        None => is_datagram(),
        Some(Errno::INPROGRESS) => !is_connected_soon(socket),
        Some(errno) => UNREACHED.contains(&errno),
    };
    if is_unreached {
        tell_unreached(context, target, address);
    }
}

/// Whether a connection that is being made succeeds at once, as one within the trial does. Looking at it takes no error away
/// from the command.
fn is_connected_soon(socket: BorrowedFd<'_>) -> bool {
    let mut wanted = [PollFd::from_borrowed_fd(socket, PollFlags::OUT)];
    let found = rustix::event::poll(&mut wanted, Some(&CONNECTION_WAIT));
    let [seen] = wanted.map(|one| one.revents());
    found == Ok(1) && seen.contains(PollFlags::OUT) && !seen.intersects(PollFlags::ERR | PollFlags::HUP)
}

/// Tells of a datagram to an address.
pub(super) fn sent_to(context: &Context, target: &Target<'_>, address: impl FnOnce() -> Option<Vec<u8>>) {
    if context.refusals.is_trial()
        && let Some(address) = address()
    {
        tell_unreached(context, target, &address);
    }
}

fn tell_unreached(context: &Context, target: &Target<'_>, address: &[u8]) {
    if let Some(shown) = shown_address(address) {
        let shown = shown.as_bytes();
        let what = (Operation::Connect, RefusalRule::NoNetwork);
        context.tell(target, what, (shown, shown.len()), Errno::NETUNREACH);
    }
}
