//! A person at the terminal of a command: keys go to the command, its output comes back, and its size follows ours.

use std::io::{self, Write as _};
use std::os::fd::AsFd;

use rustix::event::{PollFd, PollFlags, Timespec};
use rustix::io::Errno;
use shellgate::{Input, KEEPER_CHECK_INTERVAL, Size, Urgency};
use shellgate_sandbox::signals::Signal;

use crate::mode_tracker::ModeTracker;
use crate::raw_terminal::RawTerminal;

/// Ctrl-Z.
const SUSPEND_KEY: u8 = 0x1a;

/// After this many signals the keeper is taken for unresponsive.
const MAX_SIGNALS: u32 = 2;

/// A command that runs in a terminal.
pub(crate) trait Host: AsFd {
    /// What is known of its end.
    type End;

    /// The next event, if there is one. When there is none, the descriptor tells when to ask again.
    fn next_event(&mut self) -> io::Result<Option<HostEvent<Self::End>>>;

    /// Whether it takes more keys now.
    fn takes_input(&self) -> bool;

    /// Types keys, or changes the command's terminal.
    fn input(&mut self, input: Input) -> io::Result<()>;

    /// What a key means to us. Keys with [`Intent::None`] go to the command.
    fn key_intent(&mut self, key: u8) -> Intent;

    /// Nothing has happened for a while.
    fn idle(&self) {}

    /// A signal wants us to end: passes that on, or leaves the command running.
    fn interrupt(&mut self, urgency: Urgency) -> io::Result<Intent>;
}

/// Something the command did.
pub(crate) enum HostEvent<E> {
    Output(Vec<u8>),
    Ended(E),
}

/// What the person wants of us.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Intent {
    /// Nothing.
    None,
    /// To leave the session.
    Leave,
    /// To suspend us, and return to their shell.
    Suspend,
}

/// How a session ended.
pub(crate) enum SessionEnd<E> {
    /// The command ended.
    Ended(E),
    /// The person left, or our terminal hung up.
    Detached,
    /// Several signals arrived, and the keeper answered none of them.
    Unresponsive,
}

/// Connects our terminal with the command's until one of them ends. `screen`: what to show first.
pub(crate) fn run_terminal_session<H: Host>(host: &mut H, screen: &str) -> io::Result<SessionEnd<H::End>> {
    let mut terminal = RawTerminal::of_standard_streams()?;
    terminal.enter()?;
    let mut session =
        TerminalSession { host, terminal, modes: ModeTracker::default(), interrupts: 0, hung_up: false };
    session.show(screen.as_bytes());
    session.run()
}

struct TerminalSession<'a, H> {
    host: &'a mut H,
    terminal: RawTerminal,
    modes: ModeTracker,
    /// How many signals asked us to end.
    interrupts: u32,
    /// Our own terminal has hung up.
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
            while let Some(signal) = self.terminal.next_signal()? {
                if let Some(end) = self.handle_signal(signal)? {
                    return Ok(end);
                }
            }
            if keys && self.forward_keys()? == Intent::Leave {
                return Ok(SessionEnd::Detached);
            }
        }
    }

    /// Waits for an event of the command, a signal or a key. Returns whether there are keys.
    fn wait(&self) -> io::Result<bool> {
        let wants_keys = self.host.takes_input() && !self.hung_up;
        let mut polled = [
            PollFd::from_borrowed_fd(self.host.as_fd(), PollFlags::IN),
            PollFd::from_borrowed_fd(self.terminal.signal_fd(), PollFlags::IN),
            PollFd::from_borrowed_fd(self.terminal.key_fd(), PollFlags::IN),
        ];
        // A terminal that hung up is always ready, and polling it would spin.
        let count = if wants_keys { 3 } else { 2 };
        let timeout = Timespec::try_from(KEEPER_CHECK_INTERVAL).ok();
        match rustix::event::poll(polled.get_mut(..count).unwrap_or_default(), timeout.as_ref()) {
            Ok(0) => self.host.idle(),
            Ok(_) | Err(Errno::INTR) => {}
            Err(error) => return Err(error.into()),
        }
        Ok(wants_keys && polled.last().is_some_and(|keys| !keys.revents().is_empty()))
    }

    fn show(&mut self, bytes: &[u8]) {
        if self.modes.track(bytes) {
            self.terminal.set_codes(self.modes.restore_codes(), self.modes.reset_codes());
        }
        // A terminal that has hung up takes nothing; SIGHUP tells us that it has.
        let mut out = io::stdout().lock();
        let _ = out.write_all(bytes).and_then(|()| out.flush());
    }

    /// Passes keys on to the command, except for those that mean something to us.
    fn forward_keys(&mut self) -> io::Result<Intent> {
        let mut buffer = [0; 4096];
        let keys = match self.terminal.read(&mut buffer) {
            Ok(0) => return self.hang_up(),
            Ok(count) => buffer.get(..count).unwrap_or_default(),
            Err(error) => match Errno::from_io_error(&error) {
                Some(Errno::IO) => return self.hang_up(),
                Some(Errno::INTR | Errno::AGAIN) => return Ok(Intent::None),
                _ => return Err(error),
            },
        };
        let mut rest = keys;
        while !rest.is_empty() {
            let special = rest.iter().enumerate().find_map(|(at, key)| match self.host.key_intent(*key) {
                Intent::None => None,
                intent => Some((at, intent)),
            });
            let (count, intent) = special.unwrap_or((rest.len(), Intent::None));
            if count > 0 {
                let bytes = rest.get(..count).unwrap_or_default().to_vec();
                self.host.input(Input::Bytes { bytes, after: None, reader: None })?;
            }
            match intent {
                Intent::Leave => return Ok(Intent::Leave),
                Intent::Suspend => self.suspend()?,
                Intent::None => {}
            }
            rest = rest.get(count + 1..).unwrap_or_default();
        }
        Ok(Intent::None)
    }

    fn hang_up(&mut self) -> io::Result<Intent> {
        self.hung_up = true;
        self.host.interrupt(Urgency::Politely)
    }

    fn handle_signal(&mut self, signal: Signal) -> io::Result<Option<SessionEnd<H::End>>> {
        match signal {
            Signal::Child => {}
            Signal::WindowChange => self.host.input(Input::Resize(self.terminal.size().into()))?,
            Signal::Stop => self.suspend()?,
            // The shell sets its own modes before it continues us.
            Signal::Continue => self.terminal.make_raw()?,
            Signal::Interrupt | Signal::Terminate | Signal::Quit | Signal::HangUp | Signal::Other(_) => {
                self.interrupts += 1;
                if self.interrupts > MAX_SIGNALS {
                    return Ok(Some(SessionEnd::Unresponsive));
                }
                let urgency = if self.interrupts == 1 { Urgency::Politely } else { Urgency::Now };
                if self.host.interrupt(urgency)? == Intent::Leave {
                    return Ok(Some(SessionEnd::Detached));
                }
            }
        }
        Ok(None)
    }

    /// Suspends the command and ourselves, and continues both when the shell continues us.
    fn suspend(&mut self) -> io::Result<()> {
        self.host.input(Input::Suspend)?;
        self.terminal.suspend_group()?;
        self.terminal.enter()?;
        self.host.input(Input::Continue)?;
        let size: Size = self.terminal.size().into();
        if self.modes.is_alternate_screen() {
            // A full-screen program redraws when its size changes. The kernel reports only a size that differs.
            self.host.input(Input::Resize(Size { cols: size.cols.saturating_sub(1).max(1), ..size }))?;
        }
        self.host.input(Input::Resize(size))
    }
}

/// Whether a key is Ctrl-Z.
pub(crate) const fn is_suspend_key(key: u8) -> bool {
    key == SUSPEND_KEY
}
