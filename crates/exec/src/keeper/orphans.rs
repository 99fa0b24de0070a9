//! Finds the executions of processes that lost their parent.

use super::event_loop::Keeper;
use super::run::Run;
use super::tree::Adopter;
use crate::proc;
use crate::sys::processes;

/// Whether the execution of every orphan is known.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Recognised {
    All,
    NotAll,
}

impl Keeper {
    /// Finds orphans and their executions. Returns whether all were recognised.
    pub(super) fn claim_orphans(&mut self) -> Recognised {
        // Many commands may end at once. One search is enough for all that were reaped before it.
        if let Some(recognised) = self.recognised {
            return recognised;
        }
        let recognised = self.look_for_orphans();
        self.recognised = Some(recognised);
        recognised
    }

    fn look_for_orphans(&mut self) -> Recognised {
        let mut all = Recognised::All;
        self.orphans_vanish = false;
        for (pid, adopter) in self.trees.unclaimed() {
            let tag = proc::of(pid).lock_limit();
            let by_tag = self.runs.iter().find(|(_, run)| tag == Some(run.spec.id.tag().get()));
            let owner = by_tag.map(|(key, _)| *key).or_else(|| {
                let id = proc::of(pid).variable("SHELLGATE_EXEC_ID")?;
                self.runs.iter().find(|(_, run)| run.spec.id.to_string() == id).map(|(key, _)| *key)
            });
            let by_pipe = || {
                let holds = |run: &Run| {
                    run.pipes().into_iter().flatten().any(|pipe| processes::holds_pipe(pid, pipe))
                };
                self.runs.iter().find(|(_, run)| holds(run)).map(|(key, _)| *key)
            };
            // With only one execution, the orphan must belong to it, unless there were others when it was first seen.
            let only = || {
                let alone = self.runs.len() == 1 && !self.trees.is_ambiguous(pid);
                self.runs.keys().next().copied().filter(|_| alone)
            };
            match owner.or_else(by_pipe).or_else(only) {
                Some(owner) => self.orphans_vanish |= !self.trees.claim((pid, adopter), owner),
                None if adopter == Adopter::Pod && !proc::of(pid).exists() => self.orphans_vanish = true,
                None => {
                    self.trees.mark_ambiguous(pid);
                    all = Recognised::NotAll;
                }
            }
        }
        all
    }
}
