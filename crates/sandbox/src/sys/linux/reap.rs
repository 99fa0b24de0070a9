//! Waiting for children, with what they used.

use std::ffi::c_int;
use std::io;
use std::mem::MaybeUninit;
use std::time::Duration;

use rustix::process::Pid;

/// A child that has ended and was waited for.
#[derive(Clone, Copy, Debug)]
pub struct Dead {
    /// Its process id, which the kernel may give to another process from now on.
    pub pid: Pid,
    /// How it ended.
    pub end: End,
    /// Processor time that it and those it waited for used.
    pub cpu: Duration,
    /// Bytes that it and those it waited for gave to disks.
    pub written: u64,
}

/// How a process ended.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum End {
    /// By itself, with this code.
    Code(i32),
    /// By this signal.
    Signal(i32),
}

/// The kernel counts what is written in blocks of this size.
const BLOCK_BYTES: u64 = 512;

/// A child that has ended, if one has. It costs no more than to wait and ask for nothing.
///
/// # Errors
/// `ECHILD` when there is no child at all.
pub fn reap() -> io::Result<Option<Dead>> {
    Ok(wait(-1, libc::WNOHANG)?.map(|(dead, _)| dead))
}

/// Waits for these children, with these options. The status says whether the child has really ended.
pub(super) fn wait(children: libc::pid_t, options: c_int) -> io::Result<Option<(Dead, c_int)>> {
    let mut status = 0;
    let mut used = MaybeUninit::<libc::rusage>::zeroed();
    let pid = loop {
        // SAFETY: both point to memory that the kernel may write.
        let pid = unsafe { libc::wait4(children, &mut status, options, used.as_mut_ptr()) };
        if pid >= 0 {
            break pid;
        }
        let error = io::Error::last_os_error();
        if error.kind() != io::ErrorKind::Interrupted {
            return Err(error);
        }
    };
    // SAFETY: zeroed before, and plain numbers for any bytes.
    let used = unsafe { used.assume_init() };
    let end = match libc::WIFEXITED(status) {
        true => End::Code(libc::WEXITSTATUS(status)),
        false => End::Signal(libc::WTERMSIG(status)),
    };
    let blocks = u64::try_from(used.ru_oublock).unwrap_or(0);
    let cpu = time(used.ru_utime) + time(used.ru_stime);
    let dead = |pid| Dead { pid, end, cpu, written: blocks.saturating_mul(BLOCK_BYTES) };
    Ok(Pid::from_raw(pid).map(|pid| (dead(pid), status)))
}

fn time(time: libc::timeval) -> Duration {
    let micros = u64::try_from(time.tv_usec).unwrap_or(0);
    Duration::from_secs(u64::try_from(time.tv_sec).unwrap_or(0)) + Duration::from_micros(micros)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_time_that_makes_no_sense_is_zero() {
        let time = |tv_sec, tv_usec| time(libc::timeval { tv_sec, tv_usec });
        assert_eq!(time(2, 500_000), Duration::from_millis(2500));
        assert_eq!(time(-1, -1), Duration::ZERO);
    }
}
