//! A keeper that this process forked: it has to be reaped, and its socket doesn't tell its process id.

use std::os::fd::OwnedFd;
use std::sync::OnceLock;
use std::sync::atomic::{AtomicBool, Ordering};
use std::time::Duration;

use rustix::event::{PollFd, PollFlags, Timespec};
use rustix::process::{Pid, PidfdFlags, Signal, WaitOptions};

use crate::keepers;
use crate::sys::processes;

/// How long a keeper may send nothing before it is looked at: a command may have suspended it.
pub const KEEPER_CHECK_INTERVAL: Duration = Duration::from_secs(1);

/// How long a keeper that exits is waited for. It takes milliseconds, and longer only where others take the processor, or where
/// another front end has just connected to it.
const REAP_TIMEOUT: Timespec = Timespec { tv_sec: 1, tv_nsec: 0 };

/// A keeper that this process forked, and has to reap.
#[derive(Debug, Default)]
pub(crate) struct Forked {
    pid: OnceLock<Pid>,
    /// It exits when this process closes its connection.
    last: AtomicBool,
}

impl Forked {
    /// Takes a keeper that was forked. A session that forks a second keeper reaps only the first one.
    pub(crate) fn set(&self, pid: Pid) {
        let _ = self.pid.set(pid);
    }

    pub(crate) fn set_last(&self, last: bool) {
        self.last.store(last, Ordering::Relaxed);
    }

    /// Continues the keeper at the other end of a connection and the processes of its sandbox, if they are suspended.
    pub(crate) fn continue_keeper(&self, socket: &OwnedFd) {
        keepers::wake(socket);
        // The socket of a keeper that this process forked doesn't tell who is at its other end.
        let forked = self.pid.get().map(|pid| pid.as_raw_nonzero().get().unsigned_abs());
        if let Some(pid) = forked {
            processes::signal_keeper(pid, Signal::CONT);
        }
        keepers::keeper_of(socket).or(forked).into_iter().for_each(processes::continue_helpers);
    }

    /// A keeper without executions exits a moment after its last connection was closed. This waits for that moment and reaps
    /// it: in a container whose first process doesn't reap, it would stay in the process table for ever.
    pub(crate) fn reap(&self) {
        let Some(pid) = self.pid.get().filter(|_| self.last.load(Ordering::Relaxed)) else { return };
        if let Ok(keeper) = rustix::process::pidfd_open(*pid, PidfdFlags::empty()) {
            // A keeper that has not exited by then, or is not our child any more, is left alone.
            let _ = rustix::event::poll(&mut [PollFd::new(&keeper, PollFlags::IN)], Some(&REAP_TIMEOUT));
            // One that still runs after the timeout is not reaped.
            let _ = rustix::process::waitpid(Some(*pid), WaitOptions::NOHANG);
        }
    }
}
