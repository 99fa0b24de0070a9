//! Whether this process was itself started by a command that a keeper holds.
//!
//! By ancestry: a variable could be unset. A keeper adopts whoever loses their parent below it, so a process can't leave
//! by forking twice. One whose keeper is gone has left, and so has one that a service outside starts for it.

use std::path::PathBuf;
use std::sync::OnceLock;

use crate::sys::processes;

/// The keeper that we are below.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Surroundings {
    /// Its state folder, as its open files tell.
    pub state: Option<PathBuf>,
}

/// How deep processes are nested at most; a loop can't be, but `/proc` changes while it is read.
const DEEPEST: u32 = 4096;

/// The outermost keeper above this process. `None`: nobody's command started us. It is looked for once.
#[must_use]
pub fn surroundings() -> Option<Surroundings> {
    static FOUND: OnceLock<Option<Surroundings>> = OnceLock::new();
    FOUND.get_or_init(look).clone()
}

fn look() -> Option<Surroundings> {
    let (mut pid, _) = processes::parent_and_name(std::process::id())?;
    let mut outermost = None;
    for _ in 0..DEEPEST {
        let Some((parent, name)) = processes::parent_and_name(pid) else { break };
        if name == processes::KEEPER {
            outermost = Some(pid);
        }
        pid = parent;
    }
    outermost.map(|keeper| Surroundings { state: processes::state_of_keeper(keeper) })
}
