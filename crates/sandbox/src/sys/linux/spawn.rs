//! Starting a program: session leader, three descriptors, a folder, an environment, nothing else inherited.
//!
//! The child shares our memory until it calls `exec` (`CLONE_VM | CLONE_VFORK`, as `posix_spawn` does it), so that no
//! page table is copied: measured at 1.03 times a bare `posix_spawn`, where a `fork` costs 1.10. The price is a
//! discipline: between `clone` and `exec` the child makes system calls and nothing else. It allocates nothing, takes
//! no lock, and touches only what `Prepared` laid out before. We stand still meanwhile, so there is no race.
//!
//! Why not `posix_spawn` itself: it can't set a resource limit or a parent-death signal, and the exec-time guard will
//! need the child to wait before its `exec`.

use std::ffi::{CStr, CString, c_char, c_int, c_void};
use std::os::fd::{AsRawFd, BorrowedFd, RawFd};
use std::{io, ptr};

use rustix::process::{Pid, Resource, Rlimit};

use super::signals;

/// What to start, and how.
#[derive(Debug)]
pub struct Plan<'a> {
    /// The executable, as a path: no search happens here.
    pub program: &'a CStr,
    /// The argument list, with the program's own name first.
    pub argv: &'a [CString],
    /// The whole environment, as `NAME=value`.
    pub env: &'a [CString],
    /// The folder to start in.
    pub directory: &'a CStr,
    /// Standard input, output and error. All above 2.
    pub stdio: [BorrowedFd<'a>; 3],
    /// The terminal of its session, if it is to have one.
    pub terminal: Option<BorrowedFd<'a>>,
    /// The file mode creation mask.
    pub umask: u32,
    /// Limits to set. One that can't be set is left as it is.
    pub limits: &'a [(Resource, Rlimit)],
    /// A number that all descendants carry; see [`Tag`].
    pub tag: Option<Tag>,
    /// Control groups that it is in before it runs: their `cgroup.procs`, open for writing.
    pub groups: &'a [BorrowedFd<'a>],
}

/// A number that a process hands down to every descendant, whatever these do to their environment, session or parents.
///
/// It is the soft limit on file locks, which Linux has kept, inherited and ignored since 2.4.25: a place to write a
/// note that `fork`, `exec`, `setsid` and `env -i` all carry along, and that `/proc/PID/limits` shows to anyone.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub struct Tag(u64);

impl Tag {
    /// A tag from any number; the top bits are fixed so that it can't be "unlimited" or a limit somebody would set.
    #[must_use]
    pub const fn new(number: u64) -> Self {
        Self((number & ((1 << 60) - 1)) | (1 << 61))
    }

    /// The number as the kernel shows it.
    #[must_use]
    pub const fn get(self) -> u64 {
        self.0
    }
}

/// Which part of starting failed.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Step {
    /// No new process could be made.
    Clone,
    /// A control group does not take it.
    Groups,
    /// The folder can't be entered.
    Directory,
    /// The descriptors could not be put in place.
    Descriptors,
    /// The program could not be executed.
    Exec,
}

/// Why nothing was started.
#[derive(Debug, thiserror::Error)]
#[error("{source}")]
pub struct SpawnError {
    /// Which part failed.
    pub step: Step,
    /// What the kernel said.
    pub source: io::Error,
}

/// A stack for the child, made once and used for every spawn: we stand still while the child is on it.
#[derive(Debug)]
pub struct Spawner {
    stack: Vec<u128>,
}

// The child calls a handful of libc wrappers; 64 KiB is an order of magnitude more than they need.
const STACK_BYTES: usize = 64 * 1024;

impl Default for Spawner {
    fn default() -> Self {
        Self { stack: vec![0; STACK_BYTES / size_of::<u128>()] }
    }
}

/// Everything the child needs, laid out before it exists.
struct Prepared {
    program: *const c_char,
    argv: Vec<*const c_char>,
    env: Vec<*const c_char>,
    directory: *const c_char,
    stdio: [RawFd; 3],
    terminal: Option<RawFd>,
    umask: libc::mode_t,
    limits: Vec<(libc::__rlimit_resource_t, libc::rlimit64)>,
    groups: Vec<RawFd>,
    empty_mask: libc::sigset_t,
    /// Where the child leaves word when it fails: the memory is shared.
    failure: Option<(Step, c_int)>,
}

impl Spawner {
    /// Starts `plan` and returns the process, which leads a session and a group of its own.
    ///
    /// The caller has all signals blocked ([`signals::block_all`]) and their dispositions at default, and reaps the
    /// child. The child gets an empty mask, and dies with the caller.
    ///
    /// # Errors
    /// When the process can't be made, the folder entered or the program executed. Then nothing is left behind.
    pub fn spawn(&mut self, plan: &Plan<'_>) -> Result<Pid, SpawnError> {
        let mut prepared = Prepared::new(plan)?;
        // The stack grows down: hand over its end. `Vec<u128>` keeps it aligned to 16 bytes.
        let top = self.stack.as_mut_ptr_range().end.cast::<c_void>();
        let flags = libc::CLONE_VM | libc::CLONE_VFORK | libc::SIGCHLD;
        let argument = ptr::from_mut(&mut prepared).cast::<c_void>();
        // SAFETY: `child` makes system calls only, on a stack of its own, and `prepared` outlives it because
        // CLONE_VFORK holds us here until it has called exec or ended.
        let raw = unsafe { libc::clone(child, top, flags, argument) };
        if raw < 0 {
            return Err(SpawnError { step: Step::Clone, source: io::Error::last_os_error() });
        }
        let pid = Pid::from_raw(raw).ok_or_else(|| SpawnError {
            step: Step::Clone,
            source: io::Error::other("the kernel gave no process id"),
        })?;
        // Written by the child through the pointer above, so it must be read as memory that others change.
        // SAFETY: `prepared.failure` is valid and initialised, and the child is past its last write.
        let failure = unsafe { ptr::read_volatile(&raw const prepared.failure) };
        match failure {
            None => Ok(pid),
            Some((step, errno)) => {
                let _ = rustix::process::waitpid(Some(pid), rustix::process::WaitOptions::empty());
                Err(SpawnError { step, source: io::Error::from_raw_os_error(errno) })
            }
        }
    }
}

impl Prepared {
    fn new(plan: &Plan<'_>) -> Result<Self, SpawnError> {
        let stdio = plan.stdio.map(|fd| fd.as_raw_fd());
        if stdio.iter().any(|fd| *fd <= 2) {
            let source = io::Error::new(io::ErrorKind::InvalidInput, "a descriptor below 3 can't be moved");
            return Err(SpawnError { step: Step::Descriptors, source });
        }
        Ok(Self {
            program: plan.program.as_ptr(),
            argv: pointers(plan.argv),
            env: pointers(plan.env),
            directory: plan.directory.as_ptr(),
            stdio,
            terminal: plan.terminal.map(|fd| fd.as_raw_fd()),
            umask: plan.umask,
            limits: limits(plan),
            groups: plan.groups.iter().map(|fd| fd.as_raw_fd()).collect(),
            empty_mask: signals::empty_set(),
            failure: None,
        })
    }
}

fn pointers(strings: &[CString]) -> Vec<*const c_char> {
    strings.iter().map(|string| string.as_ptr()).chain([ptr::null()]).collect()
}

/// The limits of the plan, and the one that carries the tag unless the hard limit is too low for it.
fn limits(plan: &Plan<'_>) -> Vec<(libc::__rlimit_resource_t, libc::rlimit64)> {
    let raw = |limit: Option<u64>| limit.unwrap_or(libc::RLIM64_INFINITY);
    let limit = |(resource, limit): (Resource, Rlimit)| {
        let values = libc::rlimit64 { rlim_cur: raw(limit.current), rlim_max: raw(limit.maximum) };
        (resource as libc::__rlimit_resource_t, values)
    };
    let tag = plan.tag.and_then(|tag| {
        let maximum = rustix::process::getrlimit(Resource::Locks).maximum;
        let fits = maximum.is_none_or(|maximum| maximum >= tag.0);
        fits.then_some((Resource::Locks, Rlimit { current: Some(tag.0), maximum }))
    });
    plan.limits.iter().cloned().chain(tag).map(limit).collect()
}

/// Runs in the child, in our memory. System calls only.
extern "C" fn child(argument: *mut c_void) -> c_int {
    // SAFETY: `argument` is the `Prepared` of the call above, alive and untouched while we run.
    let prepared = unsafe { &mut *argument.cast::<Prepared>() };
    let step = prepare_child(prepared);
    let errno = io::Error::last_os_error().raw_os_error().unwrap_or(libc::EIO);
    // SAFETY: as above; volatile because the other side reads it behind the compiler's back.
    unsafe { ptr::write_volatile(&raw mut prepared.failure, Some((step, errno))) };
    // SAFETY: ends the child at once, without running exit handlers that belong to the parent's memory.
    unsafe { libc::_exit(127) }
}

/// Returns only on failure, with `errno` set.
fn prepare_child(prepared: &Prepared) -> Step {
    for group in &prepared.groups {
        // SAFETY: one readable byte of static memory. 0 stands for whoever writes it.
        if unsafe { libc::write(*group, c"0".as_ptr().cast(), 1) } < 0 {
            return Step::Groups;
        }
    }
    // SAFETY: no memory is involved. It can't fail: a new process leads no group yet.
    unsafe { libc::setsid() };
    if let Some(terminal) = prepared.terminal {
        // SAFETY: no memory is involved. A session without a terminal, which we just made, may take one that nobody has.
        if unsafe { libc::ioctl(terminal, libc::TIOCSCTTY, 0) } < 0 {
            return Step::Descriptors;
        }
    }
    // SAFETY: no memory is involved. A command must not outlive the keeper that answers for it.
    unsafe { libc::prctl(libc::PR_SET_PDEATHSIG, libc::SIGKILL) };
    // SAFETY: no memory is involved.
    unsafe { libc::umask(prepared.umask) };
    for (resource, limit) in &prepared.limits {
        // SAFETY: `limit` is valid for reading.
        unsafe { libc::setrlimit64(*resource, limit) };
    }
    for (target, source) in (0..).zip(prepared.stdio) {
        // SAFETY: plain descriptor numbers; all sources lie above the targets.
        if unsafe { libc::dup2(source, target) } < 0 {
            return Step::Descriptors;
        }
    }
    // SAFETY: `directory` points to a NUL-terminated string of the plan.
    if unsafe { libc::chdir(prepared.directory) } < 0 {
        return Step::Directory;
    }
    signals::set_mask(libc::SIG_SETMASK, &prepared.empty_mask);
    // SAFETY: all three point to NUL-terminated strings, the lists end in a null pointer.
    unsafe { libc::execve(prepared.program, prepared.argv.as_ptr(), prepared.env.as_ptr()) };
    Step::Exec
}
