//! Control over a wait from another thread.

use std::fmt;
use std::io;
use std::os::fd::OwnedFd;

use rustix::event::{EventfdFlags, PollFd, PollFlags, Timespec};

/// Cancels a wait from another thread, and may pass on the output that the job prints meanwhile.
pub struct WaitControl {
    canceled: OwnedFd,
    on_output: Option<OutputCallback>,
}

type OutputCallback = Box<dyn Fn(&[u8]) + Send + Sync>;

impl fmt::Debug for WaitControl {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("WaitControl").field("canceled", &self.canceled).finish_non_exhaustive()
    }
}

impl WaitControl {
    /// A control that is not canceled and passes no output on.
    ///
    /// # Errors
    /// When the process has no descriptor left.
    pub fn new() -> io::Result<Self> {
        let flags = EventfdFlags::CLOEXEC | EventfdFlags::NONBLOCK;
        Ok(Self { canceled: rustix::event::eventfd(0, flags)?, on_output: None })
    }

    /// Calls `callback` with the job's new output, from now on.
    #[must_use]
    pub fn on_output(self, callback: impl Fn(&[u8]) + Send + Sync + 'static) -> Self {
        Self { on_output: Some(Box::new(callback)), ..self }
    }

    /// Cancels the wait.
    pub fn cancel(&self) {
        // Writing fails only if the counter is at its maximum, and then it is canceled already.
        let _ = rustix::io::write(&self.canceled, &1_u64.to_ne_bytes());
    }

    pub(in crate::jobs) fn is_canceled(&self) -> bool {
        let now = Timespec { tv_sec: 0, tv_nsec: 0 };
        rustix::event::poll(&mut [self.poll_fd()], Some(&now)).is_ok_and(|ready| ready > 0)
    }

    /// The descriptor to poll: it is readable once the wait is canceled.
    pub(super) fn poll_fd(&self) -> PollFd<'_> {
        PollFd::new(&self.canceled, PollFlags::IN)
    }

    pub(super) fn pass_on(&self, output: &[u8]) {
        if let Some(callback) = &self.on_output {
            callback(output);
        }
    }
}
