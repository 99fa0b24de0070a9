//! Which processes belong to which execution.
//!
//! The keeper is a subreaper: whoever loses its parent below it becomes its child, so every process of every execution
//! can be reached from the keeper's own children. Those are either the programs it started, or orphans. An orphan is
//! claimed for its execution by the tag that it inherited ([`Tag`](shellgate_sandbox::spawn::Tag)), which outlives a
//! double fork, `setsid` and `env -i`; failing that by the execution's name in its environment, which can't be read for
//! the moment that an `exec` takes, so whoever isn't recognised is looked at again. A number can't be given to somebody
//! else before we reap the process, so a claim holds until then.

use std::collections::{HashMap, HashSet};

use rustix::process::Signal;

use crate::proc::{self, Stat};
use crate::sys::processes;

/// The number of an execution within this keeper.
pub(super) type RunKey = u64;

/// The owner of a process that does something for the keeper itself. Executions count from 1.
pub(super) const KEEPER_HELPER: RunKey = 0;

/// Who is whose.
#[derive(Debug, Default)]
pub(super) struct Trees {
    roots: HashMap<u32, RunKey>,
    orphans: HashMap<u32, RunKey>,
    /// Orphans that could have been of more than one execution when they were seen.
    ambiguous: HashSet<u32>,
    /// There is no child: the last `wait` said so, and nothing was started since.
    pub(super) has_no_children: bool,
}

/// One process of an execution.
#[derive(Clone, Copy, Debug)]
pub(super) struct Member {
    pub(super) pid: u32,
    pub(super) stat: Stat,
}

impl Trees {
    /// A program that we started.
    pub(super) fn add_root(&mut self, pid: u32, run: RunKey) {
        self.has_no_children = false;
        self.roots.insert(pid, run);
    }

    /// A child of ours that was reaped: its execution, and whether it was the program that we started.
    pub(super) fn reaped(&mut self, pid: u32) -> Option<(RunKey, Reaped)> {
        self.ambiguous.remove(&pid);
        if let Some(run) = self.roots.remove(&pid) {
            return Some((run, Reaped::Root));
        }
        self.orphans.remove(&pid).map(|run| (run, Reaped::Orphan))
    }

    /// Whether a process that does something for the keeper itself has not ended.
    pub(super) fn has_helpers(&self) -> bool {
        self.roots.values().any(|run| *run == KEEPER_HELPER)
    }

    /// Children of ours that belong to no execution as far as we know.
    pub(super) fn unclaimed(&self) -> Vec<u32> {
        if self.has_no_children {
            return Vec::new();
        }
        let mut children = proc::own().children_of_first_thread();
        children.retain(|pid| !self.roots.contains_key(pid) && !self.orphans.contains_key(pid));
        children
    }

    /// Remembers that nobody can say whose orphan `pid` is.
    pub(super) fn mark_ambiguous(&mut self, pid: u32) {
        self.ambiguous.insert(pid);
    }

    pub(super) fn is_ambiguous(&self, pid: u32) -> bool {
        self.ambiguous.contains(&pid)
    }

    /// Settles whose orphan `pid` is.
    pub(super) fn claim(&mut self, pid: u32, owner: RunKey) {
        self.orphans.insert(pid, owner);
    }

    /// Whether no process of `run` is left, once all orphans are claimed. A tree that still has a
    /// process has one among our children.
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

    /// Sends `signal` to every process of `run`: whole process groups at once, the others parents first. A shell whose
    /// child dies before it would go on with its next command.
    pub(super) fn signal(&self, run: RunKey, signal: Signal) {
        // Before anybody has died of it: children of the dead are found below us later, by name and not by descent.
        let members = self.members(run);
        let groups = self.signal_groups(run, signal);
        let others: Vec<Member> =
            members.iter().filter(|member| !groups.contains(&member.stat.group)).copied().collect();
        signal_all(&others, signal);
        // A suspended process would only hear the signal when somebody wakes it.
        let suspended: Vec<Member> =
            members.into_iter().filter(|member| member.stat.letter == b'T').collect();
        signal_all(&suspended, Signal::CONT);
    }

    /// Tells those of `run` that ignore `SIGTERM` that their terminal is gone. The others have heard, and may be cleaning up:
    /// most would die of it.
    pub(super) fn hang_up(&self, run: RunKey) {
        let mut members = self.members(run);
        members.retain(|member| proc::of(member.pid).ignores(Signal::TERM));
        signal_all(&members, Signal::HUP);
    }

    /// Suspends the processes of `run` that are our own children, and the process groups that these are in, as fast as we
    /// can: no look at each, because a process that forks and exits is gone by then, and among a thousand busy ones we get
    /// little time to look. Numbers and groups can't be anybody else's as long as we have not reaped our child.
    pub(super) fn suspend_top_processes(&self, run: RunKey) {
        self.signal_groups(run, Signal::STOP);
        self.top_processes(run).for_each(|pid| processes::signal_own_child(pid, Signal::STOP));
    }

    /// Signals the process groups of our own children, and says which those are.
    fn signal_groups(&self, run: RunKey, signal: Signal) -> HashSet<u32> {
        let groups: HashSet<u32> =
            self.top_processes(run).filter_map(processes::group_of_own_child).collect();
        for group in &groups {
            processes::signal_group(*group, signal);
        }
        groups
    }

    /// Suspends all processes of `run` that aren't.
    pub(super) fn suspend(&self, run: RunKey) -> Suspended {
        let mut awake = self.members(run);
        awake.retain(|member| !matches!(member.stat.letter, b'T' | b't'));
        signal_all(&awake, Signal::STOP);
        if awake.is_empty() { Suspended::All } else { Suspended::Some }
    }

    /// Ends every process below us that was looked at and belongs to no execution.
    pub(super) fn kill_unclaimed(&self) {
        let mut unclaimed = self.unclaimed();
        unclaimed.retain(|pid| self.is_ambiguous(*pid));
        signal_all(&descend(unclaimed), Signal::KILL);
    }
}

/// Whether everybody was suspended already.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Suspended {
    All,
    Some,
}

/// What a reaped child was.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Reaped {
    /// The program that we started.
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
        // Its parent may have died of the signal a moment ago; then it is our child now.
        processes::signal_child(member.pid, &[member.stat.parent, own], signal);
    }
}
