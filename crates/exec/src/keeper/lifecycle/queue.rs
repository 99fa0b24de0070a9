//! Executions that wait until fewer commands run.

use std::collections::VecDeque;

use crate::keeper::tree::RunKey;

/// Executions that wait for their turn, first in first out.
#[derive(Debug, Default)]
pub(in crate::keeper) struct Queue {
    waiting: VecDeque<RunKey>,
}

impl Queue {
    pub(in crate::keeper) fn push(&mut self, run: RunKey) {
        self.waiting.push_back(run);
    }

    /// Takes the first execution if it may start now.
    ///
    /// `max_running` is how many commands may run before an execution has to wait, or `None` when the execution is gone;
    /// `running` counts those that do. The first in the queue holds up those behind it, whatever theirs is.
    pub(in crate::keeper) fn next(
        &mut self,
        max_running: impl Fn(RunKey) -> Option<u32>,
        running: impl Fn() -> usize,
    ) -> Option<RunKey> {
        loop {
            let first = *self.waiting.front()?;
            let Some(max_running) = max_running(first) else {
                self.waiting.pop_front();
                continue;
            };
            if running() >= usize::try_from(max_running.max(1)).unwrap_or(usize::MAX) {
                return None;
            }
            return self.waiting.pop_front();
        }
    }
}

/// Whether a session with this many jobs may have another one.
pub(in crate::keeper) fn may_add_job(jobs: usize, max_jobs: u32) -> bool {
    u64::from(max_jobs) > jobs as u64
}
