//! Resource limits of each process, behind what is only looked at: wide enough that who breaks one has broken the limit.

use rustix::process::{Resource, Rlimit, getrlimit};

use super::{Groups, LimitedResource, Limits};
use crate::proc;

/// How much more a file may have than the whole tree may write. Without it, one that is as large as allowed could not be
/// told from one that was cut off there.
const MORE_BYTES: u64 = 64 << 10;

/// How many processes more the user may have. The kernel counts all that the user has, and others come and go.
const MORE_PROCESSES: u64 = 256;

/// What a process of an execution with `limits` gets, over `changes` that it gets anyway.
pub(crate) fn rlimits(
    limits: &Limits,
    groups: &Groups,
    changes: &[(Resource, Rlimit)],
) -> Vec<(Resource, Rlimit)> {
    let mut wanted = Vec::new();
    if limits.cpu_s > 0 {
        // One second more: the keeper's look comes first, and can say for whom the time was up.
        wanted.push((Resource::Cpu, limits.cpu_s + 1, limits.cpu_s + 2));
    }
    if limits.disk_mb > 0 {
        let most = limits.disk_mb.saturating_mul(1 << 20).saturating_add(MORE_BYTES);
        wanted.push((Resource::Fsize, most, most));
    }
    // The kernel holds nobody to it who may change limits.
    let bound = !rustix::process::geteuid().is_root();
    if limits.processes > 0 && bound && groups.mechanism(LimitedResource::Processes).is_none() {
        let most = tasks_of_user().saturating_add(limits.processes).saturating_add(MORE_PROCESSES);
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
        assert_eq!((*resource, file.current), (Resource::Fsize, Some((1 << 20) + MORE_BYTES)));
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
