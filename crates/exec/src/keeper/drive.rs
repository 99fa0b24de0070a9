//! Does what lifecycles decide.

use std::time::Instant;

use super::event_loop::Keeper;
use super::lifecycle::{Action, Event, Look, Remains};
use super::orphans::Recognised;
use super::run::Run;
use super::tree::RunKey;

impl Keeper {
    /// Reports an event to an execution's lifecycle, and does what that decides.
    pub(super) fn drive(&mut self, key: RunKey, event: Event, now: Instant) {
        let mut event = event;
        loop {
            let Some(run) = self.runs.get_mut(&key) else { return };
            event = match run.lifecycle.step(event, now) {
                Action::Nothing => return,
                Action::Look(look) => Event::Looked(self.look(key, look)),
                Action::Terminate => {
                    self.terminate(key);
                    Event::Looked(self.look(key, Look::Cached))
                }
                Action::Measure => self.measure(key, now),
                Action::Kill(mode) => return self.kill(key, mode),
                Action::AnswerRunning { caller, state } => return self.answer_running(key, caller, state),
                Action::End { caller, state, cause, left } => {
                    self.end(key, caller, (state, cause), left);
                    return;
                }
                Action::Remove => return self.remove(key),
            };
        }
    }

    /// Reports the time to every execution that has to act now.
    pub(super) fn tick(&mut self, now: Instant) {
        let is_due = |run: &Run| run.lifecycle.deadline().is_some_and(|deadline| deadline <= now);
        let due: Vec<RunKey> = self.runs.iter().filter(|(_, run)| is_due(run)).map(|(key, _)| *key).collect();
        for key in due {
            self.drive(key, Event::Tick, now);
        }
    }

    /// What is left of an execution.
    fn look(&mut self, key: RunKey, look: Look) -> Remains {
        if look == Look::Fresh {
            self.recognised = None;
        }
        let mut recognised = self.claim_orphans();
        if self.orphans_vanish && self.trees.is_empty(key) {
            // Those that were seen and could not be claimed may have left others.
            self.claim_suspended_orphans();
            recognised = self.claim_orphans();
        }
        let sources = self.runs.get(&key).and_then(|run| run.sources.as_ref());
        Remains {
            is_empty: self.trees.is_empty(key),
            has_unclaimed: recognised == Recognised::NotAll,
            streams_closed: sources
                .is_none_or(|sources| sources.both().iter().all(|source| source.is_closed())),
            has_unborn: look == Look::WithUnborn
                && self.trees.members(key).iter().any(|member| member.stat.is_unborn()),
        }
    }
}
