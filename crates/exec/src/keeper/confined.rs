//! The session's pod, and the launchers in it.
//!
//! A confined command is started by a launcher that has exactly its confinement. The first one makes the pod. Both are
//! kept for the next command, so only the first pays for them. All are gone when the keeper is: a pod ends when its
//! keeper closes the socket to it, however the keeper ended.

use std::os::fd::{AsFd, AsRawFd as _, OwnedFd};
use std::sync::Arc;
use std::time::{Duration, Instant};

use rustix::event::{PollFd, PollFlags, Timespec};
use rustix::fs::{Mode, OFlags};
use rustix::io::Errno;
use rustix::process::{Pid, PidfdFlags, WaitOptions};
use shellgate_sandbox::Confinement;
use shellgate_sandbox::launcher::{Launcher, Observations, Pod};
use shellgate_sandbox::pod::{ConfineError, Mechanism};
use shellgate_sandbox::spawn::{Plan, SpawnError, Spawned, Step};
use shellgate_sandbox::trace::Tracer;
use tracing::{debug, info, warn};

use super::event_loop::Keeper;
use super::events::{Events, Token};
use super::kept_watch::KeptWatch;
use super::lifecycle::Event;
use super::stdin::Inside;
use super::tree::Trees;
use crate::{EncodedConfinement, proc};

/// How many launchers are kept. One that is dropped ends; the commands that it started go on.
const MAX_LAUNCHERS: usize = 16;

/// How long a process that was made ready waits. Its command comes as soon as the caller has judged it.
const READY_TIME: Duration = Duration::from_millis(100);

/// How long the pod's first process may take to suspend the others.
const SUSPEND_TIMEOUT: Duration = Duration::from_millis(100);

/// How long a pod whose first process was killed may take to end.
const POD_END_TIMEOUT: Timespec = Timespec { tv_sec: 0, tv_nsec: 100_000_000 };

/// The session's pod, and the launchers in it.
#[derive(Debug, Default)]
pub(super) struct Confined {
    pod: Option<Pod>,
    /// The one that was used last is the last.
    launchers: Vec<Kept>,
    /// What commands were refused. A launcher's commands may outlive it.
    observed: Vec<(LauncherKey, Arc<Observations>)>,
    last_key: LauncherKey,
    watch: KeptWatch,
    /// Until when a process that was made ready waits for its command.
    ready_until: Option<Instant>,
}

/// The number of a launcher within this keeper. It is never used again.
pub(super) type LauncherKey = u64;

/// A launcher with its confinement.
#[derive(Debug)]
struct Kept {
    key: LauncherKey,
    encoded: EncodedConfinement,
    confinement: Confinement,
    launcher: Launcher,
    inside: Inside,
}

/// Why a confined command was not started.
#[derive(Debug)]
pub(super) enum ConfinedError {
    /// It can't be confined.
    Confine(ConfineError),
    /// It can't be started.
    Spawn(SpawnError),
}

/// A command to start, and who traces it.
pub(super) struct Launch<'a> {
    pub(super) plan: &'a Plan<'a>,
    pub(super) tracer: Option<&'a mut dyn Tracer>,
}

impl Confined {
    /// Starts a launcher with this confinement, if there is none.
    pub(super) fn prepare(
        &mut self,
        confinement: &EncodedConfinement,
        events: &Events,
        trees: &mut Trees,
    ) -> Result<(), ConfineError> {
        self.choose(confinement, events, trees).map(drop)
    }

    /// Makes a process ready for a command with this confinement, which the caller is about to judge. Only a launcher that exists
    /// does that.
    pub(super) fn make_ready(
        &mut self,
        confinement: &EncodedConfinement,
        is_traced: bool,
        trees: &mut Trees,
    ) {
        let Some(at) = self.launchers.iter().position(|kept| kept.encoded == *confinement) else { return };
        let mut found = self.launchers.remove(at);
        if !found.launcher.is_current(&found.confinement, self.watch.get()) {
            // The command starts another one.
            return self.launchers.insert(at, found);
        }
        match found.launcher.make_ready(is_traced) {
            Ok(()) => {
                if let Some(ready) = found.launcher.ready() {
                    trees.add_helper(number(ready));
                }
                self.ready_until = Some(Instant::now() + READY_TIME);
            }
            // The command finds out what is wrong with the launcher.
            Err(error) => debug!(%error, "no process could be made ready"),
        }
        self.launchers.push(found);
    }

    /// Whether a process was made ready and has no command yet.
    pub(super) fn is_ready(&self, process: Pid) -> bool {
        self.launchers.iter().any(|kept| kept.launcher.ready() == Some(process))
    }

    /// Until when a process that was made ready waits.
    pub(super) fn ready_until(&self) -> Option<Instant> {
        self.ready_until
    }

    /// Ends processes that were made ready for commands that didn't come.
    pub(super) fn dismiss_late(&mut self, now: Instant) {
        if self.ready_until.is_some_and(|until| until <= now) {
            self.ready_until = None;
            self.launchers.iter_mut().for_each(|kept| kept.launcher.dismiss());
        }
    }

    /// Opens a terminal of the pod, for a command with this confinement.
    pub(super) fn open_terminal(
        &mut self,
        confinement: &EncodedConfinement,
        events: &Events,
        trees: &mut Trees,
    ) -> Result<OwnedFd, ConfinedError> {
        self.choose(confinement, events, trees).map_err(ConfinedError::Confine)?;
        // The keeper sees the pod's files only through one of its processes.
        let path = proc::of(self.init().unwrap_or(0)).terminal_multiplexer();
        let flags = OFlags::RDWR | OFlags::NOCTTY | OFlags::CLOEXEC;
        rustix::fs::open(path, flags, Mode::empty()).map_err(|errno| {
            ConfinedError::Confine(ConfineError {
                mechanism: Mechanism::Devices,
                detail: "opening a terminal".to_owned(),
                source: errno.into(),
            })
        })
    }

    /// The pod's first process.
    pub(super) fn init(&self) -> Option<u32> {
        self.pod.as_ref().map(|pod| number(pod.init()))
    }

    /// The first process of the pod, if it has ended and was not reaped yet.
    fn ended_pod(&self) -> Option<u32> {
        self.init().filter(|init| proc::of(*init).stat().is_none_or(|stat| stat.is_dead()))
    }

    /// Waits a moment for the pod to end. Nothing can be started in one whose first process was killed, before that can be seen.
    fn wait_for_end_of_pod(&self) {
        let init = self.pod.as_ref().map(Pod::init);
        if let Some(init) = init.and_then(|init| rustix::process::pidfd_open(init, PidfdFlags::empty()).ok())
        {
            let _ = rustix::event::poll(&mut [PollFd::new(&init, PollFlags::IN)], Some(&POD_END_TIMEOUT));
        }
    }

    /// Suspends all processes of the pod at once. Returns whether they were.
    pub(super) fn suspend(&self) -> bool {
        self.pod.as_ref().is_some_and(|pod| pod.suspend(SUSPEND_TIMEOUT))
    }

    /// Starts `plan` with this confinement.
    pub(super) fn spawn(
        &mut self,
        confinement: &EncodedConfinement,
        mut launch: Launch<'_>,
        events: &Events,
        trees: &mut Trees,
    ) -> Result<Spawned, ConfinedError> {
        let is_new = self.choose(confinement, events, trees).map_err(ConfinedError::Confine)?;
        let started = self.launch(&mut launch);
        if started.as_ref().err().and_then(errno) == Some(Errno::NOMEM) {
            self.wait_for_end_of_pod();
        }
        match started {
            // A launcher that was killed is replaced, once, and so is a pod. A launcher outlives its pod for a moment, in which
            // it can't fork. One that may have started the command isn't asked again: a command never runs twice.
            Err(error)
                if !is_new
                    && error.step != Step::Answer
                    && (is_gone(&error) || self.ended_pod().is_some()) =>
            {
                warn!("the launcher or the pod has ended");
                match self.ended_pod() {
                    Some(init) => self.forget(init),
                    None => drop(self.launchers.pop()),
                }
                self.choose(confinement, events, trees).map_err(ConfinedError::Confine)?;
                self.launch(&mut launch).map_err(ConfinedError::Spawn)
            }
            started => started.map_err(ConfinedError::Spawn),
        }
    }

    fn launch(&mut self, launch: &mut Launch<'_>) -> Result<Spawned, SpawnError> {
        let plan = launch.plan;
        if self.launchers.iter().rev().skip(1).all(|kept| kept.launcher.ready().is_none()) {
            self.ready_until = None;
        }
        match self.launchers.last_mut() {
            Some(Kept { launcher, inside, .. }) => {
                let [stdin, stdout, stderr] = plan.stdio;
                // A terminal is the pod's own.
                let is_terminal = plan.terminal.is_some_and(|fd| fd.as_raw_fd() == stdin.as_raw_fd());
                let inside = match is_terminal {
                    true => None,
                    false => inside.open(number(launcher.pid()), stdin)?,
                };
                let stdin = inside.as_ref().map_or(stdin, AsFd::as_fd);
                let plan = Plan { stdio: [stdin, stdout, stderr], ..*plan };
                match launch.tracer.as_deref_mut() {
                    None => launcher.spawn(&plan),
                    Some(tracer) => launcher.spawn_traced(&plan, tracer),
                }
            }
            None => Err(SpawnError { step: Step::Clone, source: Errno::PIPE.into() }),
        }
    }

    /// Makes the launcher with this confinement the last, and starts it if there is none. Returns whether it is new.
    fn choose(
        &mut self,
        confinement: &EncodedConfinement,
        events: &Events,
        trees: &mut Trees,
    ) -> Result<bool, ConfineError> {
        if let Some(at) = self.launchers.iter().position(|kept| kept.encoded == *confinement) {
            let mut found = self.launchers.remove(at);
            if found.launcher.is_current(&found.confinement, self.watch.get()) {
                self.launchers.push(found);
                return Ok(false);
            }
            info!("a protected or unreadable file changed: another launcher is needed");
        }
        let encoded = confinement;
        let confinement = encoded.decode().map_err(|error| ConfineError {
            mechanism: Mechanism::Process,
            detail: "reading what the command may reach".to_owned(),
            source: std::io::Error::new(std::io::ErrorKind::InvalidData, error),
        })?;
        let had_pod = self.pod.is_some();
        let launcher = Launcher::start(&confinement, &mut self.pod);
        if let (Some(pod), false) = (&self.pod, had_pod) {
            trees.add_pod(number(pod.init()));
            if let Err(error) = events.add(pod, Token::Pod) {
                warn!(%error, "the pod can't be waited for");
            }
            info!(init = number(pod.init()), "made a pod");
        }
        let launcher = launcher?;
        trees.add_helper(number(launcher.pid()));
        if let Some(broker) = launcher.broker() {
            trees.add_helper(number(broker));
        }
        info!(launcher = number(launcher.pid()), "started a launcher");
        if self.launchers.len() == MAX_LAUNCHERS {
            self.launchers.remove(0);
        }
        self.last_key += 1;
        let key = self.last_key;
        let observations = launcher.observations();
        if let Err(error) = events.add(&*observations, Token::Refusals(key)) {
            // They are read when a command has ended.
            warn!(%error, "refusals of its commands can't be waited for");
        }
        self.observed.push((key, observations));
        self.launchers.push(Kept {
            key,
            encoded: encoded.clone(),
            confinement,
            launcher,
            inside: Inside::default(),
        });
        Ok(true)
    }

    /// The launcher that was used last.
    pub(super) fn last_used(&self) -> Option<LauncherKey> {
        self.launchers.last().map(|kept| kept.key)
    }

    /// What commands of a launcher were refused.
    pub(super) fn observations(&self, launcher: LauncherKey) -> Option<Arc<Observations>> {
        self.observed.iter().find(|(key, _)| *key == launcher).map(|(_, observed)| Arc::clone(observed))
    }

    /// Forgets the refusals of a launcher whose broker has ended.
    pub(super) fn forget_observations(&mut self, launcher: LauncherKey, events: &Events) {
        for (_, ended) in self.observed.extract_if(.., |(key, _)| *key == launcher) {
            events.forget(&*ended);
        }
    }

    /// Forgets a launcher whose refusals can't be read. Its commands go on, and the next one gets another launcher.
    pub(super) fn give_up(&mut self, launcher: LauncherKey, events: &Events) {
        self.forget_observations(launcher, events);
        self.launchers.retain(|kept| kept.key != launcher);
    }

    /// Ends the pod and its launchers, and reaps them: the keeper's parent may not reap what it inherits.
    pub(super) fn end(&mut self) {
        let launchers = self.launchers.iter();
        let all = |kept: &Kept| [Some(kept.launcher.pid()), kept.launcher.broker(), kept.launcher.ready()];
        let launchers = launchers.flat_map(all).flatten();
        let pids: Vec<Pid> = launchers.chain(self.pod.as_ref().map(Pod::init)).collect();
        self.launchers.clear();
        self.pod = None;
        for pid in pids {
            // One that was reaped already needs no waiting.
            let _ = rustix::process::waitpid(Some(pid), WaitOptions::empty());
        }
    }

    /// Forgets a launcher, or the pod with all of them, whose process was reaped.
    pub(super) fn forget(&mut self, pid: u32) {
        self.launchers.retain(|kept| number(kept.launcher.pid()) != pid);
        if self.init() == Some(pid) {
            warn!("the pod has ended");
            self.pod = None;
            self.launchers.clear();
        }
    }
}

impl Keeper {
    /// Orphans in the pod have ended, or the pod has.
    pub(super) fn take_pod_events(&mut self) {
        let Some(pod) = &self.confined.pod else { return };
        if pod.clear_events() {
            self.events.forget(pod);
        }
        // One that has ended may have left others.
        self.recognised = None;
        for key in self.trees.forget_ended_in_pod() {
            self.drive(key, Event::ChildReaped, std::time::Instant::now());
        }
    }
}

fn is_gone(error: &SpawnError) -> bool {
    matches!(errno(error), Some(Errno::PIPE | Errno::CONNRESET | Errno::SRCH))
}

fn errno(error: &SpawnError) -> Option<Errno> {
    Errno::from_io_error(&error.source)
}

fn number(pid: Pid) -> u32 {
    pid.as_raw_nonzero().get().unsigned_abs()
}
