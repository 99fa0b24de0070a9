//! Which processes belong to which execution.
//!
//! The keeper is a subreaper: a descendant that loses its parent becomes the keeper's child. So every process of every
//! execution can be reached from the keeper's own children, which are the programs that it started, or orphans. An orphan
//! is claimed for its execution by the tag that it inherited ([`Tag`](shellgate_sandbox::spawn::Tag)), which survives a
//! double fork, `setsid` and `env -i`. Without a tag, the execution's name in its environment is used. That can't be read
//! during an `exec`, so an orphan that isn't recognised is looked at again. The kernel reuses a process id only after the
//! process was reaped, so a claim holds until then.

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
    /// Orphans that could belong to more than one execution when they were first seen.
    ambiguous: HashSet<u32>,
    /// There is no child: the last `wait` said so, and none was started since.
    pub(super) has_no_children: bool,
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
    pub(super) fn unclaimed(&self) -> Vec<u32> {
        if self.has_no_children {
            return Vec::new();
        }
        let mut children = proc::own().children_of_first_thread();
        children.retain(|pid| !self.roots.contains_key(pid) && !self.orphans.contains_key(pid));
        children
    }

    /// Remembers that the orphan `pid` could belong to more than one execution.
    pub(super) fn mark_ambiguous(&mut self, pid: u32) {
        self.ambiguous.insert(pid);
    }

    pub(super) fn is_ambiguous(&self, pid: u32) -> bool {
        self.ambiguous.contains(&pid)
    }

    /// Claims the orphan `pid` for an execution.
    pub(super) fn claim(&mut self, pid: u32, owner: RunKey) {
        self.orphans.insert(pid, owner);
    }

    /// Whether no process of `run` is left, once all orphans are claimed. A tree that has a process has one among the
    /// keeper's children.
    pub(super) fn is_empty(&self, run: RunKey) -> bool {
        self.top_processes(run).next().is_none()
    }

    fn top_processes(&self, run: RunKey) -> impl Iterator<Item = u32> {
        let roots = self.roots.iter().filter(move |(_, owner)| **owner == run).map(|(pid, _)| *pid);
        roots.chain(self.orphans.iter().filter(move |(_, owner)| **owner == run).map(|(pid, _)| *pid))
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
        signal_all(&others, signal);
        // A suspended process would get the signal only when it continues.
        let suspended: Vec<Member> =
            members.into_iter().filter(|member| member.stat.letter == b'T').collect();
        signal_all(&suspended, Signal::CONT);
    }

    /// Sends `SIGHUP` to the processes of `run` that ignore `SIGTERM`. The others may be cleaning up, and most would die of
    /// a second signal.
    pub(super) fn hang_up(&self, run: RunKey) {
        let mut members = self.members(run);
        members.retain(|member| proc::of(member.pid).ignores(Signal::TERM));
        signal_all(&members, Signal::HUP);
    }

    /// Suspends the processes of `run` that are the keeper's own children, and their process groups, as fast as possible. It
    /// doesn't read `/proc`: a process that forks and exits would be gone by then, and a thousand busy processes leave the
    /// keeper little time. The process ids and groups can't be reused before the keeper reaps its child.
    pub(super) fn suspend_top_processes(&self, run: RunKey) {
        self.signal_groups(run, Signal::STOP);
        self.top_processes(run).for_each(|pid| processes::signal_own_child(pid, Signal::STOP));
    }

    /// Signals the process groups of the keeper's own children. Returns those groups.
    fn signal_groups(&self, run: RunKey, signal: Signal) -> HashSet<u32> {
        let groups: HashSet<u32> =
            self.top_processes(run).filter_map(processes::group_of_own_child).collect();
        for group in &groups {
            processes::signal_group(*group, signal);
        }
        groups
    }

    /// Suspends the processes of `run` that aren't suspended.
    pub(super) fn suspend(&self, run: RunKey) -> Suspended {
        let mut awake = self.members(run);
        awake.retain(|member| !matches!(member.stat.letter, b'T' | b't'));
        signal_all(&awake, Signal::STOP);
        if awake.is_empty() { Suspended::All } else { Suspended::NotAll }
    }

    /// Kills the orphans that were looked at and belong to no execution, with their descendants.
    pub(super) fn kill_unclaimed(&self) {
        let mut unclaimed = self.unclaimed();
        unclaimed.retain(|pid| self.is_ambiguous(*pid));
        signal_all(&descend(unclaimed), Signal::KILL);
    }
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

fn signal_all(members: &[Member], signal: Signal) {
    let own = std::process::id();
    for member in members {
        // If its parent has just died of the signal, it is the keeper's child now.
        processes::signal_child(member.pid, &[member.stat.parent, own], signal);
    }
}
