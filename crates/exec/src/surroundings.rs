//! Whether this process was itself started by a command that a keeper holds.
//!
//! Ancestry tells; a variable could be unset. A keeper adopts every orphan below it, so a process can't leave its keeper by
//! forking twice. A process whose keeper is gone is not below one any more, and neither is a process that a service
//! outside starts for a command.

use std::path::PathBuf;
use std::sync::OnceLock;

use shellgate_sandbox::pod::INIT_NAME;

use crate::proc;
use crate::sys::processes;

/// The keeper that we are below.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Surroundings {
    keeper: u32,
    /// Its state folder, as its open files tell.
    pub state: Option<PathBuf>,
}

impl Surroundings {
    /// The name of the keeper's socket, which begins with the key of its session.
    #[must_use]
    pub fn keeper_socket(&self) -> Option<String> {
        processes::socket_of_keeper(self.keeper)
    }
}

/// How many ancestors are looked at. A process can't be its own ancestor, but `/proc` changes while it is read.
const MAX_ANCESTORS: usize = 4096;

/// The outermost keeper above this process. `None`: no command of a keeper started us. It is looked for once.
#[must_use]
pub fn surroundings() -> Option<Surroundings> {
    static FOUND: OnceLock<Option<Surroundings>> = OnceLock::new();
    FOUND.get_or_init(find).clone()
}

fn find() -> Option<Surroundings> {
    let own = proc::own().stat()?;
    let ancestors = std::iter::successors(ancestor(own.parent), |(_, _, parent)| ancestor(*parent));
    let keepers = ancestors.take(MAX_ANCESTORS).filter(|(_, name, _)| name == processes::KEEPER);
    match keepers.last() {
        Some((keeper, ..)) => Some(Surroundings { keeper, state: processes::state_of_keeper(keeper) }),
        // In a pod, the keeper and its files can't be seen.
        None => is_in_pod().then_some(Surroundings { keeper: 0, state: None }),
    }
}

/// Whether we are in a pod. Its first process can't be signalled, replaced or renamed by others in it.
fn is_in_pod() -> bool {
    proc::of(1).name_and_stat().is_some_and(|(name, _)| name == INIT_NAME)
}

/// A process, its short name and its parent.
fn ancestor(pid: u32) -> Option<(u32, String, u32)> {
    proc::of(pid).name_and_stat().map(|(name, stat)| (pid, name, stat.parent))
}
