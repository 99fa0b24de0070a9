//! The launcher's own process.

mod ready;

use std::ffi::c_int;
use std::os::fd::{AsFd as _, OwnedFd};

use rustix::event::{PollFd, PollFlags};
use rustix::fs::{Mode, OFlags};
use rustix::io::Errno;
use rustix::process::{Pid, Resource, Rlimit};

use super::message::{self, Reader, Receiver, Writer};
use super::walls::{self, Walls};
use crate::Confinement;
use crate::confinement::Network;
use crate::sys::broker;
use crate::sys::pod::{self, ConfineError, Context as _, Mechanism, Namespaces, OwnLinks};
use crate::sys::spawn::{Plan, ReadyEnd, SpawnError, Spawned, Spawner, Step};
use ready::{NextPlan, PlanMemory};

/// How an answer begins.
pub(super) const OK: u8 = 0;
const FAILED: u8 = 1;

/// What the keeper wants of a launcher, as the first number of a message.
pub(super) mod order {
    /// Start a command.
    pub(in super::super) const START: u64 = 0;
    /// Make a process ready for the next command.
    pub(in super::super) const MAKE_READY: u64 = 1;
    /// End the process that was made ready.
    pub(in super::super) const DISMISS: u64 = 2;
}

/// How a launcher gets into its pod. The descriptors of the message are the session's memory, the socket for observations,
/// and then the socket of the new pod's first process, or the namespaces.
pub(super) enum Entry {
    Create,
    Join { network: bool },
}

impl Entry {
    pub(super) fn text(&self, has_user_namespace: bool) -> Vec<u8> {
        let mut text = Writer::default();
        let (joins, network) = match self {
            Self::Create => (false, false),
            Self::Join { network } => (true, *network),
        };
        [joins, has_user_namespace, network].into_iter().for_each(|fact| text.number(u64::from(fact)));
        text.0
    }
}

/// The launcher: confines itself, then starts what it is told to, until the keeper closes its end of `socket`.
pub(super) fn run([socket]: [OwnedFd; 1], confinement: Confinement) -> c_int {
    // The name only helps people who look at a list of processes.
    let _ = rustix::thread::set_name(c"shellgate-launch");
    match confine(&socket, &confinement) {
        Ok(walls) => serve(&socket, &walls),
        Err(error) => {
            // A keeper that is gone needs no answer.
            let _ = message::send(socket.as_fd(), &failure(&error), &[]);
            1
        }
    }
}

fn confine(socket: &OwnedFd, confinement: &Confinement) -> Result<Walls, ConfineError> {
    let flags = OFlags::PATH | OFlags::DIRECTORY | OFlags::CLOEXEC;
    let proc = rustix::fs::open("/proc", flags, Mode::empty()).context(Mechanism::Broker, "/proc")?;
    let links = OwnLinks::open().context(Mechanism::Namespaces, "/proc/self/ns")?;
    let cut_off = || ConfineError::new(Mechanism::Process, "the keeper's message", Errno::BADMSG);
    let received =
        Receiver::default().receive(socket.as_fd()).context(Mechanism::Process, "the keeper's message")?;
    let (text, descriptors) = received.ok_or_else(cut_off)?;
    let mut descriptors = descriptors.into_iter();
    let mut next = || descriptors.next().ok_or_else(cut_off);
    let mut facts = Reader(&text);
    let mut fact = || facts.number().map(|number| number != 0).ok_or_else(cut_off);
    let (joins, has_user, has_network) = (fact()?, fact()?, fact()?);
    let parts = broker::Parts { proc, session: next()?, observations: next()? };
    let (namespaces, init) = if joins {
        let user = if has_user { Some(next()?) } else { None };
        let namespaces = Namespaces { user, mounts: next()?, ipc: next()?, pids: next()? };
        namespaces.join()?;
        (namespaces, None)
    } else {
        let (namespaces, init) = pod::create(&links, next()?)?;
        (namespaces, Some(init))
    };
    let network = match confinement.network {
        Network::Host => None,
        Network::Private => {
            let existing = if has_network { Some(next()?) } else { None };
            pod::take_private_network(&links, existing.as_ref())?
        }
    };
    drop(links);
    let mut answer = Writer(vec![OK]);
    answer.pid(init);
    answer.number(u64::from(namespaces.user.is_some()));
    let own = namespaces.user.iter().chain([&namespaces.mounts, &namespaces.ipc, &namespaces.pids]);
    let told: Vec<_> = own.filter(|_| init.is_some()).chain(&network).map(|fd| fd.as_fd()).collect();
    message::send(socket.as_fd(), &answer.0, &told).context(Mechanism::Process, "answering the keeper")?;
    drop(told);
    drop(network);
    pod::lay_out(confinement, parts.proc.as_fd())?;
    let walls = walls::put_up(confinement, &namespaces, parts)?;
    let mut answer = Writer(vec![OK]);
    answer.number(u64::from(walls.broker.pid.as_raw_nonzero().get().unsigned_abs()));
    message::send(socket.as_fd(), &answer.0, &[]).context(Mechanism::Process, "answering the keeper")?;
    Ok(walls)
}

/// Starts commands until the keeper closes its end of `socket`, or the broker ends: without it, commands could make
/// no file.
fn serve(socket: &OwnedFd, walls: &Walls) -> c_int {
    let mut spawner = Spawner::with_number(walls.own_number);
    let mut receiver = Receiver::default();
    let mut memory = PlanMemory::default();
    while next_message_is_there(socket, walls) {
        let Ok(Some((text, descriptors))) = receiver.receive(socket.as_fd()) else { return 0 };
        let mut rest = Reader(&text);
        let answer = match rest.number() {
            Some(order::START) => Some(start(&mut spawner, rest, &descriptors)),
            Some(order::MAKE_READY) => {
                let mut source = NextPlan { socket, walls, receiver: &mut receiver, memory: &mut memory };
                match spawner.make_ready(&mut source) {
                    Ok((_, ReadyEnd::Begun(started))) => Some(Ok(started)),
                    Ok((_, ReadyEnd::Dismissed)) => None,
                    Ok((pid, ReadyEnd::Failed(step, errno))) => {
                        Some(Err((Some(pid), SpawnError { step, source: errno.into() })))
                    }
                    Err((step, source)) => Some(Err((None, SpawnError { step, source }))),
                }
            }
            // A process that was made ready has gone already.
            _ => None,
        };
        drop(descriptors);
        if let Some(answer) = answer
            && message::send(socket.as_fd(), &answer_text(answer), &[]).is_err()
        {
            return 0;
        }
    }
    1
}

/// Waits for a message, or for its sender's end. `false`: the broker has ended.
fn next_message_is_there(socket: &OwnedFd, walls: &Walls) -> bool {
    let mut wanted = [
        PollFd::from_borrowed_fd(walls.broker.lifeline(), PollFlags::empty()),
        PollFd::new(socket, PollFlags::IN),
    ];
    let waited = rustix::io::retry_on_intr(|| rustix::event::poll(&mut wanted, None));
    let ended = |fd: &PollFd<'_>| fd.revents().intersects(PollFlags::HUP | PollFlags::ERR);
    waited.is_ok() && !wanted.iter().take(1).any(ended)
}

fn answer_text(started: Result<Spawned, (Option<Pid>, SpawnError)>) -> Vec<u8> {
    let (child, step, errno) = match started {
        Ok(started) => (Some(started), Step::Clone, 0),
        Err((child, error)) => {
            let child = child.map(|pid| Spawned { pid, session_pid: pid });
            (child, error.step, error.source.raw_os_error().unwrap_or(libc::EIO))
        }
    };
    let mut answer = Writer::default();
    answer.pid(child.map(|child| child.pid));
    answer.pid(child.map(|child| child.session_pid));
    answer.number(u64::from(step.number()));
    answer.number(u64::from(errno.unsigned_abs()));
    answer.0
}

/// Starts one command. A child that failed before its program began comes with the error: the keeper reaps it.
fn start(
    spawner: &mut Spawner,
    mut reader: Reader<'_>,
    descriptors: &[OwnedFd],
) -> Result<Spawned, (Option<Pid>, SpawnError)> {
    let cut_off = || (None, SpawnError { step: Step::Clone, source: Errno::BADMSG.into() });
    let mut number = || reader.number().ok_or_else(cut_off);
    let (umask, has_terminal, is_held) = (number()?, number()? != 0, number()? != 0);
    let count = reader.count().ok_or_else(cut_off)?;
    let limits: Option<Vec<(Resource, Rlimit)>> = (0..count).map(|_| reader.limit()).collect();
    let limits = limits.ok_or_else(cut_off)?;
    let (program, directory) = (reader.string().ok_or_else(cut_off)?, reader.string().ok_or_else(cut_off)?);
    let (argv, env) = (reader.strings().ok_or_else(cut_off)?, reader.strings().ok_or_else(cut_off)?);
    let mut borrowed = descriptors.iter().map(|fd| fd.as_fd());
    let mut next = || borrowed.next().ok_or_else(cut_off);
    let stdio = [next()?, next()?, next()?];
    let terminal = if has_terminal { Some(next()?) } else { None };
    let hold = if is_held { Some(next()?) } else { None };
    let groups: Vec<_> = borrowed.collect();
    let plan = Plan {
        program,
        argv: &argv,
        env: &env,
        directory,
        stdio,
        terminal,
        umask: u32::try_from(umask).unwrap_or(0o77),
        limits: &limits,
        tag: None,
        groups: &groups,
    };
    spawner.spawn_for_parent(&plan, hold)
}

fn failure(error: &ConfineError) -> Vec<u8> {
    let mut text = Writer(vec![FAILED, error.mechanism.number()]);
    text.number(u64::from(error.errno().raw_os_error().unsigned_abs()));
    text.string(&message::c_string(&error.detail));
    text.0
}

/// Reads what [`failure`] wrote.
pub(super) fn read_failure(text: &[u8]) -> ConfineError {
    let mechanism = pod::Mechanism::numbered(text.get(1).copied().unwrap_or(0));
    let mut rest = Reader(text.get(2..).unwrap_or_default());
    let errno = rest.number().and_then(|errno| i32::try_from(errno).ok()).unwrap_or(libc::EIO);
    let detail = rest.string().unwrap_or_default().to_string_lossy().into_owned();
    ConfineError::new(mechanism, detail, std::io::Error::from_raw_os_error(errno))
}
