//! Waiting for a command and for the person at the keyboard at once.

use std::io;
use std::os::fd::AsFd;
use std::time::Duration;

use rustix::event::{PollFd, PollFlags, Timespec};
use shellgate::{Execution, Urgency};
use shellgate_sandbox::signals::{Signal, SignalFd};

/// Signals that end a command, counted.
#[derive(Debug)]
pub(crate) struct Interrupts {
    signals: SignalFd,
    heard: u32,
}

impl Interrupts {
    /// From now on, signals are read here. Before any thread, and before the keeper is forked off.
    pub(crate) fn listen() -> io::Result<Self> {
        let wanted = [Signal::Interrupt, Signal::Terminate, Signal::HangUp];
        // What our starter ignores (`nohup`, a shell's `&`) stays ignored.
        let wanted: Vec<Signal> = wanted.into_iter().filter(|signal| !signal.is_ignored()).collect();
        Ok(Self { signals: SignalFd::open(&wanted)?, heard: 0 })
    }

    /// Waits until the execution has something to say, a signal comes or `timeout` passes.
    pub(crate) fn wait(&self, execution: &Execution, timeout: Option<Duration>) -> io::Result<()> {
        let mut polled = [
            PollFd::from_borrowed_fd(execution.as_fd(), PollFlags::IN),
            PollFd::new(&self.signals, PollFlags::IN),
        ];
        let timeout = timeout.and_then(|timeout| Timespec::try_from(timeout).ok());
        match rustix::event::poll(&mut polled, timeout.as_ref()) {
            Ok(_) | Err(rustix::io::Errno::INTR) => Ok(()),
            Err(error) => Err(error.into()),
        }
    }

    /// Passes signals on: the first asks the command to end, the second ends it. Says how many came until now.
    pub(crate) fn pass_on(&mut self, execution: &Execution) -> io::Result<u32> {
        while self.signals.next()?.is_some() {
            self.heard += 1;
            let urgency = if self.heard == 1 { Urgency::Politely } else { Urgency::Now };
            execution.stop(urgency)?;
        }
        Ok(self.heard)
    }
}
