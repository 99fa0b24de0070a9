//! Signals the processes of an execution that is stopped.

use std::collections::HashSet;
use std::time::{Duration, Instant};

use rustix::process::Signal;
use tracing::{debug, info};

use super::connection::{ConnectionKey, Stopping};
use super::event_loop::Keeper;
use super::lifecycle::{Event, KillMode};
use super::tree::{RunKey, Suspended};
use crate::ExecId;
use crate::proc;
use crate::wire::{FromKeeper, Urgency};

/// How long one attempt to suspend and kill a tree takes at most. Other executions wait meanwhile.
const KILL_ATTEMPT_TIMEOUT: Duration = Duration::from_millis(20);

impl Keeper {
    /// Stops an execution and all its processes.
    pub(super) fn stop(&mut self, key: RunKey, urgency: Urgency) {
        debug!(id = %self.logged_id(key), ?urgency, "asked to stop");
        self.drive(key, Event::StopAsked(urgency), Instant::now());
    }

    /// Stops one execution for a front end that isn't its caller, and remembers to answer.
    pub(super) fn stop_this(&mut self, connection: ConnectionKey, id: ExecId, urgency: Urgency) {
        let key = self.find_run(id);
        let Some(waiting) = self.connections.get_mut(&connection) else { return };
        waiting.confirm();
        let Some(key) = key else { return waiting.send(&FromKeeper::Stopped(false)) };
        waiting.stopping = Some(Stopping::This(key));
        self.stop(key, urgency);
        self.answer_stop_requests();
    }

    /// Answers the front ends whose executions to be stopped have ended.
    pub(super) fn answer_stop_requests(&mut self) {
        for connection in self.connections.values_mut() {
            let word = match connection.stopping {
                Some(Stopping::Session(executions)) if self.runs.is_empty() => {
                    FromKeeper::SessionStopped { executions }
                }
                Some(Stopping::This(key)) if !self.runs.contains_key(&key) => FromKeeper::Stopped(true),
                _ => continue,
            };
            connection.stopping = None;
            connection.send(&word);
        }
    }

    /// Asks all processes of an execution to exit.
    pub(super) fn terminate(&mut self, key: RunKey) {
        info!(id = %self.logged_id(key), "sends SIGTERM");
        self.recognised = None;
        self.claim_orphans();
        let hung_up = self.group_hung_up(key);
        self.trees.signal(key, Signal::TERM);
        if self.runs.get(&key).is_some_and(|run| run.terminal.is_some()) {
            // As closing the terminal does: an interactive shell ignores `SIGTERM`.
            self.trees.hang_up(key, hung_up);
        }
    }

    /// The process group that gets `SIGHUP` from the kernel, because `SIGTERM` ends the leader of its terminal's session.
    fn group_hung_up(&self, key: RunKey) -> Option<u32> {
        let run = self.runs.get(&key)?;
        let leader = proc::of(run.pid?).status()?;
        leader
            .takes_default_action(Signal::TERM.as_raw())
            .then(|| run.terminal.as_ref()?.foreground())
            .flatten()
    }

    /// Kills all processes of an execution.
    pub(super) fn kill(&mut self, key: RunKey, mode: KillMode) {
        info!(id = %self.logged_id(key), ?mode, "sends SIGKILL");
        let is_confined = self.runs.get(&key).is_some_and(|run| run.spec.confinement.is_some());
        match is_confined {
            true => self.kill_in_pod(key),
            false => self.suspend_and_kill(key),
        }
        if mode == KillMode::Anyway {
            self.trees.signal(key, Signal::KILL);
        }
    }

    /// Kills a tree in the pod. Nothing in the pod forks or exits meanwhile.
    fn kill_in_pod(&mut self, key: RunKey) {
        match self.suspend_pod() {
            Some(before) => {
                self.trees.signal(key, Signal::KILL);
                self.trees.resume_all_but(Some(key), &before);
            }
            None => self.suspend_and_kill(key),
        }
    }

    /// Claims orphans in the pod while none of its processes can fork or exit.
    pub(super) fn claim_suspended_orphans(&mut self) {
        if let Some(before) = self.suspend_pod() {
            self.trees.resume_all_but(None, &before);
        }
    }

    /// Suspends all processes of the pod at once, and claims its orphans. Returns the processes that were suspended before.
    fn suspend_pod(&mut self) -> Option<HashSet<u32>> {
        let mut before = self.trees.suspended();
        self.guard.keep_suspended(&mut before);
        self.pod_was_suspended = true;
        if !self.confined.suspend() {
            return None;
        }
        let until = Instant::now() + KILL_ATTEMPT_TIMEOUT;
        loop {
            self.recognised = None;
            self.claim_orphans();
            if self.trees.all_are_suspended() || Instant::now() > until {
                return Some(before);
            }
        }
    }

    /// Kills a tree that grows meanwhile: suspends all its processes, again and again until none is left to fork, and only
    /// then kills. Killing one after the other would make room for more, and a process that forks and exits is gone when its
    /// turn comes.
    fn suspend_and_kill(&mut self, key: RunKey) {
        let until = Instant::now() + KILL_ATTEMPT_TIMEOUT;
        while Instant::now() < until && !self.trees.is_empty(key) {
            self.trees.suspend_top_processes(key);
            if self.trees.suspend(key) == Suspended::All {
                self.trees.signal(key, Signal::KILL);
            }
            self.collect_dead();
            self.claim_orphans();
        }
    }
}
