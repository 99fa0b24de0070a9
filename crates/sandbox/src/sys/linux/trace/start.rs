//! Tracing a command from before its first program on.

use std::io::{self, IoSliceMut};
use std::mem::MaybeUninit;
use std::os::fd::{AsFd as _, BorrowedFd, OwnedFd};

use rustix::event::{PollFd, PollFlags};
use rustix::io::Errno;
use rustix::net::{
    AddressFamily, RecvAncillaryBuffer, RecvAncillaryMessage, RecvFlags, SendFlags, SocketFlags, SocketType,
};
use rustix::process::Pid;

use super::wait::{change_of, has_ended};
use super::{Change, Stop, StopKind, kernel};

/// Who answers the stops of a command while it is started.
pub trait Tracer {
    /// `process` is traced from now on. Its program has not begun.
    fn attached(&mut self, process: Pid);

    /// Answers a stop.
    fn stopped(&mut self, stop: Stop);
}

/// A socket that a held process waits on, and our end, which learns its process id.
pub(in crate::sys) fn socket_pair() -> io::Result<(OwnedFd, OwnedFd)> {
    let (ours, theirs) =
        rustix::net::socketpair(AddressFamily::UNIX, SocketType::STREAM, SocketFlags::CLOEXEC, None)?;
    // The kernel then adds the process id to what is written, as we know it.
    rustix::net::sockopt::set_socket_passcred(&ours, true)?;
    Ok((ours, theirs))
}

/// Waits until a process holds before its program, and returns it. `None`: the launcher has answered instead.
pub(in crate::sys) fn receive_held(
    socket: BorrowedFd<'_>,
    launcher: BorrowedFd<'_>,
) -> io::Result<Option<Pid>> {
    let mut wanted =
        [PollFd::from_borrowed_fd(socket, PollFlags::IN), PollFd::from_borrowed_fd(launcher, PollFlags::IN)];
    rustix::io::retry_on_intr(|| rustix::event::poll(&mut wanted, None))?;
    let [held, _] = &wanted;
    if !held.revents().contains(PollFlags::IN) {
        return Ok(None);
    }
    let mut byte = [0];
    let mut space = [MaybeUninit::uninit(); rustix::cmsg_space!(ScmCredentials(1))];
    let mut ancillary = RecvAncillaryBuffer::new(&mut space);
    let received = rustix::io::retry_on_intr(|| {
        let mut slices = [IoSliceMut::new(&mut byte)];
        rustix::net::recvmsg(socket, &mut slices, &mut ancillary, RecvFlags::empty())
    })?;
    let sender = ancillary.drain().find_map(|message| match message {
        RecvAncillaryMessage::ScmCredentials(sender) => Some(sender.pid),
        _ => None,
    });
    Ok(sender.filter(|_| received.bytes == 1))
}

/// Traces a held process, lets it go on, and answers its stops up to the one after its program is loaded.
pub(in crate::sys) fn release(held: Pid, socket: &OwnedFd, tracer: &mut dyn Tracer) -> io::Result<()> {
    kernel::seize(held)?;
    tracer.attached(held);
    rustix::io::retry_on_intr(|| rustix::net::send(socket.as_fd(), &[0], SendFlags::NOSIGNAL))?;
    follow_to_program(held, tracer)
}

/// Traces a process that waits for its plan. It runs nothing yet.
pub(in crate::sys) fn seize(waiting: Pid) -> io::Result<()> {
    kernel::seize(waiting)
}

/// Answers the stops of a traced process up to the one after its program is loaded.
pub(in crate::sys) fn follow_to_program(held: Pid, tracer: &mut dyn Tracer) -> io::Result<()> {
    loop {
        // One that was killed is left to be waited for as every child is.
        if has_ended(held)? {
            return Ok(());
        }
        let Some(Change::Stopped(stop)) = change_of(held)? else { return Err(Errno::CHILD.into()) };
        match stop.kind {
            // A signal suspends it before its program runs. The launcher waits for us, so we let it go on.
            StopKind::Suspended => Stop { kind: StopKind::Notice, ..stop }.resume(),
            _ => tracer.stopped(stop),
        }
        if matches!(stop.kind, StopKind::Program { .. }) {
            return Ok(());
        }
    }
}
