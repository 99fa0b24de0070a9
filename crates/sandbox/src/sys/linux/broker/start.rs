//! Starting a broker beside the calling launcher.

use std::ffi::c_int;
use std::os::fd::{AsFd as _, AsRawFd as _, BorrowedFd, OwnedFd};
use std::path::PathBuf;
use std::{io, ptr};

use rustix::fs::{Mode, OFlags};
use rustix::io::Errno;
use rustix::process::{Pid, PidfdFlags, PidfdGetfdFlags, Resource, Rlimit};

use super::context::Context;
use super::effects::Told;
use super::name_watch::NameEvents;
use super::notifications::Listener;
use super::pool::Pool;
use super::privilege::{self, with_access};
use super::protections::{Protections, own_link};
use super::refusals::Refusals;
use super::serve;
use super::session::Session;
use super::turn::Turn;
use crate::confinement::{Confinement, Observing, Protected};
use crate::sys::descriptors;
use crate::sys::pod::{ConfineError, Context as _, Mechanism};
use crate::sys::walls::seccomp;

/// What a broker needs from outside, beside the confinement.
#[derive(Debug)]
pub(crate) struct Parts {
    /// The machine's `/proc`, opened before it was covered.
    pub(crate) proc: OwnedFd,
    /// The memory that the brokers of a session share; see [`create_session`](super::create_session).
    pub(crate) session: OwnedFd,
    /// A socket for messages, where refusals are told.
    pub(crate) observations: OwnedFd,
}

/// A broker that runs. The launcher keeps it.
#[derive(Debug)]
pub(crate) struct Started {
    /// Its process, a child of the launcher's parent.
    pub(crate) pid: Pid,
    /// The launcher's listener is told here.
    listener_number: OwnedFd,
    /// The broker writes to it when it is ready. It is closed when the broker has ended.
    answers: OwnedFd,
}

impl Started {
    /// Hands over the listener, and waits until the broker answers held calls. From here on the launcher must not make any
    /// of these before that.
    pub(crate) fn hand_over(&self, listener: &seccomp::Listener) -> Result<(), ConfineError> {
        let told = rustix::io::write(&self.listener_number, &listener.fd.as_raw_fd().to_ne_bytes());
        told.context(Mechanism::Broker, "telling it the listener")?;
        let mut answer = [0; 4];
        let read = rustix::io::retry_on_intr(|| rustix::io::read(&self.answers, &mut answer))
            .context(Mechanism::Broker, "its answer")?;
        let source = match (read, i32::from_ne_bytes(answer)) {
            (1, _) => return Ok(()),
            (4, errno) => io::Error::from_raw_os_error(errno),
            _ => io::Error::other("it ended early"),
        };
        Err(ConfineError::new(Mechanism::Broker, "starting it", source))
    }

    /// Hangs up when the broker has ended.
    pub(crate) fn lifeline(&self) -> BorrowedFd<'_> {
        self.answers.as_fd()
    }
}

/// What the broker's process keeps of its memory.
struct Plan {
    parts: Parts,
    protected: Vec<Protected>,
    granted: Vec<PathBuf>,
    writable: Vec<PathBuf>,
    observing: Observing,
    launcher: Pid,
    listener_number: OwnedFd,
    report: OwnedFd,
}

/// Starts a broker. The calling process has one thread, is in its Landlock domain, its mounts are laid out, and its
/// children get process ids of the machine.
pub(crate) fn start(parts: Parts, confinement: &Confinement) -> Result<Started, ConfineError> {
    let pipe =
        || rustix::pipe::pipe_with(rustix::pipe::PipeFlags::CLOEXEC).context(Mechanism::Broker, "a pipe");
    let ((number_read, number_write), (answers, report)) = (pipe()?, pipe()?);
    let flags = libc::CLONE_PARENT | libc::SIGCHLD;
    let none = ptr::null::<()>();
    let launcher = rustix::process::getpid();
    // SAFETY: without CLONE_VM this is a fork: the child has a copy of our memory and goes on from here. We have one
    // thread, so no lock is held by another.
    let raw = unsafe { libc::syscall(libc::SYS_clone, flags, none, none, none, none) };
    let made = io::Error::last_os_error();
    match c_int::try_from(raw).unwrap_or(-1) {
        0 => {
            drop((number_write, answers));
            end(run(Plan {
                parts,
                protected: confinement.protected.clone(),
                granted: confinement.sockets.clone(),
                writable: confinement.writable.clone(),
                observing: confinement.observing,
                launcher,
                listener_number: number_read,
                report,
            }))
        }
        -1 => Err(ConfineError::new(Mechanism::Broker, "starting it", made)),
        raw => {
            let pid = Pid::from_raw(raw).ok_or_else(|| {
                let source = io::Error::other("the kernel gave no process id");
                ConfineError::new(Mechanism::Broker, "starting it", source)
            })?;
            Ok(Started { pid, listener_number: number_write, answers })
        }
    }
}

fn end(code: c_int) -> ! {
    // SAFETY: ends this process at once. Exit handlers and buffers are copies of the launcher's.
    unsafe { libc::_exit(code) }
}

/// The broker's process.
fn run(plan: Plan) -> c_int {
    // The name only helps people who look at a list of processes.
    let _ = rustix::thread::set_name(c"shellgate-broker");
    let parts = &plan.parts;
    let kept = [&parts.proc, &parts.session, &parts.observations, &plan.listener_number, &plan.report];
    let kept: Vec<c_int> = kept.iter().map(|fd| fd.as_raw_fd()).chain(0..=2).collect();
    // SAFETY: this process runs nothing else than this function, which names no other descriptor.
    unsafe { descriptors::close_all_except(&kept) };
    let report = plan.report.try_clone();
    let Ok(report) = report else { return 1 };
    match prepare(plan) {
        Ok((context, ready)) => {
            drop(report);
            serve::run(context, ready)
        }
        Err(error) => {
            let errno = error.raw_os_error().unwrap_or(libc::EIO);
            // A launcher that is gone needs no answer.
            let _ = rustix::io::write(&report, &errno.to_ne_bytes());
            1
        }
    }
}

fn prepare(plan: Plan) -> io::Result<(Context, OwnedFd)> {
    privilege::keep_only_needed().map_err(io::Error::other)?;
    // Set after the change of capabilities, which may clear it. A second way to end, beside the listener's hang-up.
    rustix::process::set_parent_process_death_signal(Some(rustix::process::Signal::KILL))?;
    let limit = rustix::process::getrlimit(Resource::Nofile);
    // Calls that wait hold some descriptors each.
    let _ = rustix::process::setrlimit(Resource::Nofile, Rlimit { current: limit.maximum, ..limit });
    let flags = OFlags::PATH | OFlags::DIRECTORY | OFlags::CLOEXEC;
    let root = rustix::fs::open("/", flags, Mode::empty())?;
    rustix::process::fchdir(&plan.parts.proc)?;
    let mut number = [0; 4];
    if rustix::io::retry_on_intr(|| rustix::io::read(&plan.listener_number, &mut number))? != number.len() {
        return Err(Errno::PIPE.into());
    }
    let launcher = rustix::process::pidfd_open(plan.launcher, PidfdFlags::empty())?;
    let number = c_int::from_ne_bytes(number);
    let listener = with_access(|| rustix::process::pidfd_getfd(&launcher, number, PidfdGetfdFlags::empty()))?;
    // Opened once more, because a lock belongs to what was opened, and all brokers got the same.
    let memory = own_link(plan.parts.session.as_fd());
    let names_of_session =
        rustix::fs::openat(&plan.parts.proc, memory, OFlags::RDONLY | OFlags::CLOEXEC, Mode::empty())?;
    let context = Context {
        listener: Listener::new(listener),
        session: Session::map(&plan.parts.session)?,
        protections: Protections::new(&plan.protected),
        granted: plan.granted,
        proc: plan.parts.proc,
        root,
        refusals: Refusals::new(plan.parts.observations, plan.writable, plan.observing),
        told: (plan.observing != Observing::Refusals).then(Told::new),
        pool: Pool::new()?,
        turn: Turn::default(),
        names: std::sync::RwLock::default(),
        names_of_session,
        name_events: NameEvents::default(),
    };
    context.listener.wake_on_same_processor();
    Ok((context, plan.report))
}
