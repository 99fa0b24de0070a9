//! Recognising keepers, and signalling processes: each only when it is certain that it is the one that was meant.

use std::os::fd::OwnedFd;
use std::path::{Path, PathBuf};
use std::time::Duration;

use rustix::process::{Pid, PidfdFlags, Signal};

use shellgate_sandbox::spawn::Tag;

use crate::proc::{self, Link};
use crate::sys::folder_mark;

/// The short name of every keeper. Other programs have no reason to take it; one that does is taken for a keeper.
pub(crate) const KEEPER: &str = "shellgate-keep";

/// Whether `pid` is a keeper.
pub(crate) fn is_keeper(pid: u32) -> bool {
    proc::of(pid).name_and_stat().is_some_and(|(name, _)| name == KEEPER)
}

/// A keeper that can be continued for one system call, however often it may be suspended.
#[derive(Debug)]
pub(crate) struct PinnedKeeper(OwnedFd);

impl PinnedKeeper {
    /// Pins the process if it is a keeper.
    pub(crate) fn of(pid: u32) -> Option<Self> {
        let target = i32::try_from(pid).ok().and_then(Pid::from_raw)?;
        let pinned = rustix::process::pidfd_open(target, PidfdFlags::empty()).ok()?;
        is_keeper(pid).then_some(Self(pinned))
    }

    pub(crate) fn signal(&self, signal: Signal) {
        // One that ended meanwhile needs no signal.
        let _ = rustix::process::pidfd_send_signal(&self.0, signal);
    }
}

/// Continues the suspended processes of a keeper's sandbox. The keeper waits for them, or its commands do.
pub(crate) fn continue_helpers(keeper: u32) {
    let is_suspended = |pid: u32| {
        let found = proc::of(pid).name_and_stat();
        found.is_some_and(|(name, stat)| name.starts_with(HELPER_PREFIX) && stat.letter == b'T')
    };
    for pid in proc::of(keeper).children_of_first_thread().into_iter().filter(|pid| is_suspended(*pid)) {
        let Some(target) = i32::try_from(pid).ok().and_then(Pid::from_raw) else { continue };
        let Ok(pinned) = rustix::process::pidfd_open(target, PidfdFlags::empty()) else { continue };
        if is_suspended(pid) {
            // One that ended meanwhile needs no signal.
            let _ = rustix::process::pidfd_send_signal(&pinned, Signal::CONT);
        }
    }
}

/// How the names of a keeper's own processes begin.
const HELPER_PREFIX: &str = "shellgate-";

/// The state folder of a keeper: it holds the folder of its socket open.
pub(crate) fn state_of_keeper(pid: u32) -> Option<PathBuf> {
    let sockets = proc::of(pid).links().into_iter().find_map(|link| match link {
        Link::File(path) if path.ends_with("sessions") && path.is_dir() => Some(path),
        _ => None,
    });
    sockets?.parent().map(ToOwned::to_owned)
}

/// The name of the socket that a keeper listens on.
pub(crate) fn socket_of_keeper(pid: u32) -> Option<String> {
    let keeper = proc::of(pid);
    let links = keeper.links();
    let own = keeper.unix_sockets().into_iter().find(|bound| links.contains(&Link::Socket(bound.socket)));
    own?.path.file_name()?.to_str().map(ToOwned::to_owned)
}

/// A living keeper, and the name of the socket that it listens on.
#[derive(Debug)]
pub(crate) struct KeeperProcess {
    pub(crate) pid: u32,
    pub(crate) socket: String,
}

/// The keepers of this state folder: also those whose socket was removed, alone or with its folder, and those that began when the
/// name belonged to another folder.
pub(crate) fn keepers_of(state: &Path) -> Vec<KeeperProcess> {
    let [folder, deleted] = ["sessions", "sessions (deleted)"].map(|name| state.join(name));
    let folders = [folder_mark::link(&folder), Link::File(folder), Link::File(deleted)];
    let keeper = |pid: u32| {
        let links = proc::of(pid).links();
        let is_its = folders.iter().any(|folder| links.contains(folder));
        Some(KeeperProcess { pid, socket: socket_of_keeper(pid).filter(|_| is_its)? })
    };
    proc::all_pids().into_iter().filter(|pid| is_keeper(*pid)).filter_map(keeper).collect()
}

/// Whether `pid` has the pipe with this number open as its standard output or error.
pub(crate) fn holds_pipe(pid: u32, pipe: u64) -> bool {
    [1, 2].iter().any(|fd| proc::of(pid).link(*fd) == Some(Link::Pipe(pipe)))
}

/// How often processes with a tag are looked for before the rest is left alone.
const END_ATTEMPTS: u32 = 100;

/// The time between two looks.
const END_INTERVAL: Duration = Duration::from_millis(5);

/// Kills every process that carries one of these tags, wherever it is. Returns when none is left, or after
/// [`END_ATTEMPTS`]. For executions whose keeper is gone: a tag belongs to one execution alone.
pub(crate) fn end_tagged(tags: &[u64]) {
    let is_ours = |pid: u32| proc::of(pid).lock_limit().is_some_and(|tag| tags.contains(&tag));
    for _ in 0..END_ATTEMPTS {
        let tagged: Vec<u32> = proc::all_pids().into_iter().filter(|pid| is_ours(*pid)).collect();
        let living = tagged.iter().filter(|pid| proc::of(**pid).stat().is_some_and(|stat| !stat.is_dead()));
        let mut found = false;
        for pid in living.filter_map(|pid| i32::try_from(*pid).ok().and_then(Pid::from_raw)) {
            found = true;
            let Ok(pinned) = rustix::process::pidfd_open(pid, PidfdFlags::empty()) else { continue };
            if is_ours(pid.as_raw_nonzero().get().unsigned_abs()) {
                // One that ended meanwhile needs no signal.
                let _ = rustix::process::pidfd_send_signal(&pinned, Signal::KILL);
            }
        }
        if !found {
            return;
        }
        std::thread::sleep(END_INTERVAL);
    }
}

/// The tags of processes that no keeper holds: none is among their ancestors. A keeper adopts every orphan below it, so
/// theirs is gone.
pub(crate) fn tags_without_keeper() -> Vec<Tag> {
    tagged_processes().filter(|(pid, _)| !has_keeper(*pid)).map(|(_, tag)| tag).collect()
}

/// Whether a keeper holds a process with this tag, whether that keeper can be reached or not.
pub(crate) fn has_process_with_keeper(wanted: Tag) -> bool {
    tagged_processes().any(|(pid, tag)| tag == wanted && has_keeper(pid))
}

/// The living processes of executions, each with its tag.
fn tagged_processes() -> impl Iterator<Item = (u32, Tag)> {
    proc::all_pids().into_iter().filter_map(|pid| {
        let tag = proc::of(pid).lock_limit().and_then(Tag::from_limit)?;
        proc::of(pid).stat().is_some_and(|stat| !stat.is_dead()).then_some((pid, tag))
    })
}

fn has_keeper(pid: u32) -> bool {
    let parent = |pid: &u32| proc::of(*pid).stat().map(|stat| stat.parent).filter(|parent| *parent != 0);
    std::iter::successors(Some(pid), parent).take(MAX_ANCESTORS).any(is_keeper)
}

/// How many ancestors of a process are looked at. A process can't be its own ancestor, but `/proc` changes while it is read.
const MAX_ANCESTORS: usize = 4096;

/// The process group of a child of ours that we have not reaped, unless it is our own group.
///
/// The group was made inside the session that we made for the child, so all its members descend from us. It can't end
/// before we reap the child.
pub(crate) fn group_of_own_child(pid: u32) -> Option<u32> {
    let pid = i32::try_from(pid).ok().and_then(Pid::from_raw)?;
    let group = rustix::process::getpgid(Some(pid)).ok()?;
    (group != rustix::process::getpgrp()).then(|| group.as_raw_nonzero().get().unsigned_abs())
}

/// Signals every process in `group`.
pub(crate) fn signal_group(group: u32, signal: Signal) {
    if let Some(group) = i32::try_from(group).ok().and_then(Pid::from_raw) {
        // A group without members needs no signal.
        let _ = rustix::process::kill_process_group(group, signal);
    }
}

/// Signals a child of ours that we have not reaped. Until then the kernel gives its number to no other process.
pub(crate) fn signal_own_child(pid: u32, signal: Signal) {
    if let Some(pid) = i32::try_from(pid).ok().and_then(Pid::from_raw) {
        // One that has ended needs no signal.
        let _ = rustix::process::kill_process(pid, signal);
    }
}

/// Signals a keeper, if it still is one.
pub(crate) fn signal_keeper(pid: u32, signal: Signal) {
    if let Some(keeper) = PinnedKeeper::of(pid) {
        keeper.signal(signal);
    }
}

/// Sends `signal` to `pid` if it still is a child of one of `parents`.
///
/// The descriptor pins the process while we look, so a number that was given to another process in between is noticed.
pub(crate) fn signal_child(pid: u32, parents: &[u32], signal: Signal) {
    let Some(target) = i32::try_from(pid).ok().and_then(Pid::from_raw) else { return };
    let Ok(pinned) = rustix::process::pidfd_open(target, PidfdFlags::empty()) else { return };
    if proc::of(pid).stat().is_some_and(|stat| parents.contains(&stat.parent)) {
        // One that ended meanwhile needs no signal.
        let _ = rustix::process::pidfd_send_signal(&pinned, signal);
    }
}

#[cfg(test)]
mod tests {
    use std::process::Command;

    use super::*;

    #[test]
    fn only_a_child_of_the_named_parents_is_signalled() {
        let mut child = Command::new("sleep").arg("30").spawn().unwrap();
        let pid = child.id();
        signal_child(pid, &[1], Signal::KILL);
        assert!(child.try_wait().unwrap().is_none(), "not a child of 1, so not signalled");
        signal_child(pid, &[std::process::id()], Signal::KILL);
        assert!(!child.wait().unwrap().success());
        assert!(proc::of(pid).stat().is_none());
    }

    #[test]
    fn we_are_no_keeper() {
        assert!(!is_keeper(std::process::id()) && !is_keeper(u32::MAX));
        assert_eq!(state_of_keeper(u32::MAX), None);
        assert_eq!(socket_of_keeper(u32::MAX), None);
    }
}
