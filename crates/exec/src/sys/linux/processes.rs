//! Signalling processes, each only when it is certain whose it is.

use std::path::PathBuf;

use rustix::process::{Pid, PidfdFlags, Signal};

use crate::proc::{self, Link};

/// The short name of every keeper. Nobody else has a reason to take it; who does is taken for one.
pub(crate) const KEEPER: &str = "shellgate-keep";

/// Whether `pid` is a keeper.
pub(crate) fn is_keeper(pid: u32) -> bool {
    proc::of(pid).name_and_stat().is_some_and(|(name, _)| name == KEEPER)
}

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

/// Whether `pid` has the pipe with this number open as its standard output or error.
pub(crate) fn holds_pipe(pid: u32, pipe: u64) -> bool {
    [1, 2].iter().any(|fd| proc::of(pid).link(*fd) == Some(Link::Pipe(pipe)))
}

/// Ends every process that carries one of these tags, wherever it is, and returns when none is left or we have tried long
/// enough. For when the keeper that held them is gone: a tag is a number that nobody else has.
pub(crate) fn end_tagged(tags: &[u64]) {
    let is_ours = |pid: u32| proc::of(pid).lock_limit().is_some_and(|tag| tags.contains(&tag));
    for _ in 0..100 {
        let tagged: Vec<u32> = proc::all_pids().into_iter().filter(|pid| is_ours(*pid)).collect();
        let living = tagged.iter().filter(|pid| proc::of(**pid).stat().is_some_and(|stat| !stat.is_dead()));
        let mut found = false;
        for pid in living.filter_map(|pid| i32::try_from(*pid).ok().and_then(Pid::from_raw)) {
            found = true;
            let Ok(pinned) = rustix::process::pidfd_open(pid, PidfdFlags::empty()) else { continue };
            if is_ours(pid.as_raw_nonzero().get().unsigned_abs()) {
                let _ = rustix::process::pidfd_send_signal(&pinned, Signal::KILL);
            }
        }
        if !found {
            return;
        }
        std::thread::sleep(std::time::Duration::from_millis(5));
    }
}

/// The process group of a child of ours that we have not reaped, unless it is our own. It was made below a session that
/// we made for the child, so all who are in it descend from us; and it can't end before we reap.
pub(crate) fn group_of_own_child(pid: u32) -> Option<u32> {
    let pid = i32::try_from(pid).ok().and_then(Pid::from_raw)?;
    let group = rustix::process::getpgid(Some(pid)).ok()?;
    (group != rustix::process::getpgrp()).then(|| group.as_raw_nonzero().get().unsigned_abs())
}

/// Signals every process in `group`.
pub(crate) fn signal_group(group: u32, signal: Signal) {
    if let Some(group) = i32::try_from(group).ok().and_then(Pid::from_raw) {
        let _ = rustix::process::kill_process_group(group, signal);
    }
}

/// Signals a child of ours that we have not reaped: its number can't be anybody else's.
pub(crate) fn signal_own_child(pid: u32, signal: Signal) {
    if let Some(pid) = i32::try_from(pid).ok().and_then(Pid::from_raw) {
        let _ = rustix::process::kill_process(pid, signal);
    }
}

/// Signals a keeper, if it still is one.
pub(crate) fn signal_keeper(pid: u32, signal: Signal) {
    let Some(target) = i32::try_from(pid).ok().and_then(Pid::from_raw) else { return };
    let Ok(pinned) = rustix::process::pidfd_open(target, PidfdFlags::empty()) else { return };
    if is_keeper(pid) {
        let _ = rustix::process::pidfd_send_signal(&pinned, signal);
    }
}

/// Sends `signal` to `pid` if it still is a child of one of `parents`, and to nobody else: the descriptor pins the
/// process while we look, so a number that was given to somebody new in between is noticed.
pub(crate) fn signal_child(pid: u32, parents: &[u32], signal: Signal) {
    let Some(target) = i32::try_from(pid).ok().and_then(Pid::from_raw) else { return };
    let Ok(pinned) = rustix::process::pidfd_open(target, PidfdFlags::empty()) else { return };
    if proc::of(pid).stat().is_some_and(|stat| parents.contains(&stat.parent)) {
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
