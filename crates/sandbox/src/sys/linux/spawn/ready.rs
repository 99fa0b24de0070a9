//! A process that is made before it is known what it is to run.
//!
//! Making a process, its session and its place in the pod takes as long as judging a command. Both can happen at the same time: the
//! process waits, and runs the plan that comes. We stand still as long as it waits, because it shares our memory; so
//! there is one such process at most, and whatever comes for us meanwhile is for it.
//!
//! What it allocates in our memory must be ours: it never frees anything. A [`PlanSource`] keeps what it fills, and uses it again.

use std::ffi::{c_int, c_void};
use std::{io, ptr};

use rustix::io::Errno;
use rustix::process::Pid;

use super::{Lists, Plan, Prepared, Spawned, Spawner, Step, become_program, die_with};
use crate::sys::signals::{self, BlockedSignals};

/// Where a process that was made ready gets its plan from. It is asked in the new process.
pub(crate) trait PlanSource {
    /// Waits for the plan and its lists. `pid`: the new process, as the calling one sees it. `None`: there is no plan, and the
    /// process is to end.
    ///
    /// # Errors
    /// Which step failed.
    fn next(&mut self, pid: Option<Pid>) -> Result<Option<(Plan<'_>, &Lists)>, (Step, Errno)>;
}

/// What became of a process that was made ready.
#[derive(Debug)]
pub(crate) enum ReadyEnd {
    /// It runs its plan.
    Begun(Spawned),
    /// It ended without a plan.
    Dismissed,
    /// It ended because a step failed.
    Failed(Step, Errno),
}

/// What the new process and we share.
struct Shared<'a> {
    source: &'a mut dyn PlanSource,
    own_number: u64,
    resets_signals: bool,
    empty_mask: libc::sigset_t,
    /// The process as we see it, written by the kernel before the process runs.
    pid: libc::pid_t,
    /// The same in its own process namespace, written by the process.
    own_pid: Option<Pid>,
    /// How far it has come, written by the process.
    progress: Progress,
}

#[derive(Clone, Copy, Debug)]
enum Progress {
    Waits,
    Runs,
    Dismissed,
    Failed(Step, Errno),
}

impl Spawner {
    /// Makes a process for the calling process's parent, which reaps it and with which it dies. Returns when it runs the plan of
    /// `source`, or has ended. When it was killed while it waited, the calling process ends, too.
    ///
    /// # Errors
    /// When no process can be made.
    pub(crate) fn make_ready(
        &mut self,
        source: &mut dyn PlanSource,
    ) -> Result<(Pid, ReadyEnd), (Step, io::Error)> {
        let mut shared = Shared {
            source,
            own_number: self.own_number,
            resets_signals: !signals::all_default(),
            empty_mask: signals::empty_set(),
            pid: 0,
            own_pid: None,
            progress: Progress::Waits,
        };
        let top = self.stack.as_mut_ptr_range().end.cast::<c_void>();
        let flags = libc::CLONE_VM
            | libc::CLONE_VFORK
            | libc::CLONE_PARENT
            | libc::CLONE_PARENT_SETTID
            | libc::SIGCHLD;
        let argument = ptr::from_mut(&mut shared).cast::<c_void>();
        let number = &raw mut shared.pid;
        let blocked = BlockedSignals::all();
        // SAFETY: `ready` runs on a stack of its own; `shared` and the number outlive it because CLONE_VFORK holds us here until
        // it has called exec or ended, so that only one of us uses the memory at any time.
        let raw = unsafe { libc::clone(ready, top, flags, argument, number) };
        let made = io::Error::last_os_error();
        drop(blocked);
        let Some(pid) = Pid::from_raw(raw.max(0)) else { return Err((Step::Clone, made)) };
        // Written by the process through the pointer above, so it must be read as memory that others change.
        // SAFETY: valid and initialised, and the process is past its last write.
        let progress = unsafe { ptr::read_volatile(&raw const shared.progress) };
        // SAFETY: as above.
        let own_pid = unsafe { ptr::read_volatile(&raw const shared.own_pid) };
        let end = match progress {
            Progress::Runs => ReadyEnd::Begun(Spawned { pid, session_pid: own_pid.unwrap_or(pid) }),
            // It was killed, perhaps in the middle of a change of our memory: nothing may be done with that any more.
            // SAFETY: ends this process at once.
            Progress::Waits => unsafe { libc::_exit(1) },
            Progress::Dismissed => ReadyEnd::Dismissed,
            Progress::Failed(step, errno) => ReadyEnd::Failed(step, errno),
        };
        Ok((pid, end))
    }
}

/// Runs in the new process, in our memory.
extern "C" fn ready(argument: *mut c_void) -> c_int {
    // SAFETY: `argument` is the `Shared` of the call above, alive and untouched while we run.
    let shared = unsafe { &mut *argument.cast::<Shared<'_>>() };
    let progress = &raw mut shared.progress;
    let ended = wait_and_run(shared, progress);
    let last = ended.map_or_else(|(step, errno)| Progress::Failed(step, errno), |()| Progress::Dismissed);
    // SAFETY: as above; volatile because the other side reads it behind the compiler's back.
    unsafe { ptr::write_volatile(progress, last) };
    // SAFETY: ends the process at once, without running exit handlers that belong to the parent's memory.
    unsafe { libc::_exit(127) }
}

/// Returns only when there is no plan, or a step failed.
fn wait_and_run(shared: &mut Shared<'_>, progress: *mut Progress) -> Result<(), (Step, Errno)> {
    die_with(None)?;
    // SAFETY: valid; volatile because the other side reads it behind the compiler's back.
    unsafe { ptr::write_volatile(&raw mut shared.own_pid, Some(rustix::process::getpid())) };
    let planned = shared.source.next(Pid::from_raw(shared.pid.max(0)))?;
    let Some((plan, lists)) = planned else { return Ok(()) };
    // Those that were sent to the process before it was this command are not for the command.
    signals::discard_pending();
    let mut prepared = Prepared::new(&plan, lists, None)
        .map_err(|error| (error.step, Errno::from_io_error(&error.source).unwrap_or(Errno::INVAL)))?;
    prepared.own_number = shared.own_number;
    prepared.resets_signals = shared.resets_signals;
    prepared.empty_mask = shared.empty_mask;
    // SAFETY: as above.
    unsafe { ptr::write_volatile(progress, Progress::Runs) };
    let Err(failure) = become_program(&prepared);
    Err(failure)
}
