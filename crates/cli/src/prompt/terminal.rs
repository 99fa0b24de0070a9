//! The terminal of this process, whatever its standard streams are.
//!
//! While a question is on it, keys come one by one and the shell's screen is kept aside. It is given back as it was:
//! after the answer, when a signal ends or stops us, and when we panic.

use std::fs::{File, OpenOptions};
use std::io::{self, Read as _, Write as _};
use std::sync::{Mutex, Once};
use std::time::Duration;

use rustix::event::{PollFd, PollFlags, Timespec, poll};
use rustix::process as unix;
use rustix::termios::{self, OptionalActions, QueueSelector, Termios};
use shellgate_sandbox::signals::{self, Signal, SignalFd};

use super::screen::{Frame, Size};

/// The other screen, no line that goes on in the next row, no reordering of letters, pastes marked, no cursor.
const ENTER: &str = "\x1b[?1049h\x1b[?7l\x1b[8l\x1b[?2004h\x1b[?25l\x1b[H\x1b[2J";
const LEAVE: &str = "\x1b[0m\x1b[?25h\x1b[?2004l\x1b[8h\x1b[?7h\x1b[?1049l";

/// Signals that would leave the terminal as it is now.
const HANDLED_SIGNALS: [Signal; 6] =
    [Signal::Interrupt, Signal::Terminate, Signal::Quit, Signal::HangUp, Signal::Stop, Signal::Continue];

/// What is to be given back, for whoever gets to it first.
static BORROWED: Mutex<Option<(File, Termios)>> = Mutex::new(None);

/// A terminal, and the signals that come meanwhile.
#[derive(Debug)]
pub(crate) struct Terminal {
    file: File,
    signals: SignalFd,
    handled: Vec<Signal>,
    drawn: Option<Frame>,
    colored: bool,
}

/// What happened.
#[derive(Debug)]
pub(crate) enum Event {
    Input(Vec<u8>),
    Signal(Signal),
    /// Nobody is there any more.
    HungUp,
    Nothing,
}

impl Terminal {
    /// `None` when this process has none.
    pub(crate) fn open() -> Option<Self> {
        Self::on(OpenOptions::new().read(true).write(true).open("/dev/tty").ok()?)
    }

    fn on(file: File) -> Option<Self> {
        let colored = anstream::AutoStream::choice(&file) != anstream::ColorChoice::Never;
        // What our starter ignores stays ignored.
        let handled: Vec<Signal> =
            HANDLED_SIGNALS.into_iter().filter(|signal| !signal.is_ignored()).collect();
        let signals = SignalFd::open(&handled).ok()?;
        Some(Self { file, signals, handled, drawn: None, colored })
    }

    /// Sees to it that the terminal's keys come to us, and not to another job of the shell. Says whether they do.
    pub(crate) fn claim_foreground(&self) -> bool {
        let is_ours = || termios::tcgetpgrp(&self.file).is_ok_and(|group| group == unix::getpgrp());
        // A job in the background is stopped until the person turns to it. One without a shell isn't even stopped.
        for _ in 0..3 {
            if is_ours() {
                break;
            }
            let _ = unix::kill_current_process_group(unix::Signal::TTOU);
        }
        is_ours()
    }

    /// Takes the terminal over.
    ///
    /// # Errors
    /// When it can't be drawn on or give single keys.
    pub(crate) fn enter(&mut self) -> io::Result<()> {
        let before = termios::tcgetattr(&self.file)?;
        let mut raw = before.clone();
        raw.make_raw();
        give_back_on_panic();
        if let Ok(mut borrowed) = BORROWED.lock() {
            *borrowed = Some((self.file.try_clone()?, before));
        }
        // What was typed before the question was there is no answer to it.
        termios::tcsetattr(&self.file, OptionalActions::Flush, &raw)?;
        self.drawn = None;
        self.file.write_all(ENTER.as_bytes())
    }

    /// Gives the terminal back as it was.
    pub(crate) fn leave(&mut self) {
        give_back();
    }

    /// Forgets what was typed.
    pub(crate) fn discard_input(&self) {
        let _ = termios::tcflush(&self.file, QueueSelector::IFlush);
    }

    pub(crate) fn size(&self) -> Size {
        let size = termios::tcgetwinsize(&self.file).ok();
        let or = |number: Option<u16>, usual| number.filter(|number| *number > 0).map_or(usual, usize::from);
        Size { rows: or(size.map(|size| size.ws_row), 24), columns: or(size.map(|size| size.ws_col), 80) }
    }

    /// Draws `frame`, unless it is there already.
    pub(crate) fn draw(&mut self, frame: Frame) -> io::Result<()> {
        if self.drawn.as_ref() == Some(&frame) {
            return Ok(());
        }
        let mut text = "\x1b[?25l\x1b[H".to_owned();
        for (number, row) in frame.rows.iter().enumerate() {
            text.push_str(if number == 0 { "" } else { "\r\n" });
            // Before the row: behind a full one the cursor is still on its last column.
            text.push_str("\x1b[K");
            if self.colored {
                text.push_str(row);
            } else {
                text.push_str(&anstream::adapter::strip_str(row).to_string());
            }
        }
        if let Some(column) = frame.cursor {
            text.push_str(&format!("\x1b[{}G\x1b[?25h", column + 1));
        }
        self.file.write_all(text.as_bytes())?;
        self.drawn = Some(frame);
        Ok(())
    }

    /// Writes lines that stay.
    pub(crate) fn print(&mut self, text: &str) -> io::Result<()> {
        if self.colored {
            return self.file.write_all(text.as_bytes());
        }
        self.file.write_all(anstream::adapter::strip_str(text).to_string().as_bytes())
    }

    /// Waits for a key or a signal.
    pub(crate) fn wait(&mut self, timeout: Duration) -> io::Result<Event> {
        let mut polled = [PollFd::new(&self.file, PollFlags::IN), PollFd::new(&self.signals, PollFlags::IN)];
        match poll(&mut polled, Timespec::try_from(timeout).ok().as_ref()) {
            Ok(_) => {}
            Err(rustix::io::Errno::INTR) => return Ok(Event::Nothing),
            Err(error) => return Err(error.into()),
        }
        let [input, signal] = polled.map(|polled| !polled.revents().is_empty());
        if signal && let Some(signal) = self.signals.next()? {
            return Ok(Event::Signal(signal));
        }
        if !input {
            return Ok(Event::Nothing);
        }
        let mut bytes = vec![0; 4096];
        match self.file.read(&mut bytes) {
            Ok(0) => Ok(Event::HungUp),
            Ok(length) => {
                bytes.truncate(length);
                Ok(Event::Input(bytes))
            }
            Err(error) if error.kind() == io::ErrorKind::Interrupted => Ok(Event::Nothing),
            Err(error) => Err(error),
        }
    }

    /// Lets a signal do to us what it does to anybody.
    pub(crate) fn let_signal_act(&self, signal: Signal) {
        let number = match signal {
            Signal::Interrupt => unix::Signal::INT,
            Signal::Terminate => unix::Signal::TERM,
            Signal::Quit => unix::Signal::QUIT,
            Signal::HangUp => unix::Signal::HUP,
            Signal::Stop => unix::Signal::TSTP,
            Signal::Child | Signal::WindowChange | Signal::Continue => return,
        };
        signals::unblock(&[signal]);
        let _ = unix::kill_process(unix::getpid(), number);
    }

    /// Stops us and whoever was started with us, as Ctrl-Z does where nobody reads keys one by one.
    pub(crate) fn suspend_group(&self) {
        signals::unblock(&[Signal::Stop]);
        let _ = unix::kill_current_process_group(unix::Signal::TSTP);
    }

    /// Listens for signals again, after one that stopped us.
    pub(crate) fn reopen_signals(&mut self) -> io::Result<()> {
        self.signals = SignalFd::open(&self.handled)?;
        Ok(())
    }
}

impl Drop for Terminal {
    fn drop(&mut self) {
        give_back();
        signals::unblock(&self.handled);
    }
}

fn give_back() {
    // In a panic the lock may be ours.
    let Ok(mut borrowed) = BORROWED.try_lock() else { return };
    if let Some((mut file, before)) = borrowed.take() {
        let _ = file.write_all(LEAVE.as_bytes());
        // What was typed after the answer was for the question, not for the shell.
        let _ = termios::tcsetattr(&file, OptionalActions::Flush, &before);
    }
}

fn give_back_on_panic() {
    static ONCE: Once = Once::new();
    ONCE.call_once(|| {
        let usual = std::panic::take_hook();
        std::panic::set_hook(Box::new(move |panic| {
            give_back();
            usual(panic);
        }));
    });
}

#[cfg(test)]
mod tests {
    use rustix::pty::{OpenptFlags, grantpt, openpt, ptsname, unlockpt};
    use rustix::termios::{InputModes, LocalModes, OutputModes};

    use super::*;

    /// A terminal, and what a person sees of it.
    fn pair() -> (File, File) {
        let seen = openpt(OpenptFlags::RDWR | OpenptFlags::NOCTTY).unwrap();
        grantpt(&seen).unwrap();
        unlockpt(&seen).unwrap();
        let name = ptsname(&seen, Vec::new()).unwrap().into_string().unwrap();
        (seen.into(), OpenOptions::new().read(true).write(true).open(name).unwrap())
    }

    fn modes(file: &File) -> (InputModes, OutputModes, LocalModes) {
        let modes = termios::tcgetattr(file).unwrap();
        (modes.input_modes, modes.output_modes, modes.local_modes)
    }

    #[test]
    fn a_panic_gives_the_terminal_back() {
        let (mut seen, file) = pair();
        let before = modes(&file);
        let other = file.try_clone().unwrap();
        let panicked = std::thread::scope(|scope| {
            let asking = scope.spawn(|| {
                let mut terminal = Terminal::on(other).unwrap();
                terminal.enter().unwrap();
                assert_ne!(modes(&file), before, "keys come one by one now");
                // The hook has to do it: not every panic unwinds.
                std::mem::forget(terminal);
                panic!("in the middle of a question");
            });
            asking.join()
        });
        assert!(panicked.is_err());
        assert_eq!(modes(&file), before);
        let mut shown = vec![0; 4096];
        let length = seen.read(&mut shown).unwrap();
        shown.truncate(length);
        assert_eq!(String::from_utf8(shown).unwrap(), format!("{ENTER}{LEAVE}"));
    }
}
