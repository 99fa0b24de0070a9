//! Ending an execution before its time, with everything it started.

use std::time::{Duration, Instant};

use rustix::process::Signal;

use super::connection::{ConnectionKey, Stopping};
use super::event_loop::Keeper;
use super::run::{Cause, LOOK_AGAIN, Phase};
use super::tree::{RunKey, Suspended};
use crate::wire::{FromKeeper, Urgency};
use crate::{ExecId, State};

/// Longer than anything lasts.
const A_DAY: Duration = Duration::from_secs(86_400);

/// How long one chase lasts. Other executions wait for so long.
const CHASE: Duration = Duration::from_millis(20);

/// How long suspending everybody is tried.
const TIME_TO_FREEZE: Duration = Duration::from_millis(500);

impl Keeper {
    /// Ends an execution and all its processes.
    pub(super) fn stop(&mut self, key: RunKey, cause: Cause, urgency: Urgency) {
        let now = Instant::now();
        let politely = urgency == Urgency::Politely;
        let Some(run) = self.runs.get_mut(&key) else { return };
        match run.phase {
            Phase::Waiting => {
                self.stdins.remove(&key);
                return self.answer(key, State::Canceled);
            }
            // The first cause stays; being told again only makes it quicker.
            Phase::Stopping { .. } if politely => return,
            Phase::Stopping { cause, .. } => run.phase = Phase::stopping(cause, now, politely),
            Phase::Running | Phase::Settling { .. } | Phase::Left => {
                let cause = match cause {
                    Cause::Canceled if run.is_told_by_its_program() => Cause::Leftovers,
                    other => other,
                };
                run.phase = Phase::stopping(cause, now, politely);
                let on_terminal = run.terminal.is_some();
                self.recognised = None;
                self.claim_orphans();
                if politely {
                    self.trees.signal(key, Signal::TERM);
                }
                if politely && on_terminal {
                    // What closing the terminal does: a shell that people type at takes no notice of the other one.
                    self.trees.hang_up(key);
                }
            }
        }
        self.go_on_stopping(key, now);
    }

    /// Ends one execution for somebody who isn't its caller, and remembers to tell them.
    pub(super) fn stop_this(&mut self, connection: ConnectionKey, id: ExecId, urgency: Urgency) {
        let key = self.run_called(id);
        let Some(waiting) = self.connections.get_mut(&connection) else { return };
        waiting.greet();
        let Some(key) = key else { return waiting.send(&FromKeeper::Stopped(false)) };
        waiting.stopping = Some(Stopping::This(key));
        self.stop(key, Cause::Canceled, urgency);
        self.tell_stoppers();
    }

    /// Answers those who waited for something to stop.
    pub(super) fn tell_stoppers(&mut self) {
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

    pub(super) fn go_on_stopping(&mut self, key: RunKey, now: Instant) {
        self.claim_orphans();
        let gone = self.trees.is_empty(key);
        let Some(run) = self.runs.get_mut(&key) else { return };
        let Phase::Stopping { cause, kill, give_up, .. } = run.phase else { return };
        if gone || now >= give_up {
            let end = match cause {
                Cause::Canceled => State::Canceled,
                Cause::Leftovers => run.natural_end(),
                Cause::TimedOut(_) => State::TimedOut,
                Cause::Limit(_) => State::Failed,
            };
            // It may not be over: then the answer names who is left, and we go on.
            run.phase = Phase::Stopping { cause, kill, give_up: now + A_DAY, look: now + LOOK_AGAIN };
            self.drain_waiting(key);
            return self.answer(key, end);
        }
        let look = if now >= kill { now + LOOK_AGAIN } else { kill };
        run.phase = Phase::Stopping { cause, kill, give_up, look };
        if now >= kill {
            self.chase(key);
        }
        if now >= kill + TIME_TO_FREEZE {
            // Somebody won't be suspended: then without.
            self.trees.signal(key, Signal::KILL);
        }
    }

    /// Ends a tree that grows while it is being ended: suspends everybody, again and again until nobody is left to fork,
    /// and only then kills. Killing one after the other would make room for others, and a process that forks and exits is
    /// gone when one gets to it.
    fn chase(&mut self, key: RunKey) {
        let until = Instant::now() + CHASE;
        while Instant::now() < until && !self.trees.is_empty(key) {
            self.trees.suspend_top_processes(key);
            if self.trees.suspend(key) == Suspended::All {
                self.trees.signal(key, Signal::KILL);
            }
            self.reap_the_dead();
            self.claim_orphans();
        }
    }
}
