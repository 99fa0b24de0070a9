//! Waiting for a command and for the person at the keyboard at once.

use std::io;
use std::os::fd::{AsFd as _, BorrowedFd};
use std::time::{Duration, Instant};

use rustix::event::{PollFd, PollFlags, Timespec};
use shellgate::{Execution, Urgency};
use shellgate_sandbox::signals::{Signal, SignalFd};

/// Signals that end a command, counted.
#[derive(Debug)]
pub(crate) struct Interrupts {
    signals: SignalFd,
    received: u32,
    first_received: Option<Instant>,
}

/// So many signals, and nobody has answered: the keeper doesn't.
const MAX_UNANSWERED_SIGNALS: u32 = 3;

/// Nor does it after so long: it gives a command two seconds to clean up and three to die.
const STOP_TIMEOUT: Duration = Duration::from_secs(10);

impl Interrupts {
    /// From now on, signals are read here. Called when the command may run and before it does: until then they end us as
    /// they end anybody, and nothing is lost. The keeper and the command set their own masks.
    pub(crate) fn listen() -> io::Result<Self> {
        let wanted = [Signal::Interrupt, Signal::Terminate, Signal::HangUp];
        // What our starter ignores (`nohup`, a shell's `&`) stays ignored.
        let wanted: Vec<Signal> = wanted.into_iter().filter(|signal| !signal.is_ignored()).collect();
        Ok(Self { signals: SignalFd::open(&wanted)?, received: 0, first_received: None })
    }

    /// Waits until the execution has something to say, a signal comes or `timeout` passes.
    pub(crate) fn wait(&self, execution: &Execution, timeout: Option<Duration>) -> io::Result<()> {
        let limit = self.any_received().then_some(Duration::from_secs(1));
        let timeout = [timeout, limit].into_iter().flatten().min();
        self.poll(execution.as_fd(), PollFlags::IN, timeout).map(drop)
    }

    /// Waits for `other`, a signal or `timeout`. Says which of the first_received two it was.
    pub(crate) fn poll(
        &self,
        other: BorrowedFd<'_>,
        flags: PollFlags,
        timeout: Option<Duration>,
    ) -> io::Result<(bool, bool)> {
        let mut polled = [PollFd::from_borrowed_fd(other, flags), PollFd::new(&self.signals, PollFlags::IN)];
        let timeout = timeout.and_then(|timeout| Timespec::try_from(timeout).ok());
        match rustix::event::poll(&mut polled, timeout.as_ref()) {
            Ok(_) => {
                let [other, signals] = polled.map(|polled| !polled.revents().is_empty());
                Ok((other, signals))
            }
            Err(rustix::io::Errno::INTR) => Ok((false, false)),
            Err(error) => Err(error.into()),
        }
    }

    /// Waits for a signal, for so long. Says whether one came.
    pub(crate) fn wait_for_signal(&self, time: Duration) -> io::Result<bool> {
        let timeout = Timespec::try_from(time).ok();
        let polled = rustix::event::poll(&mut [PollFd::new(&self.signals, PollFlags::IN)], timeout.as_ref());
        match polled {
            Ok(ready) => Ok(ready > 0 && self.signals.next()?.is_some()),
            Err(rustix::io::Errno::INTR) => Ok(false),
            Err(error) => Err(error.into()),
        }
    }

    /// Whether somebody wants an end and the keeper doesn't see to it.
    pub(crate) fn keeper_is_unresponsive(&self) -> bool {
        self.received >= MAX_UNANSWERED_SIGNALS
            || self.first_received.is_some_and(|first_received| first_received.elapsed() >= STOP_TIMEOUT)
    }

    /// Whether a signal came.
    pub(crate) fn any_received(&self) -> bool {
        self.received > 0
    }

    /// Passes signals on: the first_received asks the command to end, the second ends it. Says how many came until now.
    pub(crate) fn forward(&mut self, execution: &Execution) -> io::Result<u32> {
        while self.signals.next()?.is_some() {
            self.received += 1;
            self.first_received.get_or_insert_with(Instant::now);
            let urgency = if self.received == 1 { Urgency::Politely } else { Urgency::Now };
            execution.stop(urgency)?;
        }
        Ok(self.received)
    }
}
