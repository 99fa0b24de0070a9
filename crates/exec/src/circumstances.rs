//! What a command inherits from the process that starts it.
//!
//! Commands are started by the keeper, so they would inherit the keeper's circumstances, which are those of the front
//! end that happened to come first. Soft limits and the file mode mask travel with every [`Spec`](crate::Spec) and are
//! set for each command. What can't be given back (hard limits, niceness, groups, CPUs, control groups, namespaces)
//! decides which keeper serves a caller: a session has one for each kind of circumstances.

use std::fmt::Write as _;

use rustix::process::{Resource, Rlimit, getrlimit};
use serde::{Deserialize, Serialize};
use shellgate_sandbox::spawn::RESOURCES;

use crate::proc::{self, Namespace};

/// All limits but the one on file locks, which carries the tag.
fn limits() -> impl Iterator<Item = Resource> {
    RESOURCES.into_iter().filter(|resource| *resource != Resource::Locks)
}

/// The soft limits of a process, in a fixed order; `None` is no limit.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct SoftLimits(Vec<Option<u64>>);

impl SoftLimits {
    /// Those of this process.
    #[must_use]
    pub fn current() -> Self {
        Self(limits().map(|resource| getrlimit(resource).current).collect())
    }

    /// What a child of a process with the limits `ours` must change to have these.
    pub(crate) fn changes_from(&self, ours: &Self) -> Vec<(Resource, Rlimit)> {
        let pairs = limits().zip(self.0.iter().zip(&ours.0));
        let different = pairs.filter(|(_, (wanted, ours))| wanted != ours);
        different
            .map(|(resource, (wanted, _))| {
                let maximum = getrlimit(resource).maximum;
                (resource, Rlimit { current: *wanted, maximum })
            })
            .collect()
    }
}

/// Lets this process open as many descriptors and write as long files as it may. A keeper has a few descriptors for each
/// command, and its launchers share a file in memory.
pub(crate) fn raise_own_limits() {
    for resource in [Resource::Nofile, Resource::Fsize] {
        let limit = getrlimit(resource);
        // Without it the keeper has the usual number of descriptors, and refuses commands when they run out.
        let _ = rustix::process::setrlimit(resource, Rlimit { current: limit.maximum, ..limit });
    }
}

/// A short name for everything about this process that a keeper can't give to a command.
pub(crate) fn digest() -> String {
    // Writing to a string can't fail.
    let mut all = String::new();
    for resource in RESOURCES {
        let _ = write!(all, "{:?} ", getrlimit(resource).maximum);
    }
    let _ = write!(all, "{:?} ", rustix::process::getpriority_process(None));
    let _ = write!(all, "{:?} ", rustix::process::getgroups());
    let _ = write!(all, "{:?} ", rustix::thread::sched_getaffinity(None));
    let _ = write!(all, "{:?} ", rustix::fs::stat("/").map(|root| (root.st_dev, root.st_ino)));
    let _ = write!(all, "{:?} ", proc::own().cgroups());
    for namespace in Namespace::ALL {
        let _ = write!(all, "{:?} ", proc::own().namespace(namespace));
    }
    // FNV-1a. A forged collision gains nothing: the folder is the user's own.
    let hash = all.bytes().fold(0xcbf2_9ce4_8422_2325_u64, |hash, byte| {
        (hash ^ u64::from(byte)).wrapping_mul(0x0100_0000_01b3)
    });
    format!("{hash:016x}")
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_same_process_is_always_in_the_same_circumstances() {
        assert_eq!(digest(), digest());
        assert_eq!(SoftLimits::current().changes_from(&SoftLimits::current()), []);
    }

    #[test]
    fn only_limits_that_differ_are_changed() {
        let ours = SoftLimits::current();
        let mut theirs = ours.clone();
        theirs.0[4] = Some(0);
        let changes = theirs.changes_from(&ours);
        let expected = ours.0[4] != Some(0);
        assert_eq!(changes.len(), usize::from(expected));
        if let Some((resource, limit)) = changes.first() {
            assert_eq!((*resource, limit.current), (Resource::Core, Some(0)));
        }
    }
}
