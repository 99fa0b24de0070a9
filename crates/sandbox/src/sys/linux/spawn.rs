//! Starting a program: session leader, three descriptors, a folder, an environment, nothing else inherited.
//!
//! The child shares our memory until it calls `exec` (`CLONE_VM | CLONE_VFORK`, as `posix_spawn` does it), so that no
//! page table is copied: measured at 1.03 times a bare `posix_spawn`, where a `fork` costs 1.10. The price is a
//! discipline: between `clone` and `exec` the child makes system calls and nothing else. It allocates nothing, takes
//! no lock, and touches only what `Prepared` laid out before. We stand still meanwhile, so there is no race.
//!
//! Why not `posix_spawn` itself: it can't set a resource limit or a parent-death signal, and the exec-time guard will
//! need the child to wait before its `exec`.

mod ready;

use std::convert::Infallible;
use std::ffi::{CStr, c_char, c_int, c_void};
use std::os::fd::{AsRawFd, BorrowedFd};
use std::{io, ptr};

use rustix::fs::Mode;
use rustix::io::Errno;
use rustix::process::{Pid, Resource, Rlimit};

use super::signals::{self, BlockedSignals};
pub use super::tag::Tag;
pub(crate) use ready::{PlanSource, ReadyEnd};

/// What to start, and how.
#[derive(Debug)]
pub struct Plan<'a> {
    /// The executable, as a path: no search happens here.
    pub program: &'a CStr,
    /// The argument list, with the program's own name first.
    pub argv: &'a [&'a CStr],
    /// The whole environment, as `NAME=value`.
    pub env: &'a [&'a CStr],
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

/// All resources that have limits.
pub const RESOURCES: [Resource; 16] = [
    Resource::Cpu,
    Resource::Fsize,
    Resource::Data,
    Resource::Stack,
    Resource::Core,
    Resource::Rss,
    Resource::Nproc,
    Resource::Nofile,
    Resource::Memlock,
    Resource::As,
    Resource::Locks,
    Resource::Sigpending,
    Resource::Msgqueue,
    Resource::Nice,
    Resource::Rtprio,
    Resource::Rttime,
];

/// Which part of starting failed.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Step {
    /// No new process could be made.
    Clone,
    /// A control group does not take it.
    Groups,
    /// It can't be made to die with its parent, or the parent has ended.
    Parent,
    /// The folder can't be entered.
    Directory,
    /// The descriptors could not be put in place.
    Descriptors,
    /// The standard input can't be opened where the command is.
    Input,
    /// It can't be traced.
    Trace,
    /// The program could not be executed.
    Exec,
    /// The launcher took the message and ended without an answer: the command may have been started.
    Answer,
}

impl Step {
    const ALL: [Self; 9] = [
        Self::Clone,
        Self::Groups,
        Self::Parent,
        Self::Directory,
        Self::Descriptors,
        Self::Input,
        Self::Trace,
        Self::Exec,
        Self::Answer,
    ];

    /// Its number in a message.
    pub(crate) fn number(self) -> u32 {
        Self::ALL.iter().zip(0..).find(|(step, _)| **step == self).map_or(0, |(_, number)| number)
    }

    /// The step with this number in a message.
    pub(crate) fn numbered(number: u32) -> Self {
        Self::ALL.iter().zip(0..).find(|(_, known)| *known == number).map_or(Self::Clone, |(step, _)| *step)
    }
}

/// Why nothing was started, or why that isn't known ([`Step::Answer`]).
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
    /// The number that lets a launcher's own `exec` pass its filter.
    own_number: u64,
}

// The child calls a handful of libc wrappers; 64 KiB is an order of magnitude more than they need.
const STACK_BYTES: usize = 64 * 1024;

impl Default for Spawner {
    fn default() -> Self {
        Self { stack: vec![0; STACK_BYTES / size_of::<u128>()], own_number: 0 }
    }
}

/// The lists of a plan as the kernel takes them.
#[derive(Debug, Default)]
pub(crate) struct Lists {
    /// Pointers to the arguments, ending in a null pointer.
    argv: Vec<*const c_char>,
    /// Pointers to the environment, ending in a null pointer.
    env: Vec<*const c_char>,
    /// The limits, and the one that carries the tag.
    limits: Vec<(Resource, Rlimit)>,
}

/// Everything the child needs, laid out before it exists.
struct Prepared<'a> {
    plan: &'a Plan<'a>,
    lists: &'a Lists,
    /// Whether a signal may have another action than the default.
    resets_signals: bool,
    empty_mask: libc::sigset_t,
    /// The process that the child is to die with, if it is in the child's process namespace.
    parent: Option<Pid>,
    /// Where the child waits before its program until it is traced.
    hold: Option<BorrowedFd<'a>>,
    /// Goes with the `exec`, as an argument that the kernel doesn't look at.
    own_number: u64,
    /// Why the child failed, written by the child: the memory is shared.
    failure: Option<(Step, Errno)>,
    /// The child's number in its own process namespace, written by the child.
    own_pid: Option<Pid>,
}

/// A process that was started.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Spawned {
    /// Its number for us.
    pub pid: Pid,
    /// Its number for the processes of its pod. Without a pod it is the same.
    pub session_pid: Pid,
}

impl Spawner {
    /// For a launcher whose filter lets an `exec` with this number pass.
    pub(crate) fn with_number(own_number: u64) -> Self {
        Self { own_number, ..Self::default() }
    }

    /// Starts `plan` and returns the process, which leads a session and a process group of its own. The caller reaps it.
    ///
    /// The child gets an empty signal mask and every signal at its default action, whatever the caller has. It dies with
    /// the thread that calls this. The caller's signals are blocked while the child shares its memory, so that no handler
    /// runs in both, and are back as they were afterwards.
    ///
    /// # Errors
    /// When the process can't be made, the folder entered or the program executed. Then nothing is left behind.
    pub fn spawn(&mut self, plan: &Plan<'_>) -> Result<Spawned, SpawnError> {
        let lists = Lists::of(plan);
        let prepared = Prepared::new(plan, &lists, Some(rustix::process::getpid()))?;
        self.start(prepared, 0).map_err(|(child, error)| {
            if child.is_some() {
                // Only to reap it: how it ended is known.
                let _ = rustix::process::waitpid(child, rustix::process::WaitOptions::empty());
            }
            error
        })
    }

    /// The same for a launcher: the process is a child of the calling process's parent, which reaps it and with which it
    /// dies. It may be in another process namespace, where that parent can't be seen.
    ///
    /// With `hold`, a socket, the process writes a byte to it before its program, and waits for one.
    ///
    /// An error comes with the process that the parent has to reap, if one was made.
    pub(crate) fn spawn_for_parent<'a>(
        &mut self,
        plan: &'a Plan<'a>,
        hold: Option<BorrowedFd<'a>>,
    ) -> Result<Spawned, (Option<Pid>, SpawnError)> {
        let lists = Lists::of(plan);
        let prepared = Prepared::new(plan, &lists, None).map_err(|error| (None, error))?;
        self.start(Prepared { hold, ..prepared }, libc::CLONE_PARENT)
    }

    fn start(
        &mut self,
        mut prepared: Prepared<'_>,
        relation: c_int,
    ) -> Result<Spawned, (Option<Pid>, SpawnError)> {
        prepared.own_number = self.own_number;
        // The stack grows down: hand over its end. `Vec<u128>` keeps it aligned to 16 bytes.
        let top = self.stack.as_mut_ptr_range().end.cast::<c_void>();
        let flags = libc::CLONE_VM | libc::CLONE_VFORK | libc::SIGCHLD | relation;
        let argument = ptr::from_mut(&mut prepared).cast::<c_void>();
        let blocked = BlockedSignals::all();
        // SAFETY: `child` makes system calls only, on a stack of its own, and `prepared` outlives it because
        // CLONE_VFORK holds us here until it has called exec or ended.
        let raw = unsafe { libc::clone(child, top, flags, argument) };
        let made = io::Error::last_os_error();
        drop(blocked);
        if raw < 0 {
            return Err((None, SpawnError { step: Step::Clone, source: made }));
        }
        let pid = Pid::from_raw(raw).ok_or_else(|| {
            let source = io::Error::other("the kernel gave no process id");
            (None, SpawnError { step: Step::Clone, source })
        })?;
        // Written by the child through the pointer above, so it must be read as memory that others change.
        // SAFETY: `prepared.failure` is valid and initialised, and the child is past its last write.
        let failure = unsafe { ptr::read_volatile(&raw const prepared.failure) };
        // SAFETY: as above.
        let own_pid = unsafe { ptr::read_volatile(&raw const prepared.own_pid) };
        match failure {
            None => Ok(Spawned { pid, session_pid: own_pid.unwrap_or(pid) }),
            Some((step, errno)) => Err((Some(pid), SpawnError { step, source: errno.into() })),
        }
    }
}

impl<'a> Prepared<'a> {
    fn new(plan: &'a Plan<'a>, lists: &'a Lists, parent: Option<Pid>) -> Result<Self, SpawnError> {
        if plan.stdio.iter().any(|fd| fd.as_raw_fd() <= 2) {
            let source = io::Error::new(io::ErrorKind::InvalidInput, "a descriptor below 3 can't be moved");
            return Err(SpawnError { step: Step::Descriptors, source });
        }
        Ok(Self {
            plan,
            lists,
            resets_signals: !signals::all_default(),
            empty_mask: signals::empty_set(),
            parent,
            hold: None,
            own_number: 0,
            failure: None,
            own_pid: None,
        })
    }
}

impl Lists {
    fn of(plan: &Plan<'_>) -> Self {
        let mut lists = Self::default();
        // Unless the hard limit is too low for the tag.
        let tag = plan.tag.and_then(Tag::limit).map(|limit| (Resource::Locks, limit));
        let strings = |list: &'_ [&CStr]| list.iter().map(|string| string.as_ptr()).collect::<Vec<_>>();
        lists.set_argv(strings(plan.argv));
        lists.set_env(strings(plan.env));
        lists.set_limits(plan.limits.iter().copied().chain(tag));
        lists
    }

    /// The arguments, which must outlive the lists' use.
    pub(crate) fn set_argv(&mut self, strings: impl IntoIterator<Item = *const c_char>) {
        set(&mut self.argv, strings.into_iter().chain([ptr::null()]));
    }

    /// The environment, which must outlive the lists' use.
    pub(crate) fn set_env(&mut self, strings: impl IntoIterator<Item = *const c_char>) {
        set(&mut self.env, strings.into_iter().chain([ptr::null()]));
    }

    /// The limits.
    pub(crate) fn set_limits(&mut self, limits: impl IntoIterator<Item = (Resource, Rlimit)>) {
        set(&mut self.limits, limits);
    }
}

/// Allocates only what the list has never held.
fn set<T>(list: &mut Vec<T>, items: impl IntoIterator<Item = T>) {
    list.clear();
    list.extend(items);
}

/// Runs in the child, in our memory. System calls only.
extern "C" fn child(argument: *mut c_void) -> c_int {
    // SAFETY: `argument` is the `Prepared` of the call above, alive and untouched while we run.
    let prepared = unsafe { &mut *argument.cast::<Prepared<'_>>() };
    // SAFETY: as above; volatile because the other side reads it behind the compiler's back.
    unsafe { ptr::write_volatile(&raw mut prepared.own_pid, Some(rustix::process::getpid())) };
    let Err(failure) = become_program(prepared);
    // SAFETY: as above; volatile because the other side reads it behind the compiler's back.
    unsafe { ptr::write_volatile(&raw mut prepared.failure, Some(failure)) };
    // SAFETY: ends the child at once, without running exit handlers that belong to the parent's memory.
    unsafe { libc::_exit(127) }
}

/// Returns only on failure. Everything of `rustix` in it is a system call without allocation.
fn become_program(prepared: &Prepared<'_>) -> Result<Infallible, (Step, Errno)> {
    let plan = prepared.plan;
    for group in plan.groups {
        // 0 stands for the process that writes it.
        rustix::io::write(group, b"0").map_err(|errno| (Step::Groups, errno))?;
    }
    // It can't fail: a new process leads no group yet.
    let _ = rustix::process::setsid();
    if let Some(terminal) = plan.terminal {
        // A session without a terminal, which we just made, may take one that no other session has.
        rustix::process::ioctl_tiocsctty(terminal).map_err(|errno| (Step::Descriptors, errno))?;
    }
    die_with(prepared.parent)?;
    rustix::process::umask(Mode::from_raw_mode(plan.umask));
    for (resource, limit) in &prepared.lists.limits {
        // One that can't be set is left as it is.
        let _ = rustix::process::setrlimit(*resource, *limit);
    }
    // All of them lie above 2, so none is overwritten before it is copied.
    let [stdin, stdout, stderr] = plan.stdio;
    rustix::stdio::dup2_stdin(stdin).map_err(|errno| (Step::Descriptors, errno))?;
    rustix::stdio::dup2_stdout(stdout).map_err(|errno| (Step::Descriptors, errno))?;
    rustix::stdio::dup2_stderr(stderr).map_err(|errno| (Step::Descriptors, errno))?;
    rustix::process::chdir(plan.directory).map_err(|errno| (Step::Directory, errno))?;
    if let Some(hold) = prepared.hold {
        wait_for_tracer(hold)?;
    }
    // First the actions, then the mask: a signal that waits now must not run a handler of ours in the child.
    if prepared.resets_signals {
        signals::reset_in_child();
    }
    signals::set_mask(libc::SIG_SETMASK, &prepared.empty_mask);
    let (program, argv, env) =
        (plan.program.as_ptr(), prepared.lists.argv.as_ptr(), prepared.lists.env.as_ptr());
    // SAFETY: all three point to NUL-terminated strings, the lists end in a null pointer.
    unsafe { libc::syscall(libc::SYS_execve, program, argv, env, 0_u64, 0_u64, prepared.own_number) };
    let errno = io::Error::last_os_error();
    Err((Step::Exec, Errno::from_io_error(&errno).unwrap_or(Errno::IO)))
}

/// Tells the tracer who we are, and waits until it traces us. The kernel adds our process id to the byte.
fn wait_for_tracer(hold: BorrowedFd<'_>) -> Result<(), (Step, Errno)> {
    rustix::io::write(hold, &[0]).map_err(|errno| (Step::Trace, errno))?;
    let mut byte = [0];
    match rustix::io::retry_on_intr(|| rustix::io::read(hold, &mut byte)) {
        Ok(1) => Ok(()),
        // The tracer can't or doesn't want to, or it is gone.
        Ok(_) => Err((Step::Trace, Errno::PERM)),
        Err(errno) => Err((Step::Trace, errno)),
    }
}

/// Has the kernel kill this process when `parent` ends: a command must not outlive the keeper that answers for it.
///
/// A parent that ended before the kernel knew of this sends no signal any more. Then we have another parent by now.
fn die_with(parent: Option<Pid>) -> Result<(), (Step, Errno)> {
    let death = rustix::process::set_parent_process_death_signal(Some(rustix::process::Signal::KILL));
    death.map_err(|errno| (Step::Parent, errno))?;
    match parent {
        Some(parent) if rustix::process::getppid() != Some(parent) => Err((Step::Parent, Errno::SRCH)),
        _ => Ok(()),
    }
}

#[cfg(test)]
mod tests {
    use std::fs::File;
    use std::os::fd::AsFd as _;

    use super::*;

    fn with_plan<T>(test: impl FnOnce(&Plan<'_>) -> T) -> T {
        let null = File::options().read(true).write(true).open("/dev/null").unwrap();
        let argv = [c"sh", c"-c", c"exit 3"];
        test(&Plan {
            program: c"/bin/sh",
            argv: &argv,
            env: &[],
            directory: c"/",
            stdio: [null.as_fd(); 3],
            terminal: None,
            umask: 0o22,
            limits: &[],
            tag: None,
            groups: &[],
        })
    }

    /// As if the parent had died before the child asked the kernel to be told.
    #[test]
    #[cfg_attr(miri, ignore = "Miri has no clone")]
    fn a_child_whose_parent_has_ended_starts_nothing() {
        with_plan(|plan| {
            let lists = Lists::of(plan);
            let other = Pid::from_raw(i32::MAX).unwrap();
            let (child, error) =
                Spawner::default().start(Prepared::new(plan, &lists, Some(other)).unwrap(), 0).unwrap_err();
            rustix::process::waitpid(child, rustix::process::WaitOptions::empty()).unwrap();
            assert_eq!((error.step, error.source.raw_os_error()), (Step::Parent, Some(libc::ESRCH)));
            let own = rustix::process::getpid();
            let pid = Spawner::default().start(Prepared::new(plan, &lists, Some(own)).unwrap(), 0).unwrap();
            let ended = rustix::process::waitpid(Some(pid.pid), rustix::process::WaitOptions::empty());
            assert_eq!(ended.unwrap().unwrap().1.exit_status(), Some(3), "and else the program");
        });
    }

    #[test]
    fn lists_for_the_kernel_end_in_a_null_pointer() {
        let strings = [c"a", c""];
        let mut lists = Lists::default();
        for times in 0..2 {
            lists.set_argv(strings.iter().map(|string| string.as_ptr()));
            assert_eq!(lists.argv.len(), 3, "filled {times} times before");
        }
        assert!(lists.argv[2].is_null());
        // SAFETY: points to the first of `strings`, which is alive.
        assert_eq!(unsafe { CStr::from_ptr(lists.argv[0]) }, c"a");
    }
}
