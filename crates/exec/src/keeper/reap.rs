//! Children that have ended.

use std::time::{Duration, Instant};

use shellgate_sandbox::reap::End;
use shellgate_sandbox::trace::{Change, StopKind, next_change};
use tracing::{debug, warn};

use super::event_loop::Keeper;
use super::lifecycle::Event;
use super::tree::{Reaped, RunKey};
use crate::outcome::Exit;

/// How often it is tried to wait for children.
const WAIT_ATTEMPTS: u8 = 8;

/// Time until it is tried again after that.
const RETRY_INTERVAL: Duration = Duration::from_millis(50);

impl Keeper {
    /// Reaps every child that has ended, and reports that to their executions.
    pub(super) fn reap(&mut self) {
        self.collect_dead();
        self.report_dead();
    }

    /// Reaps every child that has ended, for [`report_dead`](Self::report_dead).
    pub(super) fn collect_dead(&mut self) {
        self.recognised = None;
        self.claim_before_reaping();
        let mut pod_changed = false;
        let mut attempt = 1;
        let has_no_children = loop {
            match next_change() {
                // Its command would not start. Its launcher ends with it, and another one is started.
                Ok(Some(Change::Stopped(stop)))
                    if stop.kind == StopKind::Suspended && self.confined.is_ready(stop.thread) =>
                {
                    stop.kill();
                }
                Ok(Some(Change::Stopped(stop))) => self.guard.answer(stop),
                Ok(Some(Change::Ended(dead))) => {
                    let pid = dead.pid.as_raw_nonzero().get().unsigned_abs();
                    self.guard.forget(pid);
                    if self.trees.remove_helper(pid) {
                        self.confined.forget(pid);
                        pod_changed = true;
                    } else if let Some((key, what)) = self.trees.reaped(pid) {
                        self.release_standby(pid, dead.end);
                        self.record_exit(key, &dead);
                        self.dead.push((key, what, exit(dead.end)));
                    }
                }
                Ok(None) => break false,
                Err(error) if is_no_child(&error) => break true,
                // The signal for a child comes once: one that isn't waited for now would stay for ever.
                Err(error) if attempt < WAIT_ATTEMPTS => {
                    warn!(%error, "waiting for children failed");
                    attempt += 1;
                }
                Err(_) => {
                    self.reaps_again_at = Some(Instant::now() + RETRY_INTERVAL);
                    break false;
                }
            }
        };
        self.drain_refused_programs();
        if pod_changed {
            // With the pod, its orphans have ended.
            let ended = self.trees.forget_ended_in_pod().into_iter();
            self.dead.extend(ended.map(|key| (key, Reaped::Orphan, Exit::Code(0))));
        }
        // Saves reading `/proc`: after most commands no child is left.
        self.trees.has_no_children = has_no_children;
    }

    /// Reports children that have ended to their executions.
    pub(super) fn report_dead(&mut self) {
        // A tree that forks and exits may leave thousands: each execution is driven once.
        let mut orphaned: Vec<RunKey> = Vec::new();
        for (key, what, exit) in std::mem::take(&mut self.dead) {
            match what {
                Reaped::Root => self.report_exit(key, exit),
                Reaped::Orphan if orphaned.contains(&key) => {}
                Reaped::Orphan => orphaned.push(key),
            }
        }
        for key in orphaned {
            self.drive(key, Event::ChildReaped, Instant::now());
        }
    }

    fn report_exit(&mut self, key: RunKey, exit: Exit) {
        // The standby is a child too, but no execution.
        let Some(run) = self.runs.get_mut(&key) else { return };
        debug!(id = %run.spec.id, ?exit, "program exited");
        if let Some(terminal) = run.terminal.as_mut() {
            terminal.close_slave();
        }
        self.drain_waiting(key);
        self.drive(key, Event::Exited(exit), Instant::now());
    }
}

fn is_no_child(error: &std::io::Error) -> bool {
    error.raw_os_error() == Some(rustix::io::Errno::CHILD.raw_os_error())
}

const fn exit(end: End) -> Exit {
    match end {
        End::Code(code) => Exit::Code(code),
        End::Signal(signal) => Exit::Signal(signal),
    }
}
