//! Becoming a process of nobody's terminal.

use std::io;
use std::os::fd::{AsRawFd, BorrowedFd, RawFd};

use rustix::fs::{Mode, OFlags};
use rustix::process::Pid;

use super::signals;

/// Forks the calling process and runs `body` in the child, which ends with the code that `body` returns.
///
/// For small front ends only: the child gets a copy of our memory, which is cheap when that is little, and no exec is
/// needed. Refused in a process with several threads, where the copy could hold another thread's lock for ever.
///
/// # Errors
/// When the process has threads, or the kernel makes no more processes.
pub fn fork(body: impl FnOnce() -> i32) -> io::Result<Pid> {
    if !single_threaded() {
        return Err(io::Error::other("a process with threads can't be forked safely"));
    }
    // SAFETY: there is one thread, so the child's copy of memory is consistent and no lock is held by anyone else.
    let raw = unsafe { libc::fork() };
    match Pid::from_raw(raw) {
        _ if raw < 0 => Err(io::Error::last_os_error()),
        Some(pid) => Ok(pid),
        None => {
            // A panic must not unwind into the parent's frames, of which the child has a copy.
            let code = std::panic::catch_unwind(std::panic::AssertUnwindSafe(body)).unwrap_or(101);
            // SAFETY: ends the child at once; exit handlers and buffers belong to the parent.
            unsafe { libc::_exit(code) }
        }
    }
}

/// Whether this process has one thread. A folder has a link for itself, one for its name and one a subfolder.
#[must_use]
pub fn single_threaded() -> bool {
    rustix::fs::stat("/proc/self/task").is_ok_and(|stat| stat.st_nlink == 3)
}

/// Leaves the terminal, the session, the folder and every descriptor behind, except `keep`.
///
/// Standard input, output and error become `/dev/null`, signals get their default action, all are blocked. Nothing
/// that was opened before may be used afterwards, apart from `keep`.
///
/// # Errors
/// When `/dev/null` can't be opened.
pub fn detach(keep: &[BorrowedFd<'_>]) -> io::Result<()> {
    signals::block_all();
    signals::reset_dispositions();
    // Fails for a group leader, which is then not in anybody's way.
    let _ = rustix::process::setsid();
    rustix::process::chdir("/")?;
    let null = rustix::fs::open("/dev/null", OFlags::RDWR | OFlags::CLOEXEC, Mode::empty())?;
    rustix::stdio::dup2_stdin(&null)?;
    rustix::stdio::dup2_stdout(&null)?;
    rustix::stdio::dup2_stderr(&null)?;
    drop(null);
    let mut kept: Vec<RawFd> = keep.iter().map(AsRawFd::as_raw_fd).filter(|fd| *fd > 2).collect();
    kept.sort_unstable();
    let mut from = 3;
    for fd in kept {
        close_range(from, fd - 1);
        from = fd + 1;
    }
    close_range(from, RawFd::MAX);
    Ok(())
}

fn close_range(first: RawFd, last: RawFd) {
    if first <= last && first >= 0 {
        // SAFETY: the caller of `detach` gave up every descriptor outside `keep`, and no Rust owner runs afterwards:
        // the process goes on only with what `detach` was told to keep.
        unsafe { libc::syscall(libc::SYS_close_range, first, last, 0) };
    }
}
