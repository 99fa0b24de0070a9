//! Loading a filter into the kernel, for the calling thread and all that it starts.

use std::io;
use std::os::fd::{FromRawFd as _, OwnedFd, RawFd};

use super::compile::Program;

/// Without it, kernels before 5.16 also switch off speculation across stores and indirect branches in every filtered
/// process, which made some programs a third slower. That guards secrets inside one process against code in the same
/// process. A command holds no secrets of ours: they are in other processes. Newer kernels don't do it in either case,
/// and container runtimes set this flag too. A program that wants the protection can ask for it (`prctl`).
const SPECULATION_UNCHANGED: libc::c_ulong = libc::SECCOMP_FILTER_FLAG_SPEC_ALLOW;

/// A filter that was loaded.
#[derive(Debug)]
pub struct Loaded {
    /// Where notifications arrive, if the filter has any. It is closed on exec.
    pub listener: Option<Listener>,
}

/// Where notifications of a filter arrive.
#[derive(Debug)]
pub struct Listener {
    /// The descriptor, for the `SECCOMP_IOCTL_NOTIF_*` requests and for `poll`.
    pub fd: OwnedFd,
    /// How signals treat a thread whose call was received.
    pub interruption: Interruption,
}

/// How signals treat a thread that waits for the answer to a notification.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Interruption {
    /// Once its call was received, only a deadly signal interrupts it: the call is never done twice (Linux 5.19).
    Fatal,
    /// Every signal interrupts it. The call is then started again, though the receiver may have done it already.
    Any,
}

/// Why a filter was not loaded.
#[derive(Debug, thiserror::Error)]
pub enum LoadError {
    /// The kernel refused it: `EACCES` without `no_new_privs`, `EBUSY` when a filter with a listener holds already,
    /// `ENOMEM` after too many filters.
    #[error("can't load the seccomp filter: {0}")]
    Kernel(#[source] io::Error),
}

/// Loads `program` for the calling thread. It holds for every process that the thread starts, and can't be removed.
///
/// Other threads are left alone: a launcher has one.
///
/// **A launcher whose filter notifies can't send the listener to another process itself.** Passing a descriptor takes
/// `sendmsg`, which that filter holds until the listener answers. The other process has to fetch it with `pidfd_getfd`,
/// or a child that was forked before, and shares the table of descriptors, has to send it. For the same reason the
/// launcher answers by `write`, and opens no file with `O_CREAT`.
///
/// # Errors
/// When the kernel refuses it.
pub fn load(program: &Program) -> Result<Loaded, LoadError> {
    if !program.notifies {
        set_filter(program, SPECULATION_UNCHANGED)?;
        return Ok(Loaded { listener: None });
    }
    let flags = SPECULATION_UNCHANGED | libc::SECCOMP_FILTER_FLAG_NEW_LISTENER;
    let killable = flags | libc::SECCOMP_FILTER_FLAG_WAIT_KILLABLE_RECV;
    let (raw, interruption) = match set_filter(program, killable) {
        Ok(raw) => (raw, Interruption::Fatal),
        // A kernel before 5.19 doesn't know the flag.
        Err(LoadError::Kernel(error)) if error.raw_os_error() == Some(libc::EINVAL) => {
            (set_filter(program, flags)?, Interruption::Any)
        }
        Err(error) => return Err(error),
    };
    // SAFETY: with this flag the kernel answers with a new descriptor, which has no other owner.
    let fd = unsafe { OwnedFd::from_raw_fd(raw) };
    Ok(Loaded { listener: Some(Listener { fd, interruption }) })
}

/// What the kernel answers: a descriptor when the flags ask for one.
fn set_filter(program: &Program, flags: libc::c_ulong) -> Result<RawFd, LoadError> {
    let len = u16::try_from(program.statements.len())
        .map_err(|_| LoadError::Kernel(io::ErrorKind::InvalidInput.into()))?;
    // The kernel only reads the statements: `*mut` is how C declares it.
    let filter = libc::sock_fprog { len, filter: program.statements.as_ptr().cast_mut() };
    let operation = libc::SECCOMP_SET_MODE_FILTER;
    // SAFETY: `filter` and the statements that it points to are alive and as long as `len` says; the kernel copies them.
    let answer = unsafe { libc::syscall(libc::SYS_seccomp, operation, flags, &raw const filter) };
    if answer < 0 {
        return Err(LoadError::Kernel(io::Error::last_os_error()));
    }
    RawFd::try_from(answer).map_err(|_| LoadError::Kernel(io::ErrorKind::InvalidData.into()))
}
