//! Resource limits of single processes, in addition to the limits of the tree.
//!
//! They are wide enough that a process which reaches one has exceeded the limit of the tree.

use rustix::process::{Resource, Rlimit, getrlimit};

use super::{Groups, LimitedResource, Limits};
use crate::proc;

/// How much larger a file may be than what the whole tree may write. Without this, a file of exactly the allowed size
/// could not be told from one that was cut off there.
const EXTRA_FILE_BYTES: u64 = 64 << 10;

/// How many more processes the user may have than now. The kernel counts all processes of the user, and their number
/// changes.
const EXTRA_PROCESSES: u64 = 256;

/// The resource limits for a process of an execution with `limits`, in addition to `changes`.
pub(crate) fn rlimits(
    limits: &Limits,
    groups: &Groups,
    changes: &[(Resource, Rlimit)],
) -> Vec<(Resource, Rlimit)> {
    let mut wanted = Vec::new();
    if limits.cpu_s > 0 {
        // One second more, so that the keeper measures first and can name the limit.
        wanted.push((Resource::Cpu, limits.cpu_s + 1, limits.cpu_s + 2));
    }
    if limits.disk_mb > 0 {
        let most = limits.disk_mb.saturating_mul(1 << 20).saturating_add(EXTRA_FILE_BYTES);
        wanted.push((Resource::Fsize, most, most));
    }
    // The kernel doesn't apply it to processes that may raise limits.
    let bound = !rustix::process::geteuid().is_root();
    if limits.processes > 0 && bound && groups.mechanism(LimitedResource::Processes).is_none() {
        let most = tasks_of_user().saturating_add(limits.processes).saturating_add(EXTRA_PROCESSES);
        wanted.push((Resource::Nproc, most, most));
    }
    let stricter = |(resource, soft, hard): (Resource, u64, u64)| {
        let set = changes.iter().rev().find(|(changed, _)| *changed == resource).map(|(_, limit)| *limit);
        let now = set.unwrap_or_else(|| getrlimit(resource));
        let least = |now: Option<u64>, wanted: u64| Some(now.map_or(wanted, |now| now.min(wanted)));
        (resource, Rlimit { current: least(now.current, soft), maximum: least(now.maximum, hard) })
    };
    wanted.into_iter().map(stricter).collect()
}

/// How many processes and threads this user has.
fn tasks_of_user() -> u64 {
    let own = rustix::process::geteuid().as_raw();
    let ours = proc::all_pids().into_iter().map(proc::of).filter(|process| process.user() == Some(own));
    ours.map(proc::ProcessFolder::thread_count).sum()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_limit_is_never_loosened() {
        let limits = Limits { cpu_s: 10, disk_mb: 1, ..Limits::default() };
        let strict = Rlimit { current: Some(3), maximum: Some(4) };
        let changes = [(Resource::Cpu, strict)];
        let set = rlimits(&limits, &Groups::default(), &changes);
        assert_eq!(set[0], (Resource::Cpu, strict));
        let (resource, file) = &set[1];
        assert_eq!((*resource, file.current), (Resource::Fsize, Some((1 << 20) + EXTRA_FILE_BYTES)));
        assert_eq!(rlimits(&Limits::default(), &Groups::default(), &[]), []);
    }

    #[test]
    fn the_tasks_of_this_user_are_counted() {
        let before = tasks_of_user();
        let (stop, wait) = std::sync::mpsc::channel::<()>();
        let thread = std::thread::spawn(move || wait.recv());
        assert!(before >= 1 && tasks_of_user() >= 2);
        drop(stop);
        let _ = thread.join().unwrap();
    }
}
