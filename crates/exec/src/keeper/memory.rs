//! Output that is in memory.
//!
//! Creating two files can take as long as a short command. So the output of a command that a caller waits for begins in memory,
//! in files that keeper and caller share. The keeper saves it in the folder for output when it is more than [`MAX_MEMORY_BYTES`],
//! when the command has run for [`MAX_MEMORY_TIME`], and before anyone else may look for it: the standby, a watcher, the record of
//! a caller that is gone. Output of a command that ended before that is saved by its caller.

use std::fs::File;
use std::time::{Duration, Instant};

use tracing::{debug, warn};

use super::event_loop::Keeper;
use super::run::Run;
use super::tree::RunKey;
use crate::PerStream;
use crate::outcome::plain;
use crate::spool::copy_to_files;
use crate::wire::FromKeeper;

/// How much output of a stream stays in memory.
pub(super) const MAX_MEMORY_BYTES: u64 = 64 << 10;

/// How long output stays in memory.
pub(super) const MAX_MEMORY_TIME: Duration = Duration::from_millis(20);

impl Keeper {
    /// Saves the output of executions that have run for a while.
    pub(super) fn save_old_output(&mut self, now: Instant) {
        let is_old = |run: &Run| run.saves_at().is_some_and(|until| until <= now);
        let old: Vec<RunKey> = self.runs.iter().filter(|(_, run)| is_old(run)).map(|(key, _)| *key).collect();
        for key in old {
            self.save_output(key);
        }
    }

    /// Saves the output of an execution in the folder for output, if it is in memory. Where that fails, what was printed stays in
    /// memory, and the rest is lost.
    pub(super) fn save_output(&mut self, key: RunKey) {
        let Some(run) = self.runs.get_mut(&key).filter(|run| run.in_memory_until.is_some()) else { return };
        // One that waits for its turn has no output yet.
        let Some(sources) = &mut run.sources else { return };
        run.in_memory_until = None;
        let (Some(stdout), Some(stderr)) = (sources.stdout.file(), sources.stderr.file()) else { return };
        let shared = || Ok(PerStream { stdout: stdout.try_clone()?, stderr: stderr.try_clone()? });
        match shared().and_then(|memory| copy_to_files(&self.spool, run.spec.id, &memory)) {
            Ok(PerStream { stdout, stderr }) => {
                debug!(id = %run.spec.id, "its output was saved");
                sources.stdout.change_file(stdout);
                sources.stderr.change_file(stderr);
                if let Some(caller) = run.lifecycle.caller()
                    && let Some(connection) = self.connections.get_mut(&caller)
                {
                    connection.send(&FromKeeper::Saved);
                    self.adjust_interest(caller);
                }
            }
            Err(error) => {
                warn!(id = %run.spec.id, %error, "its output can't be saved");
                sources.stdout.lose_file(plain(&error));
                sources.stderr.lose_file(plain(&error));
            }
        }
    }
}

impl Run {
    /// When its output is saved, if it is in memory.
    pub(super) fn saves_at(&self) -> Option<Instant> {
        self.in_memory_until.filter(|_| self.sources.is_some())
    }

    /// Takes its output, if that is in memory: it has ended, and its caller saves it.
    pub(super) fn take_memory(&mut self) -> Option<PerStream<File>> {
        self.in_memory_until.take()?;
        let sources = self.sources.as_mut()?;
        Some(PerStream { stdout: sources.stdout.take_file()?, stderr: sources.stderr.take_file()? })
    }
}
