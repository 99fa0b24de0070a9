//! A person at the terminal of something that runs: keys go there, output comes from there, the size follows.

use std::io::{self, Write as _};
use std::os::fd::AsFd;

use rustix::event::{PollFd, PollFlags};
use rustix::process as unix;
use shellgate::{Input, Size, Urgency};
use shellgate_sandbox::signals::{self, Signal, SignalFd};

use crate::modes::Modes;
use crate::seat::Seat;

/// Signals that are ours to handle while somebody sits there.
const SIGNALS: [Signal; 7] = [
    Signal::Interrupt,
    Signal::Terminate,
    Signal::Quit,
    Signal::HangUp,
    Signal::WindowChange,
    Signal::Stop,
    Signal::Continue,
];

/// Ctrl-Z.
const SUSPEND: u8 = 0x1a;

/// Something that runs in a terminal.
pub(crate) trait Host: AsFd {
    /// Its end.
    type End;

    /// What it says next, if anything; else the descriptor tells when.
    fn hear(&mut self) -> io::Result<Option<Heard<Self::End>>>;

    /// Whether it takes more keys now.
    fn takes_input(&self) -> bool;

    /// Types, or changes the terminal.
    fn input(&mut self, input: Input) -> io::Result<()>;

    /// What a key does besides being passed on.
    fn meaning(&mut self, key: u8) -> Meaning;

    /// What becomes of it when a signal wants us to end.
    fn interrupt(&mut self, urgency: Urgency) -> io::Result<Meaning>;
}

/// What it says.
pub(crate) enum Heard<E> {
    Output(Vec<u8>),
    Ended(E),
}

/// What somebody wants.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Meaning {
    /// Nothing but what it does there.
    Nothing,
    /// To leave.
    Leave,
    /// To do something else for a while.
    Suspend,
}

/// How it ended.
pub(crate) enum Left<E> {
    /// With what runs there.
    Ended(E),
    /// The person left, or was taken away.
    Detached,
    /// So many signals, and nobody answers.
    Unheard,
}

/// Sits there until one of both ends. `shown`: what stands on the screen already.
pub(crate) fn sit<H: Host>(host: &mut H, shown: &[u8]) -> io::Result<Left<H::End>> {
    let heard: Vec<Signal> = SIGNALS.into_iter().filter(|signal| !signal.is_ignored()).collect();
    let signals = SignalFd::open(&heard)?;
    let seat = Seat::take()?;
    let mut sitting =
        Sitting { host, seat, signals, heard, modes: Modes::default(), interrupts: 0, gone: false };
    sitting.modes.hear(shown);
    let left = sitting.go_on();
    let usual = sitting.modes.usual();
    let _ = io::stdout().write_all(usual.as_bytes()).and_then(|()| io::stdout().flush());
    left
}

struct Sitting<'a, H> {
    host: &'a mut H,
    seat: Seat,
    signals: SignalFd,
    heard: Vec<Signal>,
    modes: Modes,
    interrupts: u32,
    /// Our terminal is.
    gone: bool,
}

impl<H: Host> Sitting<'_, H> {
    fn go_on(&mut self) -> io::Result<Left<H::End>> {
        loop {
            while let Some(heard) = self.host.hear()? {
                match heard {
                    Heard::Output(bytes) => self.show(&bytes),
                    Heard::Ended(end) => return Ok(Left::Ended(end)),
                }
            }
            let keys = self.wait()?;
            while let Some(signal) = self.signals.next()? {
                if let Some(left) = self.signalled(signal)? {
                    return Ok(left);
                }
            }
            if keys && self.press()? == Meaning::Leave {
                return Ok(Left::Detached);
            }
        }
    }

    /// Waits until something happens. Says whether keys were pressed.
    fn wait(&self) -> io::Result<bool> {
        let stdin = io::stdin();
        let wanted = if self.host.takes_input() && !self.gone { PollFlags::IN } else { PollFlags::empty() };
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
        self.modes.hear(bytes);
        // A terminal that is gone takes nothing, and a signal tells us so.
        let mut out = io::stdout().lock();
        let _ = out.write_all(bytes).and_then(|()| out.flush());
    }

    /// Passes keys on.
    fn press(&mut self) -> io::Result<Meaning> {
        let mut bytes = [0; 4096];
        let keys = match rustix::io::read(io::stdin(), &mut bytes) {
            Ok(0) | Err(rustix::io::Errno::IO) => {
                self.gone = true;
                return self.host.interrupt(Urgency::Politely);
            }
            Ok(count) => bytes.get(..count).unwrap_or_default(),
            Err(rustix::io::Errno::INTR | rustix::io::Errno::AGAIN) => return Ok(Meaning::Nothing),
            Err(error) => return Err(error.into()),
        };
        let mut rest = keys;
        while !rest.is_empty() {
            let special = rest.iter().enumerate().find_map(|(at, key)| match self.host.meaning(*key) {
                Meaning::Nothing => None,
                meaning => Some((at, meaning)),
            });
            let (now, meaning) = special.unwrap_or((rest.len(), Meaning::Nothing));
            if now > 0 {
                let bytes = rest.get(..now).unwrap_or_default().to_vec();
                self.host.input(Input::Bytes { bytes, after: None, reader: None })?;
            }
            match meaning {
                Meaning::Leave => return Ok(Meaning::Leave),
                Meaning::Suspend => self.suspend()?,
                Meaning::Nothing => {}
            }
            rest = rest.get(now + 1..).unwrap_or_default();
        }
        Ok(Meaning::Nothing)
    }

    fn signalled(&mut self, signal: Signal) -> io::Result<Option<Left<H::End>>> {
        match signal {
            Signal::WindowChange => self.host.input(Input::Resize(Seat::size()))?,
            Signal::Stop => self.suspend()?,
            Signal::Continue => self.seat.take_again()?,
            Signal::Interrupt | Signal::Terminate | Signal::Quit | Signal::HangUp => {
                self.interrupts += 1;
                if self.interrupts > 2 {
                    return Ok(Some(Left::Unheard));
                }
                let urgency = if self.interrupts == 1 { Urgency::Politely } else { Urgency::Now };
                if self.host.interrupt(urgency)? == Meaning::Leave {
                    return Ok(Some(Left::Detached));
                }
            }
            Signal::Child => {}
        }
        Ok(None)
    }

    /// Suspends what runs and us, and goes on with both when the person turns to us again.
    fn suspend(&mut self) -> io::Result<()> {
        self.host.input(Input::Suspend)?;
        self.write(&self.modes.usual());
        self.seat.let_go();
        signals::unblock(&[Signal::Stop]);
        let _ = unix::kill_current_process_group(unix::Signal::TSTP);
        // Here we stand still, until somebody wakes us.
        self.signals = SignalFd::open(&self.heard)?;
        self.seat.take_again()?;
        self.write(&self.modes.again());
        self.host.input(Input::Continue)?;
        let size = Seat::size();
        if self.modes.is_drawn_on() {
            // The kernel only tells programs of a size that is another, and they draw anew when they hear of one.
            self.host.input(Input::Resize(Size { cols: size.cols.saturating_sub(1).max(1), ..size }))?;
        }
        self.host.input(Input::Resize(size))
    }

    fn write(&self, codes: &str) {
        let _ = io::stdout().write_all(codes.as_bytes()).and_then(|()| io::stdout().flush());
    }
}

/// Whether a key is Ctrl-Z.
pub(crate) const fn suspends(key: u8) -> bool {
    key == SUSPEND
}
