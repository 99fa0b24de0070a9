//! Kills processes that take too long: they hang.

use std::collections::BTreeMap;
use std::os::fd::OwnedFd;
use std::process::{Child, Command, Output, Stdio};
use std::sync::Mutex;
use std::sync::atomic::{AtomicBool, Ordering};
use std::time::{Duration, Instant};

use rustix::process::{Pid, PidfdFlags, Signal, pidfd_open, pidfd_send_signal};

use super::lock;

/// Time after which a process counts as hanging. Disturbances take a second or two.
pub(super) const HANG_TIMEOUT: Duration = Duration::from_secs(60);

/// The processes that are being waited for.
#[derive(Default)]
pub(super) struct Watchdog(Mutex<BTreeMap<u32, Watched>>);

struct Watched {
    process: OwnedFd,
    until: Instant,
    hangs: bool,
}

/// How a process ended.
pub(super) struct Ended {
    pub(super) output: Output,
    pub(super) took: Duration,
    pub(super) hangs: bool,
}

impl Watchdog {
    /// Starts a process with its output in pipes.
    pub(super) fn start(&self, mut command: Command) -> std::io::Result<Running<'_>> {
        let began = Instant::now();
        let child = command.stdin(Stdio::null()).stdout(Stdio::piped()).stderr(Stdio::piped()).spawn()?;
        let process = pidfd_open(Pid::from_child(&child), PidfdFlags::empty())?;
        lock(&self.0).insert(child.id(), Watched { process, until: began + HANG_TIMEOUT, hangs: false });
        Ok(Running { watchdog: self, child, began })
    }

    /// Kills what hangs, until `is_done`.
    pub(super) fn watch(&self, is_done: &AtomicBool) {
        while !is_done.load(Ordering::Relaxed) {
            let now = Instant::now();
            for watched in lock(&self.0).values_mut().filter(|watched| watched.until < now) {
                watched.hangs = true;
                let _ = pidfd_send_signal(&watched.process, Signal::KILL);
            }
            std::thread::sleep(Duration::from_millis(200));
        }
    }
}

/// A process that is watched.
pub(super) struct Running<'a> {
    watchdog: &'a Watchdog,
    child: Child,
    began: Instant,
}

impl Running<'_> {
    pub(super) fn has_ended(&mut self) -> bool {
        !matches!(self.child.try_wait(), Ok(None))
    }

    /// Waits for the end.
    pub(super) fn finish(self) -> std::io::Result<Ended> {
        let id = self.child.id();
        let output = self.child.wait_with_output();
        let took = self.began.elapsed();
        let hangs = lock(&self.watchdog.0).remove(&id).is_some_and(|watched| watched.hangs);
        Ok(Ended { output: output?, took, hangs })
    }
}
