//! A person at the terminal of something that runs: keys go there, output comes from there, the size follows.

use std::io::{self, Write as _};
use std::os::fd::AsFd;

use rustix::event::{PollFd, PollFlags};
use rustix::process as unix;
use shellgate::{Input, Size, Urgency};
use shellgate_sandbox::signals::{self, Signal, SignalFd};

use crate::mode_tracker::ModeTracker;
use crate::raw_terminal::RawTerminal;

/// Signals that are ours to handle while somebody sits there.
const HANDLED_SIGNALS: [Signal; 7] = [
    Signal::Interrupt,
    Signal::Terminate,
    Signal::Quit,
    Signal::HangUp,
    Signal::WindowChange,
    Signal::Stop,
    Signal::Continue,
];

/// Ctrl-Z.
const SUSPEND_KEY: u8 = 0x1a;

/// Something that runs in a terminal.
pub(crate) trait Host: AsFd {
    /// Its end.
    type End;

    /// What it says next, if anything; else the descriptor tells when.
    fn next_event(&mut self) -> io::Result<Option<HostEvent<Self::End>>>;

    /// Whether it takes more keys now.
    fn takes_input(&self) -> bool;

    /// Types, or changes the terminal.
    fn input(&mut self, input: Input) -> io::Result<()>;

    /// What a key does besides being passed on.
    fn key_intent(&mut self, key: u8) -> Intent;

    /// What becomes of it when a signal wants us to end.
    fn interrupt(&mut self, urgency: Urgency) -> io::Result<Intent>;
}

/// What it says.
pub(crate) enum HostEvent<E> {
    Output(Vec<u8>),
    Ended(E),
}

/// What somebody wants.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Intent {
    /// Nothing but what it does there.
    None,
    /// To leave.
    Leave,
    /// To do something else for a while.
    Suspend,
}

/// How it ended.
pub(crate) enum SessionEnd<E> {
    /// With what runs there.
    Ended(E),
    /// The person left, or was taken away.
    Detached,
    /// So many signals, and nobody answers.
    Unresponsive,
}

/// Sits there until one of both ends. `shown`: what stands on the screen already.
pub(crate) fn run_terminal_session<H: Host>(host: &mut H, shown: &[u8]) -> io::Result<SessionEnd<H::End>> {
    let event: Vec<Signal> = HANDLED_SIGNALS.into_iter().filter(|signal| !signal.is_ignored()).collect();
    let signals = SignalFd::open(&event)?;
    let terminal = RawTerminal::take()?;
    let mut session = TerminalSession {
        host,
        terminal,
        signals,
        event,
        tracker: ModeTracker::default(),
        interrupts: 0,
        hung_up: false,
    };
    session.tracker.track(shown);
    let left = session.run();
    let reset = session.tracker.reset_codes();
    let _ = io::stdout().write_all(reset.as_bytes()).and_then(|()| io::stdout().flush());
    left
}

struct TerminalSession<'a, H> {
    host: &'a mut H,
    terminal: RawTerminal,
    signals: SignalFd,
    event: Vec<Signal>,
    tracker: ModeTracker,
    interrupts: u32,
    /// Our terminal is.
    hung_up: bool,
}

impl<H: Host> TerminalSession<'_, H> {
    fn run(&mut self) -> io::Result<SessionEnd<H::End>> {
        loop {
            while let Some(event) = self.host.next_event()? {
                match event {
                    HostEvent::Output(bytes) => self.show(&bytes),
                    HostEvent::Ended(end) => return Ok(SessionEnd::Ended(end)),
                }
            }
            let keys = self.wait()?;
            while let Some(signal) = self.signals.next()? {
                if let Some(left) = self.handle_signal(signal)? {
                    return Ok(left);
                }
            }
            if keys && self.forward_keys()? == Intent::Leave {
                return Ok(SessionEnd::Detached);
            }
        }
    }

    /// Waits until something happens. Says whether keys were pressed.
    fn wait(&self) -> io::Result<bool> {
        let stdin = io::stdin();
        let wanted =
            if self.host.takes_input() && !self.hung_up { PollFlags::IN } else { PollFlags::empty() };
        let mut polled = [
            PollFd::from_borrowed_fd(self.host.as_fd(), PollFlags::IN),
            PollFd::new(&self.signals, PollFlags::IN),
            PollFd::new(&stdin, wanted),
        ];
        // A terminal that hung up would wake us for ever.
        let count = if wanted.is_empty() { 2 } else { 3 };
        match rustix::event::poll(polled.get_mut(..count).unwrap_or_default(), None) {
            Ok(_) | Err(rustix::io::Errno::INTR) => {}
            Err(error) => return Err(error.into()),
        }
        Ok(polled.get(2).is_some_and(|stdin| !stdin.revents().is_empty()))
    }

    fn show(&mut self, bytes: &[u8]) {
        self.tracker.track(bytes);
        // A terminal that is hung_up takes nothing, and a signal tells us so.
        let mut out = io::stdout().lock();
        let _ = out.write_all(bytes).and_then(|()| out.flush());
    }

    /// Passes keys on.
    fn forward_keys(&mut self) -> io::Result<Intent> {
        let mut bytes = [0; 4096];
        let keys = match rustix::io::read(io::stdin(), &mut bytes) {
            Ok(0) | Err(rustix::io::Errno::IO) => {
                self.hung_up = true;
                return self.host.interrupt(Urgency::Politely);
            }
            Ok(count) => bytes.get(..count).unwrap_or_default(),
            Err(rustix::io::Errno::INTR | rustix::io::Errno::AGAIN) => return Ok(Intent::None),
            Err(error) => return Err(error.into()),
        };
        let mut rest = keys;
        while !rest.is_empty() {
            let special = rest.iter().enumerate().find_map(|(at, key)| match self.host.key_intent(*key) {
                Intent::None => None,
                meaning => Some((at, meaning)),
            });
            let (now, meaning) = special.unwrap_or((rest.len(), Intent::None));
            if now > 0 {
                let bytes = rest.get(..now).unwrap_or_default().to_vec();
                self.host.input(Input::Bytes { bytes, after: None, reader: None })?;
            }
            match meaning {
                Intent::Leave => return Ok(Intent::Leave),
                Intent::Suspend => self.suspend()?,
                Intent::None => {}
            }
            rest = rest.get(now + 1..).unwrap_or_default();
        }
        Ok(Intent::None)
    }

    fn handle_signal(&mut self, signal: Signal) -> io::Result<Option<SessionEnd<H::End>>> {
        match signal {
            Signal::WindowChange => self.host.input(Input::Resize(RawTerminal::size()))?,
            Signal::Stop => self.suspend()?,
            Signal::Continue => self.terminal.retake()?,
            Signal::Interrupt | Signal::Terminate | Signal::Quit | Signal::HangUp => {
                self.interrupts += 1;
                if self.interrupts > 2 {
                    return Ok(Some(SessionEnd::Unresponsive));
                }
                let urgency = if self.interrupts == 1 { Urgency::Politely } else { Urgency::Now };
                if self.host.interrupt(urgency)? == Intent::Leave {
                    return Ok(Some(SessionEnd::Detached));
                }
            }
            Signal::Child => {}
        }
        Ok(None)
    }

    /// Suspends what runs and us, and goes on with both when the person turns to us again.
    fn suspend(&mut self) -> io::Result<()> {
        self.host.input(Input::Suspend)?;
        self.write(&self.tracker.reset_codes());
        self.terminal.release();
        signals::unblock(&[Signal::Stop]);
        let _ = unix::kill_current_process_group(unix::Signal::TSTP);
        // Here we stand still, until somebody wakes us.
        self.signals = SignalFd::open(&self.event)?;
        self.terminal.retake()?;
        self.write(&self.tracker.restore_codes());
        self.host.input(Input::Continue)?;
        let size = RawTerminal::size();
        if self.tracker.is_alternate_screen() {
            // The kernel only tells programs of a size that is another, and they draw anew when they track of one.
            self.host.input(Input::Resize(Size { cols: size.cols.saturating_sub(1).max(1), ..size }))?;
        }
        self.host.input(Input::Resize(size))
    }

    fn write(&self, codes: &str) {
        let _ = io::stdout().write_all(codes.as_bytes()).and_then(|()| io::stdout().flush());
    }
}

/// Whether a key is Ctrl-Z.
pub(crate) const fn is_suspend_key(key: u8) -> bool {
    key == SUSPEND_KEY
}
