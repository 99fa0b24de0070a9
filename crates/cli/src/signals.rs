//! Waiting for a command and for signals at the same time.

use std::io;
use std::os::fd::{AsFd as _, BorrowedFd};
use std::time::{Duration, Instant};

use rustix::event::{PollFd, PollFlags, Timespec};
use shellgate::{Execution, KEEPER_CHECK_INTERVAL, Urgency};
use shellgate_sandbox::signals::{Signal, SignalFd};

/// Signals that ask us to end, counted.
#[derive(Debug)]
pub(crate) struct Interrupts {
    signals: SignalFd,
    received: u32,
    first_received: Option<Instant>,
}

/// After this many signals without an end, the keeper is taken for unresponsive.
const MAX_UNANSWERED_SIGNALS: u32 = 3;

/// So it is this long after the first signal: a keeper gives a command two seconds to clean up and three to die.
const STOP_TIMEOUT: Duration = Duration::from_secs(10);

impl Interrupts {
    /// Reads signals from now on. Call it when the command was admitted and before it is started: until then a signal
    /// ends this process and nothing is lost. The keeper and the command set their own signal masks.
    pub(crate) fn listen() -> io::Result<Self> {
        let wanted = [Signal::Interrupt, Signal::Terminate, Signal::HangUp];
        // A signal that our parent process made us ignore (`nohup`, a shell's `&`) stays ignored.
        let wanted: Vec<Signal> = wanted.into_iter().filter(|signal| !signal.is_ignored()).collect();
        Ok(Self { signals: SignalFd::open(&wanted)?, received: 0, first_received: None })
    }

    /// Waits for an event of the execution, a signal or the timeout.
    pub(crate) fn wait(&self, execution: &Execution, timeout: Option<Duration>) -> io::Result<()> {
        let timeout = timeout.map_or(KEEPER_CHECK_INTERVAL, |timeout| timeout.min(KEEPER_CHECK_INTERVAL));
        let began = Instant::now();
        let (ready, _) = self.poll(execution.as_fd(), PollFlags::IN, Some(timeout))?;
        if !ready && began.elapsed() >= timeout {
            execution.continue_keeper();
        }
        Ok(())
    }

    /// Waits for `other`, a signal or the timeout. Returns whether `other` is ready, and whether a signal arrived.
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

    /// Waits for a signal until the time is over. Returns whether one arrived.
    pub(crate) fn wait_for_signal(&self, time: Duration) -> io::Result<bool> {
        let timeout = Timespec::try_from(time).ok();
        let polled = rustix::event::poll(&mut [PollFd::new(&self.signals, PollFlags::IN)], timeout.as_ref());
        match polled {
            Ok(ready) => Ok(ready > 0 && self.signals.next()?.is_some()),
            Err(rustix::io::Errno::INTR) => Ok(false),
            Err(error) => Err(error.into()),
        }
    }

    /// Whether signals asked for an end and the keeper didn't bring it about.
    pub(crate) fn keeper_is_unresponsive(&self) -> bool {
        self.received >= MAX_UNANSWERED_SIGNALS
            || self.first_received.is_some_and(|first_received| first_received.elapsed() >= STOP_TIMEOUT)
    }

    /// Whether a signal arrived.
    pub(crate) fn any_received(&self) -> bool {
        self.received > 0
    }

    /// Passes signals on to the command: the first asks it to end, the second kills it. Returns how many arrived in all.
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
