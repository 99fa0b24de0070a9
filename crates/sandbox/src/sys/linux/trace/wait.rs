//! Waiting for children and for what is traced.

use std::ffi::c_int;
use std::io;

use rustix::process::{Pid, Signal};

use super::{kernel, raw};
use crate::sys::reap::{self, Dead};

/// Something that happened to a child, or to a thread that is traced.
#[derive(Clone, Copy, Debug)]
pub enum Change {
    /// It has ended, and was waited for. Threads that are traced are told of, too.
    Ended(Dead),
    /// It is stopped until it is told to go on.
    Stopped(Stop),
}

/// A thread that is stopped.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Stop {
    /// The thread.
    pub thread: Pid,
    /// Why.
    pub kind: StopKind,
}

/// Why a thread is stopped.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum StopKind {
    /// It has started this thread or process, which is traced too.
    Started(Pid),
    /// It is about to call `execve` or `execveat`: [`ExecCall`](super::ExecCall) reads it.
    ExecCall,
    /// It is a new program, none of whose instructions has run. The thread is its process. `former`: the thread that
    /// called `exec`.
    Program {
        /// The thread that called `exec`.
        former: Option<Pid>,
    },
    /// Its process is suspended by a signal.
    Suspended,
    /// It gets this signal.
    Signal(i32),
    /// It is new, or its process was continued.
    Notice,
}

/// The next change of any child or traced thread. `None`: there is none now. It doesn't wait.
///
/// # Errors
/// `ECHILD` when there is neither.
pub fn next_change() -> io::Result<Option<Change>> {
    Ok(reap::wait(-1, libc::WNOHANG | libc::__WALL)?.map(Change::of))
}

/// The next change of this child. Waits for it.
pub(super) fn change_of(child: Pid) -> io::Result<Option<Change>> {
    Ok(reap::wait(raw(child), libc::__WALL)?.map(Change::of))
}

/// Waits for a change of this child, and returns whether it has ended. It stays to be waited for.
pub(super) fn has_ended(child: Pid) -> io::Result<bool> {
    let options = libc::WEXITED | libc::WSTOPPED | libc::WNOWAIT | libc::__WALL;
    // SAFETY: plain data, for which zero is valid.
    let mut info: libc::siginfo_t = unsafe { std::mem::zeroed() };
    loop {
        // SAFETY: the kernel writes one structure.
        let waited = unsafe { libc::waitid(libc::P_PID, raw(child).unsigned_abs(), &raw mut info, options) };
        let error = io::Error::last_os_error();
        match waited {
            0 => return Ok(matches!(info.si_code, libc::CLD_EXITED | libc::CLD_KILLED | libc::CLD_DUMPED)),
            _ if error.kind() == io::ErrorKind::Interrupted => {}
            _ => return Err(error),
        }
    }
}

impl Change {
    fn of((dead, status): (Dead, c_int)) -> Self {
        if !libc::WIFSTOPPED(status) {
            return Self::Ended(dead);
        }
        let (thread, signal) = (dead.pid, libc::WSTOPSIG(status));
        let other =
            || kernel::event_message(thread).ok().and_then(|pid| Pid::from_raw(i32::try_from(pid).ok()?));
        let kind = match status >> 16 {
            libc::PTRACE_EVENT_FORK | libc::PTRACE_EVENT_VFORK | libc::PTRACE_EVENT_CLONE => {
                other().map_or(StopKind::Notice, StopKind::Started)
            }
            libc::PTRACE_EVENT_SECCOMP => StopKind::ExecCall,
            libc::PTRACE_EVENT_EXEC => StopKind::Program { former: other() },
            libc::PTRACE_EVENT_STOP if signal != libc::SIGTRAP => StopKind::Suspended,
            0 => StopKind::Signal(signal),
            _ => StopKind::Notice,
        };
        Self::Stopped(Stop { thread, kind })
    }
}

impl Stop {
    /// Lets the thread go on, with the signal that it was stopped for. One that was killed meanwhile needs nothing.
    pub fn resume(self) {
        let signal = match self.kind {
            StopKind::Signal(signal) => signal,
            _ => 0,
        };
        let _ = kernel::resume(self.thread, signal);
    }

    /// Leaves a thread whose process is suspended as it is, until it is continued.
    pub fn stay(self) {
        let _ = kernel::listen(self.thread);
    }

    /// Ends the process before it goes on.
    pub fn kill(self) {
        // The process id of a traced process that wasn't waited for can't be another's.
        let _ = rustix::process::kill_process(self.thread, Signal::KILL);
    }
}
