//! What the sandbox refused to commands.
//!
//! The broker of a launcher tells the keeper of each refusal before the command goes on. So when the keeper learns that a
//! command has ended, all of its refusals can be read. A refusal carries the tag of its process, by which the execution
//! is found, however short the process lived.

use shellgate_sandbox::launcher::Next;
use shellgate_sandbox::spawn::Tag;
use shellgate_sandbox::{Effect, Observation};

use super::confined::LauncherKey;
use super::event_loop::Keeper;
use super::run::Run;
use super::tree::RunKey;

/// How many refusals are read before the keeper does something else. A socket holds fewer.
const MAX_READ_AT_ONCE: usize = 1024;

impl Keeper {
    /// Reads refusals of a launcher's commands.
    pub(super) fn take_refusals(&mut self, launcher: LauncherKey) {
        let Some(observations) = self.confined.observations(launcher) else { return };
        for _ in 0..MAX_READ_AT_ONCE {
            match observations.next() {
                Next::Observation(observation) => self.add_refusal(launcher, &observation),
                Next::Effect(effect) => self.add_effect(launcher, &effect),
                Next::Nothing => return,
                Next::Ended => return self.confined.forget_observations(launcher, &self.events),
                Next::Failed => return self.lose_sight(launcher),
            }
        }
    }

    /// Reads the refusals that an execution had so far. Without any, and unless it is confined, that is at most one call
    /// to the kernel.
    pub(super) fn drain_refusals(&mut self, key: RunKey) {
        self.drain_refused_programs();
        if let Some(launcher) = self.runs.get(&key).and_then(|run| run.launcher) {
            self.take_refusals(launcher);
        }
    }

    /// What a launcher's commands did isn't known any more, and neither is what they were refused.
    fn lose_sight(&mut self, launcher: LauncherKey) {
        self.confined.give_up(launcher, &self.events);
        for run in self.runs.values_mut().filter(|run| run.launcher == Some(launcher)) {
            (run.denials, run.effects) = (None, None);
        }
    }

    fn add_refusal(&mut self, launcher: LauncherKey, observation: &Observation) {
        let run = self.run_of_tag(launcher, observation.tag);
        if let Some(denials) = run.and_then(|run| run.denials.as_mut()) {
            denials.add(observation);
        }
    }

    fn add_effect(&mut self, launcher: LauncherKey, effect: &Effect) {
        let run = self.run_of_tag(launcher, effect.tag);
        if let Some(effects) = run.and_then(|run| run.effects.as_mut()) {
            effects.add(effect);
        }
    }

    /// The execution of a process with this tag that a launcher has started.
    fn run_of_tag(&mut self, launcher: LauncherKey, tag: u64) -> Option<&mut Run> {
        let of_launcher = |run: &&mut Run| run.launcher == Some(launcher);
        match Tag::from_limit(tag) {
            Some(tag) => self.runs.values_mut().find(|run| run.spec.id.tag() == tag),
            // Where the hard limit leaves no room for tags, an execution that is alone must be the one.
            None => {
                let mut runs = self.runs.values_mut().filter(of_launcher);
                runs.next().filter(|_| runs.next().is_none())
            }
        }
    }
}
