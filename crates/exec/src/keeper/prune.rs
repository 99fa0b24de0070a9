//! Looking through the spool, so that finished output doesn't fill the disk.

use shellgate_sandbox::fork::fork_detached;

use super::event_loop::Keeper;
use super::tree::KEEPER_HELPER;

/// Work that makes another look at the spool worthwhile.
#[derive(Debug, Default)]
pub(super) struct Unpruned {
    pub(super) executions: u64,
    pub(super) bytes: u64,
}

impl Keeper {
    /// Looks through the spool now and then: in a process of its own, because a look at thousands of files would keep
    /// commands waiting, and its memory would stay with us.
    pub(super) fn prune_now_and_then(&mut self) {
        if !self.unpruned.is_due(self.keep_bytes) {
            return;
        }
        self.unpruned = Unpruned::default();
        // It has no descriptors of ours: a copy of a connection would keep that connection open.
        let data = (self.spool.clone(), self.keep_bytes);
        let forked = fork_detached([], data, |[], (spool, keep_bytes)| {
            i32::from(crate::spool::prune(&spool, keep_bytes).is_err())
        });
        if let Ok(pid) = forked {
            self.trees.add_root(pid.as_raw_nonzero().get().unsigned_abs(), KEEPER_HELPER);
        }
    }
}

impl Unpruned {
    /// A sixty-fourth of what may stay was written since, or a thousand executions left their files.
    fn is_due(&self, keep_bytes: u64) -> bool {
        self.executions >= 1024 || (self.bytes > 0 && self.bytes >= keep_bytes / 64)
    }

    /// When a keeper leaves: it may have had one small command only, so one in 64 of those looks too.
    pub(super) fn is_worth_a_look(&self, keep_bytes: u64) -> bool {
        self.is_due(keep_bytes) || (self.executions > 0 && std::process::id().is_multiple_of(64))
    }
}
