//! The launcher and its pod, as the keeper knows them.

use std::io;
use std::os::fd::{AsFd, BorrowedFd, OwnedFd};
use std::sync::Arc;
use std::time::{Duration, Instant};

use rustix::event::{PollFd, PollFlags, Timespec};
use rustix::io::Errno;
use rustix::net::{AddressFamily, RecvFlags, SendFlags, SocketFlags, SocketType};
use rustix::process::{Pid, Resource, Signal};

use super::freshness::Freshness;
use super::message::{self, Reader, Receiver, Writer};
use super::observations::Observations;
use super::process::{self, order};
use crate::Confinement;
use crate::confinement::Network;
use crate::sys::broker;
use crate::sys::folder_watch::FolderWatch;
use crate::sys::fork::fork_detached;
use crate::sys::pod::{ConfineError, Context as _, Mechanism, Namespaces, SUSPEND, protected_with_targets};
use crate::sys::spawn::{Plan, SpawnError, Spawned, Step, Tag};
use crate::sys::trace::{self, Tracer};

/// The pod of a session. When it is dropped, the kernel kills every process in it.
#[derive(Debug)]
pub struct Pod {
    namespaces: Namespaces,
    init: Pid,
    socket: OwnedFd,
    network: Option<OwnedFd>,
    /// The memory that the brokers of the session share.
    session: OwnedFd,
}

impl Pod {
    /// The pod's first process. It is a child of the process that started the pod's first launcher, which reaps it. Its
    /// children are the orphans of the pod.
    #[must_use]
    pub const fn init(&self) -> Pid {
        self.init
    }

    /// Suspends all processes of the pod at once. Returns whether they were, within `timeout`.
    #[must_use]
    pub fn suspend(&self, timeout: Duration) -> bool {
        let until = Instant::now() + timeout;
        if rustix::net::send(&self.socket, &[SUSPEND], SendFlags::NOSIGNAL).is_err() {
            return false;
        }
        loop {
            let left = until.saturating_duration_since(Instant::now());
            let Ok(left) = Timespec::try_from(left) else { return false };
            let mut wanted = [PollFd::new(&self.socket, PollFlags::IN)];
            let mut word = [0];
            match rustix::event::poll(&mut wanted, Some(&left)) {
                Ok(0) => return false,
                Ok(_) => {}
                Err(Errno::INTR) => continue,
                Err(_) => return false,
            }
            match rustix::net::recv(&self.socket, &mut word[..], RecvFlags::DONTWAIT) {
                Ok((_, 1)) if word == [SUSPEND] => return true,
                // Orphans have ended. The caller looks at them after this anyway.
                Ok((_, 1)) | Err(Errno::AGAIN | Errno::INTR) => {}
                _ => return false,
            }
        }
    }

    /// Forgets what [`AsFd`] reported. Returns whether the pod has ended.
    pub fn clear_events(&self) -> bool {
        loop {
            let mut byte = [0];
            match rustix::net::recv(&self.socket, &mut byte[..], RecvFlags::DONTWAIT) {
                Ok((0, _)) => return true,
                Ok(_) => {}
                Err(errno) => return errno != Errno::AGAIN,
            }
        }
    }
}

/// Can be read when orphans of the pod have ended, or when the pod has.
impl AsFd for Pod {
    fn as_fd(&self) -> BorrowedFd<'_> {
        self.socket.as_fd()
    }
}

/// A launcher. It ends when this is dropped; commands that it started go on.
#[derive(Debug)]
pub struct Launcher {
    socket: OwnedFd,
    receiver: Receiver,
    pid: Pid,
    freshness: Freshness,
    observations: Arc<Observations>,
    broker: Option<Pid>,
    ready: Option<Ready>,
}

/// A process that waits for its plan.
#[derive(Clone, Copy, Debug)]
struct Ready {
    pid: Pid,
    is_traced: bool,
}

impl Launcher {
    /// Starts a launcher with this confinement in `pod`, or in a new pod if there is none. The calling process must have
    /// one thread. It reaps the launcher, its broker, the pod's first process and all commands.
    ///
    /// # Errors
    /// When the kernel lacks something that confinement needs. Then nothing is left behind.
    pub fn start(confinement: &Confinement, pod: &mut Option<Pod>) -> Result<Self, ConfineError> {
        let (ours, theirs) = socket_pair()?;
        let freshness = Freshness::of(confinement);
        let protected = protected_with_targets(confinement);
        let pid = fork_detached([theirs], Confinement { protected, ..confinement.clone() }, process::run)
            .context(Mechanism::Process, "starting a launcher")?;
        let (observations, told) = socket_pair()?;
        let observations = Arc::new(Observations::new(observations));
        let mut launcher = Self {
            socket: ours,
            receiver: Receiver::default(),
            pid,
            freshness,
            observations,
            broker: None,
            ready: None,
        };
        match launcher.enter(confinement, pod, told) {
            Ok(()) => Ok(launcher),
            Err(error) => {
                drop(launcher.socket);
                // It ends by itself, because its socket is closed. Only to reap it.
                let _ = rustix::process::waitpid(Some(pid), rustix::process::WaitOptions::empty());
                Err(error)
            }
        }
    }

    /// The launcher's process.
    #[must_use]
    pub const fn pid(&self) -> Pid {
        self.pid
    }

    /// Whether its mounts still fit the machine's files. If not, another launcher with the same confinement is needed. `watch`
    /// makes that cheap from the fourth time on.
    pub fn is_current(&mut self, confinement: &Confinement, watch: Option<&mut FolderWatch>) -> bool {
        self.freshness.holds(confinement, watch)
    }

    /// The process that answers the held calls of the launcher's commands. It ends when the launcher and all commands
    /// have ended. When it is killed, the launcher ends.
    #[must_use]
    pub const fn broker(&self) -> Option<Pid> {
        self.broker
    }

    /// What the launcher's commands were refused. It can be read as long as one of them lives, also when the launcher
    /// was dropped.
    #[must_use]
    pub fn observations(&self) -> Arc<Observations> {
        Arc::clone(&self.observations)
    }

    fn enter(
        &mut self,
        confinement: &Confinement,
        pod: &mut Option<Pod>,
        told: OwnedFd,
    ) -> Result<(), ConfineError> {
        let new_session = match pod {
            Some(_) => None,
            None => Some(broker::create_session().context(Mechanism::Broker, "memory for the session")?),
        };
        let mut created = None;
        let entry = match pod {
            Some(pod) => process::Entry::Join { network: pod.network.is_some() },
            None => process::Entry::Create,
        };
        let (text, own): (Vec<u8>, Vec<BorrowedFd<'_>>) = match pod.as_ref() {
            Some(pod) => (entry.text(pod.namespaces.user.is_some()), pod.descriptors()),
            None => {
                let (ours, theirs) = socket_pair()?;
                (entry.text(false), vec![created.insert((ours, theirs)).1.as_fd()])
            }
        };
        let session = new_session.as_ref().or_else(|| pod.as_ref().map(|pod| &pod.session));
        let descriptors: Vec<BorrowedFd<'_>> =
            session.map(AsFd::as_fd).into_iter().chain([told.as_fd()]).chain(own).collect();
        message::send(self.socket.as_fd(), &text, &descriptors)
            .context(Mechanism::Process, "telling the launcher")?;
        drop(descriptors);
        drop(told);
        let (text, received) = self.receive()?;
        let mut received = received.into_iter();
        let mut numbers = Reader(&text);
        let mut next = || {
            received.next().ok_or_else(|| {
                ConfineError::new(
                    Mechanism::Process,
                    "the launcher's answer",
                    io::Error::other("it is cut off"),
                )
            })
        };
        let init = numbers.pid();
        let has_user = numbers.number().unwrap_or(0) != 0;
        if let (Some((ours, theirs)), Some(session)) = (created, new_session) {
            drop(theirs);
            let user = if has_user { Some(next()?) } else { None };
            let namespaces = Namespaces { user, mounts: next()?, ipc: next()?, pids: next()? };
            let init = init.ok_or_else(|| {
                ConfineError::new(
                    Mechanism::Process,
                    "the pod's first process",
                    io::Error::other("it has no id"),
                )
            })?;
            *pod = Some(Pod { namespaces, init, socket: ours, network: None, session });
        }
        if let Some(pod) = pod
            && confinement.network == Network::Private
            && pod.network.is_none()
        {
            pod.network = Some(next()?);
        }
        // The second answer comes when the walls are up.
        let (text, _) = self.receive()?;
        let broker = Reader(&text).number().and_then(|pid| i32::try_from(pid).ok());
        self.broker = broker.and_then(Pid::from_raw);
        Ok(())
    }

    /// The launcher's next answer, which is an error or its facts.
    fn receive(&mut self) -> Result<(Vec<u8>, Vec<OwnedFd>), ConfineError> {
        let ended = || io::Error::other("the launcher ended");
        let received =
            self.receiver.receive(self.socket.as_fd()).and_then(|received| received.ok_or_else(ended));
        let (text, descriptors) = received.context(Mechanism::Process, "the launcher's answer")?;
        match text.split_first() {
            Some((&process::OK, facts)) => Ok((facts.to_vec(), descriptors)),
            _ => Err(process::read_failure(&text)),
        }
    }

    /// Starts `plan`, confined, as a child of the calling process.
    ///
    /// # Errors
    /// As [`Spawner::spawn`](crate::spawn::Spawner::spawn). A launcher that has ended fails with `EPIPE`.
    pub fn spawn(&mut self, plan: &Plan<'_>) -> Result<Spawned, SpawnError> {
        self.spawn_with(plan, None)
    }

    /// The same for a command that is traced by the calling thread from before its program on. The launcher must have
    /// been started with [`Tracing::Programs`](crate::Tracing). `tracer` answers the stops up to the one after the
    /// program is loaded; from then on [`next_change`](crate::trace::next_change) tells of them.
    ///
    /// # Errors
    /// As [`spawn`](Self::spawn), and [`Step::Trace`] when the kernel doesn't let us trace it.
    pub fn spawn_traced(&mut self, plan: &Plan<'_>, tracer: &mut dyn Tracer) -> Result<Spawned, SpawnError> {
        self.spawn_with(plan, Some(tracer))
    }

    /// Makes a process ready for the next command: in the pod, confined, and traced by the calling thread if `is_traced`. It waits
    /// for its plan, so the command starts without the time that this takes. The calling process reaps it.
    ///
    /// # Errors
    /// When that isn't possible. The next command starts without it.
    pub fn make_ready(&mut self, is_traced: bool) -> io::Result<()> {
        if self.ready.is_some() {
            return Ok(());
        }
        // It inherits the tag of the last command otherwise.
        rustix::process::prlimit(Some(self.pid), Resource::Locks, Tag::limit_of_none())?;
        self.order(order::MAKE_READY)?;
        let answer = self.receiver.receive(self.socket.as_fd())?;
        let pid = answer.and_then(|(text, _)| Reader(&text).pid());
        let pid = pid.ok_or_else(|| io::Error::other("the launcher made no process"))?;
        self.ready = Some(Ready { pid, is_traced });
        if is_traced {
            return trace::seize(pid).inspect_err(|_| self.dismiss());
        }
        Ok(())
    }

    /// The process that was made ready.
    #[must_use]
    pub fn ready(&self) -> Option<Pid> {
        self.ready.map(|ready| ready.pid)
    }

    /// Ends the process that was made ready.
    pub fn dismiss(&mut self) {
        if self.ready.take().is_some() {
            // It ends with a launcher that is gone, too.
            let _ = self.order(order::DISMISS);
        }
    }

    fn order(&self, order: u64) -> io::Result<()> {
        let mut text = Writer::default();
        text.number(order);
        message::send(self.socket.as_fd(), &text.0, &[])
    }

    fn spawn_with(
        &mut self,
        plan: &Plan<'_>,
        tracer: Option<&mut dyn Tracer>,
    ) -> Result<Spawned, SpawnError> {
        if self.ready.is_some_and(|ready| ready.is_traced != tracer.is_some()) {
            self.dismiss();
        }
        let ready = self.ready.take();
        if let Some(limit) = plan.tag.and_then(Tag::limit) {
            // The command inherits it from the launcher, and its walls keep both from changing it.
            let carrier = ready.map_or(self.pid, |ready| ready.pid);
            rustix::process::prlimit(Some(carrier), Resource::Locks, limit)
                .map_err(|errno| SpawnError { step: Step::Clone, source: errno.into() })?;
        }
        let answer = match (ready, tracer) {
            (Some(ready), tracer) => self.run_ready(ready, plan, tracer)?,
            (None, None) => {
                let (text, descriptors) = encode(plan, None);
                ask(self.socket.as_fd(), &mut self.receiver, &text, &descriptors)?
            }
            (None, Some(tracer)) => self.spawn_held(plan, tracer)?,
        };
        spawned(&answer)
    }

    /// Gives the process that waits its plan.
    fn run_ready(
        &mut self,
        ready: Ready,
        plan: &Plan<'_>,
        tracer: Option<&mut dyn Tracer>,
    ) -> Result<Vec<u8>, SpawnError> {
        let (text, descriptors) = encode(plan, None);
        message::send(self.socket.as_fd(), &text, &descriptors)
            .map_err(|source| SpawnError { step: Step::Clone, source })?;
        if !ready.is_traced {
            // A command may have suspended it while it waited. Of what is traced the tracer is told.
            let _ = rustix::process::kill_process(ready.pid, Signal::CONT);
        }
        let followed = tracer.map_or(Ok(()), |tracer| {
            tracer.attached(ready.pid);
            trace::follow_to_program(ready.pid, tracer)
        });
        let answer = answer_of(self.socket.as_fd(), &mut self.receiver)?;
        followed.map_err(|source| SpawnError { step: Step::Trace, source })?;
        Ok(answer)
    }

    /// Starts a command that waits until it is traced.
    fn spawn_held(&mut self, plan: &Plan<'_>, tracer: &mut dyn Tracer) -> Result<Vec<u8>, SpawnError> {
        let untraced = |source: io::Error| SpawnError { step: Step::Trace, source };
        let (ours, theirs) = trace::socket_pair().map_err(untraced)?;
        let (text, descriptors) = encode(plan, Some(theirs.as_fd()));
        message::send(self.socket.as_fd(), &text, &descriptors)
            .map_err(|source| SpawnError { step: Step::Clone, source })?;
        drop(descriptors);
        drop(theirs);
        let held = trace::receive_held(ours.as_fd(), self.socket.as_fd()).map_err(untraced)?;
        let traced = held.map_or(Ok(()), |held| trace::release(held, &ours, tracer));
        // A process that still waits ends now.
        drop(ours);
        let answer = answer_of(self.socket.as_fd(), &mut self.receiver)?;
        // Its answer says that the process ended, and not why.
        if let (Err(error), Some(child)) = (traced, Reader(&answer).pid()) {
            let _ = rustix::process::waitpid(Some(child), rustix::process::WaitOptions::empty());
            return Err(untraced(error));
        }
        Ok(answer)
    }
}

/// Reads the launcher's answer to a start.
fn spawned(answer: &[u8]) -> Result<Spawned, SpawnError> {
    let mut numbers = Reader(answer);
    let (pid, session_pid) = (numbers.pid(), numbers.pid());
    let mut number = || numbers.number().and_then(|number| i32::try_from(number).ok()).unwrap_or(0);
    let (step, errno) = (number(), number());
    match (pid, session_pid, errno) {
        (Some(pid), Some(session_pid), 0) => Ok(Spawned { pid, session_pid }),
        (_, _, 0) => {
            let source = io::Error::other("the launcher gave no process id");
            Err(SpawnError { step: Step::Clone, source })
        }
        (child, _, errno) => {
            if let Some(child) = child {
                // Only to reap it: it ended before its program began.
                let _ = rustix::process::waitpid(Some(child), rustix::process::WaitOptions::empty());
            }
            let step = Step::numbered(step.unsigned_abs());
            Err(SpawnError { step, source: io::Error::from_raw_os_error(errno) })
        }
    }
}

impl Pod {
    fn descriptors(&self) -> Vec<BorrowedFd<'_>> {
        let namespaces = &self.namespaces;
        let own = [&namespaces.mounts, &namespaces.ipc, &namespaces.pids];
        namespaces.user.iter().chain(own).chain(&self.network).map(AsFd::as_fd).collect()
    }
}

/// Sends a message to the launcher, and waits for its answer.
fn ask(
    socket: BorrowedFd<'_>,
    receiver: &mut Receiver,
    text: &[u8],
    descriptors: &[BorrowedFd<'_>],
) -> Result<Vec<u8>, SpawnError> {
    message::send(socket, text, descriptors).map_err(|source| SpawnError { step: Step::Clone, source })?;
    answer_of(socket, receiver)
}

/// The launcher's answer to a message.
fn answer_of(socket: BorrowedFd<'_>, receiver: &mut Receiver) -> Result<Vec<u8>, SpawnError> {
    let source = match receiver.receive(socket) {
        Ok(Some((text, _))) => return Ok(text),
        Ok(None) => Errno::PIPE.into(),
        // The kernel says this if the launcher ended with the message unread.
        Err(error) if error.kind() == io::ErrorKind::ConnectionReset => {
            return Err(SpawnError { step: Step::Clone, source: error });
        }
        Err(error) => error,
    };
    Err(SpawnError { step: Step::Answer, source })
}

fn socket_pair() -> Result<(OwnedFd, OwnedFd), ConfineError> {
    rustix::net::socketpair(AddressFamily::UNIX, SocketType::SEQPACKET, SocketFlags::CLOEXEC, None)
        .context(Mechanism::Process, "a socket")
}

/// A plan as a message. `hold`: where the command waits until it is traced.
fn encode<'a>(plan: &Plan<'a>, hold: Option<BorrowedFd<'a>>) -> (Vec<u8>, Vec<BorrowedFd<'a>>) {
    let mut text = Writer::default();
    text.number(order::START);
    text.number(u64::from(plan.umask));
    text.number(u64::from(plan.terminal.is_some()));
    text.number(u64::from(hold.is_some()));
    text.count(plan.limits.len());
    plan.limits.iter().for_each(|limit| text.limit(limit));
    text.string(plan.program);
    text.string(plan.directory);
    for list in [plan.argv, plan.env] {
        text.count(list.len());
        list.iter().for_each(|string| text.string(string));
    }
    let descriptors =
        plan.stdio.into_iter().chain(plan.terminal).chain(hold).chain(plan.groups.iter().copied());
    (text.0, descriptors.collect())
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Only a launcher that did not read the message certainly started nothing.
    #[test]
    fn a_launcher_that_ends_without_an_answer_may_have_started_the_command() {
        for has_read in [false, true] {
            let (ours, theirs) = socket_pair().unwrap();
            let launcher = std::thread::spawn(move || {
                // It ends when the message is there, read or not.
                let flags = if has_read { RecvFlags::empty() } else { RecvFlags::PEEK };
                rustix::net::recv(&theirs, &mut [0_u8; 64], flags).unwrap();
            });
            let failed = ask(ours.as_fd(), &mut Receiver::default(), b"a command", &[]).unwrap_err();
            launcher.join().unwrap();
            let step = if has_read { Step::Answer } else { Step::Clone };
            assert_eq!(failed.step, step, "{failed:?}");
        }
    }
}
