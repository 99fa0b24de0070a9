//! Enforces the resource limits of executions.

use std::path::Path;
use std::time::Instant;

use rustix::process::{Resource, Rlimit};
use shellgate_sandbox::reap::Dead;
use shellgate_sandbox::spawn::{Plan, SpawnError, Spawned, Step};

use super::confined::ConfinedError;
use super::ends_folder::EndsFolder;
use super::event_loop::Keeper;
use super::lifecycle::{Event, Note};
use super::tree::{Member, RunKey};
use crate::limits::{
    self, ExceededLimit, GroupNote, Groups, LimitAction, LimitedResource, Limits, Meter, Usage,
};
use crate::outcome::Exit;
use crate::{ExecId, Spec};

/// The resource limits of one execution, with its control groups and counters.
#[derive(Debug)]
pub(super) struct LimitEnforcer {
    limits: Limits,
    groups: Groups,
    note: Option<GroupNote>,
    meter: Meter,
    /// A limit that the execution reached without being ended.
    refused: Option<ExceededLimit>,
}

impl LimitEnforcer {
    /// The enforcer for the limits of `spec`. `None`: it has none.
    pub(super) fn new(spec: &Spec, ends: &EndsFolder) -> Option<Box<Self>> {
        (!spec.limits.is_none()).then(|| Box::new(Self::of(spec.id, spec.limits, ends.path())))
    }

    fn of(id: ExecId, limits: Limits, ends: &Path) -> Self {
        // No control group counts bytes written to disk.
        let grouped = Limits { disk_mb: 0, ..limits };
        // Without a list, groups would stay for ever if the keeper were killed. Then the keeper measures instead.
        let noted = (!grouped.is_none()).then(|| GroupNote::make_groups(ends, id, &grouped).ok()).flatten();
        let (note, groups) = noted.unzip();
        let groups = groups.unwrap_or_default();
        Self { limits, groups, note, meter: Meter::default(), refused: None }
    }

    /// The resource limits for each process, in addition to `changes`.
    pub(super) fn rlimits(&self, changes: &[(Resource, Rlimit)]) -> Vec<(Resource, Rlimit)> {
        limits::rlimits(&self.limits, &self.groups, changes)
    }

    /// Its groups, for [`spawn`].
    pub(super) fn groups(&self) -> &Groups {
        &self.groups
    }

    /// Removes the groups. The list of those that can't be removed yet stays.
    pub(super) fn remove_groups(&mut self) {
        if self.groups.remove()
            && let Some(note) = self.note.take()
        {
            note.forget();
        }
    }

    /// A limit that the execution reached without being ended.
    pub(super) fn refused(&self) -> Option<ExceededLimit> {
        self.refused
    }

    /// Measures, and returns the limit that ends the execution.
    fn measure(&mut self, living: &[Member], exit: Option<Exit>) -> Option<ExceededLimit> {
        let mut over = None;
        for (resource, limit) in self.groups.reached() {
            match resource {
                // The kernel has refused another process, and the command goes on.
                LimitedResource::Processes => {
                    self.refused = Some(ExceededLimit { resource, limit, action: LimitAction::Refused });
                }
                _ => over = Some((resource, limit)),
            }
        }
        let over = over.or_else(|| self.measured(living)).or_else(|| self.by_signal(exit));
        over.map(|(resource, limit)| ExceededLimit { resource, limit, action: LimitAction::Ended })
    }

    /// A limit that no group enforces and that is exceeded.
    fn measured(&self, living: &[Member]) -> Option<(LimitedResource, u64)> {
        let mut ungrouped =
            self.limits.set().filter(|(resource, _)| self.groups.mechanism(*resource).is_none());
        let mut usage: Option<Usage> = None;
        ungrouped.find(|(resource, limit)| {
            let most = limit.saturating_mul(resource.unit());
            let mut usage = || {
                let living = living.iter().map(|member| (member.pid, member.stat));
                *usage.get_or_insert_with(|| self.meter.read(living))
            };
            match resource {
                LimitedResource::Memory => {
                    let pids: Vec<u32> = living.iter().map(|member| member.pid).collect();
                    limits::memory_above(&pids, most)
                }
                LimitedResource::Processes => usage().tasks > most,
                LimitedResource::Cpu => usage().cpu >= most,
                LimitedResource::Disk => usage().disk > most,
            }
        })
    }

    /// A limit that the kernel has enforced on a single process, seen by the signal that ended the program. A shell reports
    /// the signal of its child as an exit code.
    fn by_signal(&self, exit: Option<Exit>) -> Option<(LimitedResource, u64)> {
        let signal = match exit? {
            Exit::Signal(signal) => signal,
            Exit::Code(code) => code - 128,
        };
        let resource = match signal {
            _ if signal == rustix::process::Signal::XCPU.as_raw() => LimitedResource::Cpu,
            _ if signal == rustix::process::Signal::XFSZ.as_raw() => LimitedResource::Disk,
            _ => return None,
        };
        self.limits.set().find(|(set, _)| *set == resource)
    }
}

/// Has `spawn` start `plan`, in its groups if it can enter them. Returns whether it could.
pub(super) fn in_groups(
    plan: Plan<'_>,
    mut spawn: impl FnMut(&Plan<'_>) -> Result<Spawned, ConfinedError>,
) -> Result<(Spawned, bool), ConfinedError> {
    match spawn(&plan) {
        Err(ConfinedError::Spawn(SpawnError { step: Step::Groups, .. })) => {
            Ok((spawn(&Plan { groups: &[], ..plan })?, false))
        }
        spawned => spawned.map(|started| (started, true)),
    }
}

impl Keeper {
    /// Claims orphans before children are reaped, so that the usage of a dead orphan is counted for its execution.
    pub(super) fn claim_before_reaping(&mut self) {
        if self.runs.values().any(|run| run.enforcer.is_some()) {
            self.claim_orphans();
            // When a child is reaped, its own children become ours.
            self.recognised = None;
        }
    }

    /// Adds up what a reaped process has used.
    pub(super) fn record_exit(&mut self, key: RunKey, dead: &Dead) {
        let Some(run) = self.runs.get_mut(&key) else { return };
        if let Some(enforcer) = &mut run.enforcer {
            enforcer.meter.record_exit(dead);
            run.lifecycle.note(Note::UsageAdded, Instant::now());
        }
    }

    /// Measures what an execution uses. `now` is when that was decided.
    pub(super) fn measure(&mut self, key: RunKey, now: Instant) -> Event {
        self.claim_orphans();
        let living = self.trees.members(key);
        let exceeded = self.runs.get_mut(&key).and_then(|run| {
            let exit = run.lifecycle.exit();
            run.enforcer.as_mut()?.measure(&living, exit)
        });
        Event::Measured { exceeded, took: now.elapsed() }
    }
}
