//! Waiting for children, with what they used.

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
    let mut status = 0;
    let mut used = MaybeUninit::<libc::rusage>::zeroed();
    // SAFETY: both point to memory that the kernel may write.
    let pid = unsafe { libc::wait4(-1, &mut status, libc::WNOHANG, used.as_mut_ptr()) };
    if pid < 0 {
        return Err(io::Error::last_os_error());
    }
    // SAFETY: zeroed before, and plain numbers for any bytes.
    let used = unsafe { used.assume_init() };
    let end = match libc::WIFEXITED(status) {
        true => End::Code(libc::WEXITSTATUS(status)),
        false => End::Signal(libc::WTERMSIG(status)),
    };
    let blocks = u64::try_from(used.ru_oublock).unwrap_or(0);
    let cpu = time(used.ru_utime) + time(used.ru_stime);
    Ok(Pid::from_raw(pid).map(|pid| Dead { pid, end, cpu, written: blocks.saturating_mul(BLOCK_BYTES) }))
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
