//! Which processes belong to which execution.
//!
//! The keeper is a subreaper: a descendant that loses its parent becomes the keeper's child. So every process of every
//! execution can be reached from the keeper's own children, which are the programs that it started, or orphans. An orphan
//! is claimed for its execution by the tag that it inherited ([`Tag`](shellgate_sandbox::spawn::Tag)), which survives a
//! double fork, `setsid` and `env -i`. Without a tag, the execution's name in its environment is used. That can't be read
//! during an `exec`, so an orphan that isn't recognised is looked at again. The kernel reuses a process id only after the
//! process was reaped, so a claim holds until then.
//!
//! Orphans of a pod become children of the pod's first process, which reaps them and tells the keeper. The kernel may reuse
//! their process ids without the keeper's knowledge, so they are recognised by the time of their start, too, and signalled
//! only after a look at their parent.

use std::collections::{HashMap, HashSet};

use rustix::process::Signal;

use crate::proc::{self, Stat};
use crate::sys::processes;

/// The number of an execution within this keeper.
pub(super) type RunKey = u64;

/// The owner of processes that work for the keeper itself. Executions count from 1.
pub(super) const KEEPER_HELPER: RunKey = 0;

/// The keeper's children, and the executions that they belong to.
#[derive(Debug, Default)]
pub(super) struct Trees {
    roots: HashMap<u32, RunKey>,
    orphans: HashMap<u32, RunKey>,
    /// Orphans in the pod, with the time of their start.
    pod_orphans: HashMap<u32, (RunKey, u64)>,
    /// The pod's first process.
    pod: Option<u32>,
    /// Processes that make confined commands possible: launchers, and the pod's first process.
    helpers: HashSet<u32>,
    /// Orphans that could belong to more than one execution when they were first seen.
    ambiguous: HashSet<u32>,
    /// There is no child: the last `wait` said so, and none was started since.
    pub(super) has_no_children: bool,
    /// Whether orphans may become the keeper's children. Those of a pod become children of its first process.
    adopts: bool,
}

/// One process of an execution.
#[derive(Clone, Copy, Debug)]
pub(super) struct Member {
    pub(super) pid: u32,
    pub(super) stat: Stat,
}

impl Trees {
    /// Adds a program that the keeper started.
    pub(super) fn add_root(&mut self, pid: u32, run: RunKey) {
        self.has_no_children = false;
        self.roots.insert(pid, run);
    }

    /// Notes that a command starts outside the pod.
    pub(super) fn expect_orphans(&mut self) {
        self.adopts = true;
    }

    /// Adds the pod's first process.
    pub(super) fn add_pod(&mut self, init: u32) {
        self.pod = Some(init);
        self.add_helper(init);
    }

    /// Adds a launcher.
    pub(super) fn add_helper(&mut self, pid: u32) {
        self.has_no_children = false;
        self.helpers.insert(pid);
    }

    /// Removes a launcher or the pod's first process that was reaped. Returns whether `pid` was one.
    pub(super) fn remove_helper(&mut self, pid: u32) -> bool {
        if self.pod == Some(pid) {
            self.pod = None;
        }
        self.helpers.remove(&pid)
    }

    /// Removes the orphans of the pod that have ended. Returns their executions.
    pub(super) fn forget_ended_in_pod(&mut self) -> Vec<RunKey> {
        let pod = self.pod;
        let lives = |pid: u32, started: u64| {
            let stat = proc::of(pid).stat();
            stat.is_some_and(|stat| Some(stat.parent) == pod && stat.started == started)
        };
        let mut ended = Vec::new();
        self.pod_orphans.retain(|pid, (run, started)| {
            let stays = lives(*pid, *started);
            if !stays {
                ended.push(*run);
            }
            stays
        });
        self.ambiguous.retain(|pid| proc::of(*pid).exists());
        ended.sort_unstable();
        ended.dedup();
        ended
    }

    /// Removes a child that was reaped. Returns its execution, and whether it was the program that the keeper started.
    pub(super) fn reaped(&mut self, pid: u32) -> Option<(RunKey, Reaped)> {
        self.ambiguous.remove(&pid);
        if let Some(run) = self.roots.remove(&pid) {
            return Some((run, Reaped::Root));
        }
        self.orphans.remove(&pid).map(|run| (run, Reaped::Orphan))
    }

    /// Whether a process that works for the keeper itself is running.
    pub(super) fn has_helpers(&self) -> bool {
        self.roots.values().any(|run| *run == KEEPER_HELPER)
    }

    /// Children whose execution is unknown.
    pub(super) fn unclaimed(&self) -> Vec<(u32, Adopter)> {
        if self.has_no_children {
            return Vec::new();
        }
        let own = if self.adopts { proc::own().children_of_first_thread() } else { Vec::new() };
        let own = own.into_iter().map(|pid| (pid, Adopter::Keeper));
        let pod = self.pod.iter().flat_map(|pod| proc::of(*pod).children_of_first_thread());
        let all = own.chain(pod.map(|pid| (pid, Adopter::Pod)));
        all.filter(|(pid, adopter)| match adopter {
            Adopter::Keeper => {
                let is_known = self.roots.contains_key(pid) || self.orphans.contains_key(pid);
                !is_known && !self.helpers.contains(pid)
            }
            Adopter::Pod => !self.pod_orphans.contains_key(pid),
        })
        .collect()
    }

    /// Remembers that the orphan `pid` could belong to more than one execution.
    pub(super) fn mark_ambiguous(&mut self, pid: u32) {
        self.ambiguous.insert(pid);
    }

    pub(super) fn is_ambiguous(&self, pid: u32) -> bool {
        self.ambiguous.contains(&pid)
    }

    /// Claims the orphan `pid` for an execution. Returns whether it still exists: one in the pod may have been reaped.
    pub(super) fn claim(&mut self, (pid, adopter): (u32, Adopter), owner: RunKey) -> bool {
        match adopter {
            Adopter::Keeper => {
                self.orphans.insert(pid, owner);
                true
            }
            Adopter::Pod => match proc::of(pid).stat().filter(|stat| Some(stat.parent) == self.pod) {
                Some(stat) => {
                    self.pod_orphans.insert(pid, (owner, stat.started));
                    true
                }
                None => false,
            },
        }
    }

    /// Whether no process of `run` is left, once all orphans are claimed. A tree that has a process has one among the
    /// keeper's children.
    pub(super) fn is_empty(&self, run: RunKey) -> bool {
        self.top_processes(run).next().is_none()
    }

    fn top_processes(&self, run: RunKey) -> impl Iterator<Item = u32> {
        self.own_children(run).chain(self.pod_orphans(run))
    }

    /// The processes of `run` that are the keeper's own children.
    fn own_children(&self, run: RunKey) -> impl Iterator<Item = u32> {
        let all = self.roots.iter().chain(&self.orphans);
        all.filter(move |(_, owner)| **owner == run).map(|(pid, _)| *pid)
    }

    fn pod_orphans(&self, run: RunKey) -> impl Iterator<Item = u32> {
        self.pod_orphans.iter().filter(move |(_, (owner, _))| *owner == run).map(|(pid, _)| *pid)
    }

    /// The living processes of `run`, parents before their children.
    pub(super) fn members(&self, run: RunKey) -> Vec<Member> {
        let mut top_processes: Vec<u32> = self.top_processes(run).collect();
        top_processes.sort_unstable();
        descend(top_processes)
    }

    /// Sends `signal` to all processes of `run`: to whole process groups first, then to the others, parents before their
    /// children. A shell whose child dies before itself would go on with its next command.
    pub(super) fn signal(&self, run: RunKey, signal: Signal) {
        // Before the first process dies: after that, its children are orphans that have to be claimed first.
        let members = self.members(run);
        let groups = self.signal_groups(run, signal);
        let others: Vec<Member> =
            members.iter().filter(|member| !groups.contains(&member.stat.group)).copied().collect();
        self.signal_all(&others, signal);
        // A suspended process would get the signal only when it continues.
        let suspended: Vec<Member> =
            members.into_iter().filter(|member| member.stat.letter == b'T').collect();
        self.signal_all(&suspended, Signal::CONT);
    }

    /// Sends `SIGHUP` to the processes of `run` that ignore `SIGTERM`. The others may be cleaning up, and most would die of
    /// a second signal. So would bash of a second `SIGHUP`: `hung_up` is a group that gets one from the kernel.
    pub(super) fn hang_up(&self, run: RunKey, hung_up: Option<u32>) {
        let mut members = self.members(run);
        members.retain(|member| {
            hung_up != Some(member.stat.group) && proc::of(member.pid).ignores(Signal::TERM)
        });
        self.signal_all(&members, Signal::HUP);
    }

    /// Suspends the processes of `run` that are the keeper's own children, and their process groups, as fast as possible. It
    /// doesn't read `/proc`: a process that forks and exits would be gone by then, and a thousand busy processes leave the
    /// keeper little time. The process ids and groups can't be reused before the keeper reaps its child.
    pub(super) fn suspend_top_processes(&self, run: RunKey) {
        self.signal_groups(run, Signal::STOP);
        self.own_children(run).for_each(|pid| processes::signal_own_child(pid, Signal::STOP));
        let pod = Vec::from_iter(self.pod);
        self.pod_orphans(run).for_each(|pid| processes::signal_child(pid, &pod, Signal::STOP));
    }

    /// Signals the process groups of the keeper's own children. Returns those groups.
    fn signal_groups(&self, run: RunKey, signal: Signal) -> HashSet<u32> {
        let groups: HashSet<u32> = self.own_children(run).filter_map(processes::group_of_own_child).collect();
        for group in &groups {
            processes::signal_group(*group, signal);
        }
        groups
    }

    /// Suspends the processes of `run` that aren't suspended.
    pub(super) fn suspend(&self, run: RunKey) -> Suspended {
        let mut awake = self.members(run);
        awake.retain(|member| !is_suspended(member.stat));
        self.signal_all(&awake, Signal::STOP);
        if awake.is_empty() { Suspended::All } else { Suspended::NotAll }
    }

    /// The suspended processes of all executions, and of orphans that belong to none.
    pub(super) fn suspended(&self) -> HashSet<u32> {
        let all = self.all_members().into_iter();
        all.filter(|member| is_suspended(member.stat)).map(|member| member.pid).collect()
    }

    /// Whether the processes of all executions are suspended.
    pub(super) fn all_are_suspended(&self) -> bool {
        // One that waits for a disk can't fork; it stops when it goes on.
        self.all_members().iter().all(|member| is_suspended(member.stat) || member.stat.letter == b'D')
    }

    /// Lets all processes go on that don't belong to `run` and were not suspended before. Children go on before their
    /// parents, which so don't learn that they were suspended.
    pub(super) fn resume_all_but(&self, run: Option<RunKey>, before: &HashSet<u32>) {
        let killed = run.into_iter().flat_map(|run| self.members(run)).map(|member| member.pid);
        let killed: HashSet<u32> = killed.collect();
        let mut others = self.all_members();
        others.retain(|member| !killed.contains(&member.pid) && !before.contains(&member.pid));
        others.reverse();
        self.signal_all(&others, Signal::CONT);
    }

    /// The living processes of all executions, and of orphans that belong to none. Parents come before their children.
    fn all_members(&self) -> Vec<Member> {
        let unclaimed = self.unclaimed().into_iter().map(|(pid, _)| pid);
        let owned = self.roots.iter().chain(&self.orphans).filter(|(_, run)| **run != KEEPER_HELPER);
        let known = owned.map(|(pid, _)| *pid).chain(self.pod_orphans.keys().copied());
        descend(known.chain(unclaimed).collect())
    }

    /// Kills the orphans that were looked at and belong to no execution, with their descendants.
    pub(super) fn kill_unclaimed(&self) {
        let unclaimed = self.unclaimed().into_iter().map(|(pid, _)| pid);
        let unclaimed = unclaimed.filter(|pid| self.is_ambiguous(*pid)).collect();
        self.signal_all(&descend(unclaimed), Signal::KILL);
    }

    fn signal_all(&self, members: &[Member], signal: Signal) {
        // If its parent has just died of the signal, it is a child of the keeper or of the pod's first process now.
        let adopting = [Some(std::process::id()), self.pod];
        for member in members {
            let parents: Vec<u32> =
                [Some(member.stat.parent)].into_iter().chain(adopting).flatten().collect();
            processes::signal_child(member.pid, &parents, signal);
        }
    }
}

/// The process that became the parent of an orphan.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Adopter {
    /// The keeper, which reaps it.
    Keeper,
    /// The pod's first process, which reaps it.
    Pod,
}

/// Whether all processes were suspended already.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Suspended {
    All,
    NotAll,
}

/// The kind of a child that was reaped.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Reaped {
    /// A program that the keeper started.
    Root,
    /// A descendant that had lost its parent.
    Orphan,
}

const fn is_suspended(stat: Stat) -> bool {
    matches!(stat.letter, b'T' | b't')
}

fn descend(top_processes: Vec<u32>) -> Vec<Member> {
    let mut level = top_processes;
    let mut members = Vec::new();
    while !level.is_empty() {
        let living = level.iter().filter_map(|&pid| proc::of(pid).stat().map(|stat| Member { pid, stat }));
        let living: Vec<Member> = living.filter(|member| !member.stat.is_dead()).collect();
        level = living.iter().flat_map(|member| proc::of(member.pid).children()).collect();
        members.extend(living);
    }
    members
}
