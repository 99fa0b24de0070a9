//! Graces, intervals and timeouts.

use std::time::{Duration, Instant};

use super::machine::{Lifecycle, Phase};
use crate::outcome::Clock;
use crate::spec::Mode;

/// How long the answer waits, after the program has exited, for its last output and its children.
pub(super) const SETTLE_GRACE: Duration = Duration::from_millis(30);

/// How long it waits while a child has not run since its fork. On a busy machine that takes a while.
pub(super) const UNBORN_GRACE: Duration = Duration::from_millis(300);

/// From `SIGTERM` to `SIGKILL`.
pub(super) const KILL_GRACE: Duration = Duration::from_secs(2);

/// From the first `SIGKILL` to processes that can't be suspended being killed all the same.
pub(super) const SUSPEND_TIMEOUT: Duration = Duration::from_millis(500);

/// From the first `SIGKILL` to the answer that names the survivors. The kernel keeps a killed process only while that waits
/// for a broken disk.
pub(super) const GIVE_UP_AFTER: Duration = Duration::from_secs(3);

/// How often the keeper looks at processes that it kills, or that have not run yet.
pub(super) const POLL_INTERVAL: Duration = Duration::from_millis(5);

/// How often the keeper measures resource usage.
pub(super) const MEASURE_INTERVAL: Duration = Duration::from_millis(50);

/// Measuring takes at most one part in this many of the keeper's time: a tree of thousands is measured less often.
pub(super) const MEASURE_TIME_SHARE: u32 = 20;

/// How long an execution may take. `None`: as long as it likes.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub(in crate::keeper) struct Timeouts {
    /// Since its start.
    pub(in crate::keeper) wall: Option<Duration>,
    /// Since its last output.
    pub(in crate::keeper) idle: Option<Duration>,
}

impl Lifecycle {
    /// When the keeper has to send [`Event::Tick`](super::Event::Tick).
    pub(in crate::keeper) fn deadline(&self) -> Option<Instant> {
        match self.phase {
            Phase::Queued => self.answer_at(),
            // Leftovers of a foreground command have no timeout. A job is its whole tree, and keeps its own.
            Phase::Left if self.ends_with_caller() => self.measure_at,
            Phase::Running | Phase::Left => {
                let clock = self.next_clock().map(|(at, _)| at);
                [self.answer_at(), clock, self.measure_at].into_iter().flatten().min()
            }
            Phase::Settling { look_at, .. } | Phase::Stopping { look_at, .. } => Some(look_at),
            Phase::Gone => None,
        }
    }

    /// When the caller gets its answer even if the execution has not ended.
    pub(super) fn answer_at(&self) -> Option<Instant> {
        self.caller?;
        match self.mode {
            Mode::Background { answer_after } if self.phase == Phase::Queued => {
                Some(self.submitted + answer_after)
            }
            Mode::Background { answer_after } => Some(self.started + answer_after),
            // The caller's own time, which also passes while the execution is queued.
            Mode::Foreground { answer_after } => answer_after.map(|after| self.submitted + after),
        }
    }

    /// The timeout that expires first, and when.
    fn next_clock(&self) -> Option<(Instant, Clock)> {
        let wall = self.timeouts.wall.map(|limit| (self.started + limit, Clock::Wall(limit)));
        // A command that can't write, or can't run, isn't idle.
        let idle = self.timeouts.idle.filter(|_| !self.reader_behind && !self.suspended);
        let idle = idle.map(|limit| (self.last_output + limit, Clock::Idle(limit)));
        [wall, idle].into_iter().flatten().min_by_key(|(at, _)| *at)
    }

    pub(super) fn expired(&self, now: Instant) -> Option<Clock> {
        self.next_clock().filter(|(at, _)| *at <= now).map(|(_, clock)| clock)
    }
}
