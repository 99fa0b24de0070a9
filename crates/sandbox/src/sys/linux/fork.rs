//! Forking a child process off a process with one thread.
//!
//! [`fork_detached`] makes a process that outlives its parent: it leaves the terminal, the session, the folder and all
//! descriptors behind, apart from those that it is given. [`run_in_child`] makes one that tries something and ends.
//!
//! A fork copies the calling thread only. A lock that another thread held at that moment would stay locked in the child
//! for ever, so both functions refuse to work in a process with more than one thread.

use std::io;
use std::os::fd::{AsRawFd as _, OwnedFd, RawFd};
use std::path::PathBuf;

use rustix::fs::{Mode, OFlags};
use rustix::process::{Pid, WaitOptions};

use super::descriptors;
use super::signals::{self, BlockedSignals};
use crate::Confinement;

/// Data that holds no descriptor, so that it means the same in a process where all descriptors were closed.
///
/// # Safety
/// The type neither is nor owns nor borrows a descriptor or its number.
pub unsafe trait PlainData {}

macro_rules! plain_data {
    ($($kind:ty),*) => {
        $(
            // SAFETY: text, paths or a number that is not a descriptor's: `RawFd` is not in the list.
            unsafe impl PlainData for $kind {}
        )*
    };
}
plain_data!((), bool, u32, u64, usize, String, PathBuf, Confinement);

// SAFETY: holds what `T` holds.
unsafe impl<T: PlainData> PlainData for Option<T> {}
// SAFETY: holds what `T` holds.
unsafe impl<T: PlainData> PlainData for Vec<T> {}
// SAFETY: holds what its parts hold.
unsafe impl<A: PlainData, B: PlainData> PlainData for (A, B) {}
// SAFETY: holds what its parts hold.
unsafe impl<A: PlainData, B: PlainData, C: PlainData> PlainData for (A, B, C) {}
// SAFETY: holds what its parts hold.
unsafe impl<A: PlainData, B: PlainData, C: PlainData, D: PlainData> PlainData for (A, B, C, D) {}

/// Forks the calling process and runs `child` in a detached copy, which ends with the exit code that `child` returns.
///
/// The copy has a session of its own without a terminal, `/` as its folder, `/dev/null` as standard input, output and
/// error, every signal at its default action, and all signals blocked. It has no other descriptors than `keep`, which
/// the calling process loses. Signals are blocked during the fork, so no handler of ours runs in the copy.
///
/// `child` is a function and not a closure, and `data` holds no descriptors: what was closed can't be named.
///
/// For small processes: the copy of our memory is cheap when that is little, and no exec is needed.
///
/// ```compile_fail,E0308
/// let file: std::os::fd::OwnedFd = std::fs::File::open("/dev/null").unwrap().into();
/// // The file is closed in the child, so the child can't have it.
/// shellgate_sandbox::fork::fork_detached([], (), |_, ()| i32::from(rustix::io::write(&file, b"x").is_err()));
/// ```
///
/// # Errors
/// When the process has more than one thread, or the kernel makes no more processes.
pub fn fork_detached<D: PlainData, const N: usize>(
    keep: [OwnedFd; N],
    data: D,
    child: fn([OwnedFd; N], D) -> i32,
) -> io::Result<Pid> {
    let _blocked = BlockedSignals::all();
    match fork()? {
        Some(pid) => Ok(pid),
        None => exit_with(|| match detach(keep) {
            Ok(kept) => child(kept, data),
            Err(_) => 1,
        }),
    }
}

/// Forks the calling process, runs `body` in the copy and waits for its end: the exit code that `body` returned, or
/// `None` when a signal killed the copy. Descriptors and signals stay as they are.
///
/// # Errors
/// When the process has more than one thread, or the kernel makes no more processes.
pub fn run_in_child(body: impl FnOnce() -> i32) -> io::Result<Option<i32>> {
    let Some(pid) = fork()? else { exit_with(body) };
    let ended = rustix::io::retry_on_intr(|| rustix::process::waitpid(Some(pid), WaitOptions::empty()))?;
    Ok(ended.and_then(|(_, status)| status.exit_status()))
}

/// Whether this process has one thread. A folder has a link for itself, one for its name and one a subfolder; where a
/// kernel doesn't count links, the subfolders are counted.
#[must_use]
pub fn single_threaded() -> bool {
    let tasks = "/proc/self/task";
    rustix::fs::stat(tasks).is_ok_and(|stat| stat.st_nlink == 3)
        || std::fs::read_dir(tasks).is_ok_and(|threads| threads.count() == 1)
}

/// The child's process id in the parent, `None` in the child.
fn fork() -> io::Result<Option<Pid>> {
    if !single_threaded() {
        return Err(io::Error::other("a process with threads can't be forked safely"));
    }
    // SAFETY: there is one thread, so the child's copy of memory is consistent and no other thread holds a lock.
    let raw = unsafe { libc::fork() };
    if raw < 0 {
        return Err(io::Error::last_os_error());
    }
    Ok(Pid::from_raw(raw))
}

/// Ends the child with what `body` returns. A panic in it must not unwind into the parent's frames, of which the child
/// has a copy.
fn exit_with(body: impl FnOnce() -> i32) -> ! {
    let code = std::panic::catch_unwind(std::panic::AssertUnwindSafe(body)).unwrap_or(101);
    // SAFETY: ends the child at once; exit handlers and buffers belong to the parent.
    unsafe { libc::_exit(code) }
}

/// Leaves the terminal, the session, the folder and every descriptor behind, except `keep`.
fn detach<const N: usize>(keep: [OwnedFd; N]) -> io::Result<[OwnedFd; N]> {
    signals::reset_dispositions();
    // A child that was just forked leads no process group, so this can't fail.
    let _ = rustix::process::setsid();
    rustix::process::chdir("/")?;
    let keep = above_stdio(keep)?;
    let null = rustix::fs::open("/dev/null", OFlags::RDWR | OFlags::CLOEXEC, Mode::empty())?;
    rustix::stdio::dup2_stdin(&null)?;
    rustix::stdio::dup2_stdout(&null)?;
    rustix::stdio::dup2_stderr(&null)?;
    drop(null);
    let kept: Vec<RawFd> = keep.iter().map(|fd| fd.as_raw_fd()).chain(0..=2).collect();
    // SAFETY: this process is a copy whose only code from here on is `child` of `fork_detached`. It can name no other
    // descriptor than those of `keep`.
    unsafe { descriptors::close_all_except(&kept) };
    Ok(keep)
}

/// The same files under numbers above 2. A program that was started without standard streams may have been given one of
/// those three numbers for another file.
fn above_stdio<const N: usize>(keep: [OwnedFd; N]) -> io::Result<[OwnedFd; N]> {
    let mut failure = None;
    let moved = keep.map(|fd| {
        if fd.as_raw_fd() > 2 {
            return fd;
        }
        match rustix::io::fcntl_dupfd_cloexec(&fd, 3) {
            Ok(moved) => moved,
            Err(errno) => {
                failure = Some(errno);
                fd
            }
        }
    });
    failure.map_or(Ok(moved), |errno| Err(errno.into()))
}
