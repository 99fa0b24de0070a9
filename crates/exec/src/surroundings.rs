//! Whether this process was itself started by a command that a keeper holds.
//!
//! Ancestry tells; a variable could be unset. A keeper adopts every orphan below it, so a process can't leave its keeper by
//! forking twice. A process whose keeper is gone is not below one any more, and neither is a process that a service
//! outside starts for a command.
//!
//! Where ancestry can't be seen, the answer is yes: a command can make namespaces in which its keeper has no number, and
//! file systems that hide it. In a PID namespace of its own, the mark that every command inherits decides (see
//! [`Tag`](shellgate_sandbox::spawn::Tag)). Only a process with root's rights on the machine can take the mark off.

use std::path::PathBuf;
use std::sync::OnceLock;

use shellgate_sandbox::pod::INIT_NAME;
use shellgate_sandbox::spawn::Tag;

use crate::proc;
use crate::sys::processes;

/// The keeper that we are below.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Surroundings {
    keeper: Option<u32>,
    /// Its state folder, as its open files tell.
    pub state: Option<PathBuf>,
    /// Why it isn't certain that we are below a keeper.
    pub doubt: Option<&'static str>,
}

impl Surroundings {
    /// The name of the keeper's socket, which begins with the key of its session.
    #[must_use]
    pub fn keeper_socket(&self) -> Option<String> {
        self.keeper.and_then(processes::socket_of_keeper)
    }

    /// Below a keeper that can't be seen.
    const fn unseen(doubt: Option<&'static str>) -> Self {
        Self { keeper: None, state: None, doubt }
    }
}

/// The outermost keeper above this process. `None`: it is certain that no command of a keeper started us. It is looked for
/// once.
#[must_use]
pub fn surroundings() -> Option<Surroundings> {
    static FOUND: OnceLock<Option<Surroundings>> = OnceLock::new();
    FOUND.get_or_init(find).clone()
}

fn find() -> Option<Surroundings> {
    let Some(ancestors) = proc::ancestors() else {
        return Some(Surroundings::unseen(Some("`/proc` doesn't show which processes started this one")));
    };
    if let Some(keeper) = ancestors.iter().rfind(|ancestor| ancestor.name == processes::KEEPER) {
        let state = processes::state_of_keeper(keeper.pid);
        return Some(Surroundings { keeper: Some(keeper.pid), state, doubt: None });
    }
    // In a pod, the keeper and its files can't be seen. The pod's first process can't be signalled, replaced or renamed
    // by others in it.
    if ancestors.last().is_some_and(|first| first.name == INIT_NAME) || is_in_pod() {
        return Some(Surroundings::unseen(None));
    }
    (proc::is_in_nested_pid_namespace() && Tag::is_marked()).then(|| {
        let doubt = "it is in a PID namespace of its own, and its limit on file locks is that of a command";
        Surroundings::unseen(Some(doubt))
    })
}

/// Whether we are in a pod, by the first process of our PID namespace.
fn is_in_pod() -> bool {
    proc::of(1).name_and_stat().is_some_and(|(name, _)| name == INIT_NAME)
}
