//! Prunes the spool from time to time, so that finished output doesn't fill the disk.

use std::io;
use std::path::Path;

use shellgate_sandbox::fork::fork_detached;
use tracing::{debug, warn};

use super::event_loop::Keeper;
use super::tree::KEEPER_HELPER;

/// What was written since the spool was last pruned.
#[derive(Debug, Default)]
pub(super) struct Unpruned {
    pub(super) executions: u64,
    pub(super) bytes: u64,
}

impl Keeper {
    /// Prunes the spool if that is due. In a separate process: listing thousands of files would delay commands, and the
    /// keeper would keep the memory.
    pub(super) fn prune_if_due(&mut self) {
        if !self.unpruned.is_due(self.keep_bytes) {
            return;
        }
        self.unpruned = Unpruned::default();
        // It has no descriptors of ours: a copy of a connection would keep that connection open.
        let data = (self.spool.clone(), self.keep_bytes);
        let forked =
            fork_detached([], data, |[], (spool, keep_bytes)| i32::from(prune(&spool, keep_bytes).is_err()));
        match forked {
            Ok(pid) => self.trees.add_root(pid.as_raw_nonzero().get().unsigned_abs(), KEEPER_HELPER),
            Err(error) => warn!(%error, "the spool can't be pruned"),
        }
    }
}

/// Prunes the spool and logs what that did.
pub(super) fn prune(spool: &Path, keep_bytes: u64) -> io::Result<()> {
    let pruned = crate::spool::prune(spool, keep_bytes);
    match &pruned {
        Ok(pruned) => debug!(executions = pruned.executions, bytes = pruned.bytes, "pruned the spool"),
        Err(error) => warn!(%error, "the spool can't be pruned"),
    }
    pruned.map(drop)
}

impl Unpruned {
    /// Whether a sixty-fourth of what may stay was written, or more than a thousand executions have ended.
    fn is_due(&self, keep_bytes: u64) -> bool {
        self.executions >= 1024 || (self.bytes > 0 && self.bytes >= keep_bytes / 64)
    }

    /// The same when the keeper exits. A keeper may have run only one small command: one in 64 of those prunes, too.
    pub(super) fn is_due_at_exit(&self, keep_bytes: u64) -> bool {
        self.is_due(keep_bytes) || (self.executions > 0 && std::process::id().is_multiple_of(64))
    }
}
