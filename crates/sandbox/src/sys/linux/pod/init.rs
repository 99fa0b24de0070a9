//! The first process of a pod.
//!
//! It has the process id 1 in the pod, mounts the pod's `/proc`, reaps orphans, suspends all processes of the pod when the
//! keeper asks for it, and does nothing else. The kernel protects it: processes of the pod can't signal it, and when it
//! ends, the kernel kills all of them.

use std::ffi::c_int;
use std::os::fd::{AsRawFd as _, OwnedFd};
use std::path::Path;
use std::{io, ptr};

use rustix::event::{PollFd, PollFlags};
use rustix::mount::MountAttrFlags;
use rustix::net::{RecvFlags, SendFlags};
use rustix::process::{Pid, WaitOptions};

use super::error::{ConfineError, Context as _, Mechanism};
use super::mounts::{self, last_error};
use crate::sys::descriptors;
use crate::sys::signals::{self, BlockedSignals, Signal, SignalFd};

/// The short name of the process.
pub const INIT_NAME: &str = "shellgate-pod";

/// It has reaped orphans.
const REAPED: u8 = b'r';

/// The keeper wants all processes of the pod suspended; they are.
pub(in crate::sys) const SUSPEND: u8 = b's';

/// Starts the first process of the pod whose process namespace the caller has just made. Its parent is the caller's
/// parent. Returns when it has mounted `/proc`.
///
/// It ends when the other end of `socket` is closed, and sends [`REAPED`] whenever it has reaped orphans.
pub(super) fn start(socket: OwnedFd) -> Result<Pid, ConfineError> {
    let (answer, report) =
        rustix::pipe::pipe_with(rustix::pipe::PipeFlags::CLOEXEC).context(Mechanism::Process, "a pipe")?;
    let blocked = BlockedSignals::all();
    let flags = libc::CLONE_PARENT | libc::SIGCHLD;
    let none = ptr::null::<()>();
    // SAFETY: without CLONE_VM this is a fork: the child has a copy of our memory and goes on from here. We have one
    // thread, so no lock is held by another.
    let raw = unsafe { libc::syscall(libc::SYS_clone, flags, none, none, none, none) };
    let made = last_error();
    match c_int::try_from(raw).unwrap_or(-1) {
        0 => {
            drop(answer);
            run(socket, report)
        }
        -1 => Err(ConfineError::new(Mechanism::Namespaces, "starting the pod's first process", made)),
        raw => {
            drop(blocked);
            drop((socket, report));
            wait_until_ready(&answer)?;
            Pid::from_raw(raw).ok_or_else(|| {
                let source = io::Error::other("the kernel gave no process id");
                ConfineError::new(Mechanism::Process, "starting the pod's first process", source)
            })
        }
    }
}

/// Reads what the first process reports: nothing but an error's number, or 0.
fn wait_until_ready(answer: &OwnedFd) -> Result<(), ConfineError> {
    let mut number = [0; 4];
    let read = rustix::io::retry_on_intr(|| rustix::io::read(answer, &mut number))
        .context(Mechanism::Process, "the pod's first process")?;
    let source = match i32::from_ne_bytes(number) {
        0 if read == number.len() => return Ok(()),
        0 => io::Error::other("the pod's first process ended early"),
        errno => io::Error::from_raw_os_error(errno),
    };
    Err(ConfineError::new(Mechanism::Proc, "mounting it", source))
}

/// The first process itself.
fn run(socket: OwnedFd, report: OwnedFd) -> ! {
    signals::reset_dispositions();
    // SAFETY: this process runs nothing else than this function, which names no other descriptor.
    unsafe { descriptors::close_all_except(&[socket.as_raw_fd(), report.as_raw_fd()]) };
    let code = match prepare() {
        Ok(children) => {
            let told = rustix::io::write(&report, &0_i32.to_ne_bytes());
            drop(report);
            if told.is_ok() { serve(&socket, &children) } else { 1 }
        }
        Err(error) => {
            // If the launcher is gone, there is no process to tell.
            let _ = rustix::io::write(&report, &error.errno().raw_os_error().to_ne_bytes());
            1
        }
    };
    // SAFETY: ends this process at once. Exit handlers and buffers are copies of the keeper's.
    unsafe { libc::_exit(code) }
}

/// Returns a descriptor that can be read when a child has ended.
fn prepare() -> Result<SignalFd, ConfineError> {
    // Its name is how a `shellgate` inside the pod knows where it is.
    let _ = rustix::thread::set_name(c"shellgate-pod");
    let _ = rustix::process::setsid();
    // Read-only: a process whose user is root owns the machine's switches in `/proc/sys`, also without capabilities.
    let attributes = MountAttrFlags::MOUNT_ATTR_RDONLY
        | MountAttrFlags::MOUNT_ATTR_NOSUID
        | MountAttrFlags::MOUNT_ATTR_NODEV
        | MountAttrFlags::MOUNT_ATTR_NOEXEC;
    let proc = mounts::new_filesystem(c"proc", &[], attributes).context(Mechanism::Proc, "making it")?;
    mounts::attach(&proc, Path::new("/proc")).context(Mechanism::Proc, "mounting it")?;
    SignalFd::open(&[Signal::Child]).context(Mechanism::Process, "a descriptor for ended children")
}

/// Reaps orphans until the keeper closes its end of `socket`.
fn serve(socket: &OwnedFd, children: &SignalFd) -> c_int {
    // A socket that is full has told the keeper already.
    let tell = |word: u8| {
        let _ = rustix::net::send(socket, &[word], SendFlags::DONTWAIT | SendFlags::NOSIGNAL);
    };
    loop {
        let mut wanted = [PollFd::new(socket, PollFlags::IN), PollFd::new(children, PollFlags::IN)];
        if rustix::io::retry_on_intr(|| rustix::event::poll(&mut wanted, None)).is_err() {
            return 1;
        }
        let [keeper, ended] = &wanted;
        if keeper.revents().intersects(PollFlags::HUP | PollFlags::ERR) {
            return 0;
        }
        if ended.revents().contains(PollFlags::IN) {
            while let Ok(Some(_)) = children.next() {}
            let mut any = false;
            while let Ok(Some(_)) = rustix::process::wait(WaitOptions::NOHANG) {
                any = true;
            }
            if any {
                tell(REAPED);
            }
        }
        if keeper.revents().contains(PollFlags::IN) {
            let mut word = [0];
            if rustix::net::recv(socket, &mut word, RecvFlags::DONTWAIT).is_ok() && word == [SUSPEND] {
                suspend_all();
                tell(SUSPEND);
            }
        }
    }
}

/// Suspends all processes of the pod but this one, at once: the kernel lets none of them fork in between.
fn suspend_all() {
    const EVERY_PROCESS: c_int = -1;
    // SAFETY: a signal touches no memory. This process is the first of its namespace, so others are out of reach.
    let _ = unsafe { libc::kill(EVERY_PROCESS, libc::SIGSTOP) };
}
