//! The requests of `ptrace`, each as one function.

use std::ffi::{c_int, c_long, c_void};
use std::{io, ptr};

use rustix::process::Pid;

use super::raw;

/// Stop at new programs, threads and processes and before `exec`, and kill everything when the tracer ends.
const OPTIONS: c_int = libc::PTRACE_O_TRACEEXEC
    | libc::PTRACE_O_TRACEFORK
    | libc::PTRACE_O_TRACEVFORK
    | libc::PTRACE_O_TRACECLONE
    | libc::PTRACE_O_TRACESECCOMP
    | libc::PTRACE_O_EXITKILL;

fn check(result: c_long) -> io::Result<()> {
    if result == -1 { Err(io::Error::last_os_error()) } else { Ok(()) }
}

/// Traces `pid` and all that it starts from now on. It isn't stopped.
pub(super) fn seize(pid: Pid) -> io::Result<()> {
    let options = ptr::without_provenance_mut::<c_void>(OPTIONS.unsigned_abs() as usize);
    // SAFETY: the request takes numbers only, and touches no memory of ours.
    check(unsafe { libc::ptrace(libc::PTRACE_SEIZE, raw(pid), ptr::null_mut::<c_void>(), options) })
}

/// Lets a stopped thread go on, with this signal if it isn't 0.
pub(super) fn resume(thread: Pid, signal: c_int) -> io::Result<()> {
    let signal = ptr::without_provenance_mut::<c_void>(signal.unsigned_abs() as usize);
    // SAFETY: as above.
    check(unsafe { libc::ptrace(libc::PTRACE_CONT, raw(thread), ptr::null_mut::<c_void>(), signal) })
}

/// Leaves a suspended thread suspended, until `SIGCONT` or another event.
pub(super) fn listen(thread: Pid) -> io::Result<()> {
    let none = ptr::null_mut::<c_void>();
    // SAFETY: as above.
    check(unsafe { libc::ptrace(libc::PTRACE_LISTEN, raw(thread), none, none) })
}

/// The number that came with an event: a new process, or the thread that called `exec`.
pub(super) fn event_message(thread: Pid) -> io::Result<u64> {
    let mut message: libc::c_ulong = 0;
    let none = ptr::null_mut::<c_void>();
    // SAFETY: the kernel writes one number.
    check(unsafe { libc::ptrace(libc::PTRACE_GETEVENTMSG, raw(thread), none, &raw mut message) })?;
    Ok(message)
}

/// Reads a set of registers into `into`, and returns whether it filled it.
pub(super) fn get_registers<T>(thread: Pid, set: c_int, into: &mut T) -> io::Result<()> {
    let mut part = libc::iovec { iov_base: ptr::from_mut(into).cast(), iov_len: size_of::<T>() };
    let set = ptr::without_provenance_mut::<c_void>(set.unsigned_abs() as usize);
    // SAFETY: the kernel writes at most `iov_len` bytes, which is the size of the value behind the pointer.
    check(unsafe { libc::ptrace(libc::PTRACE_GETREGSET, raw(thread), set, &raw mut part) })?;
    if part.iov_len == size_of::<T>() { Ok(()) } else { Err(io::ErrorKind::InvalidData.into()) }
}

/// Writes a set of registers.
pub(super) fn set_registers<T>(thread: Pid, set: c_int, from: &mut T) -> io::Result<()> {
    let mut part = libc::iovec { iov_base: ptr::from_mut(from).cast(), iov_len: size_of::<T>() };
    let set = ptr::without_provenance_mut::<c_void>(set.unsigned_abs() as usize);
    // SAFETY: the kernel reads `iov_len` bytes, which is the size of the value behind the pointer.
    check(unsafe { libc::ptrace(libc::PTRACE_SETREGSET, raw(thread), set, &raw mut part) })
}

/// Traces a child of the calling process, which has one thread. Returns 0, or the number of the error.
pub(super) fn try_on_child() -> c_int {
    let number = |error: &io::Error| error.raw_os_error().unwrap_or(libc::EIO);
    // SAFETY: the process has one thread, so no lock is held by another.
    match unsafe { libc::fork() } {
        -1 => number(&io::Error::last_os_error()),
        0 => loop {
            // SAFETY: waits for a signal, and touches no memory.
            unsafe { libc::pause() };
        },
        child => {
            let Some(child) = Pid::from_raw(child) else { return libc::ESRCH };
            let seized = seize(child);
            // Only to leave nothing behind.
            let _ = rustix::process::kill_process(child, rustix::process::Signal::KILL);
            let _ = rustix::process::waitpid(Some(child), rustix::process::WaitOptions::empty());
            seized.err().map_or(0, |error| number(&error))
        }
    }
}
