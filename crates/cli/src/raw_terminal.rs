//! The terminal of this process in raw mode: every key reaches us at once, and nothing is echoed.
//!
//! There is one guard for all uses, [`RawTerminal`]. It restores the terminal when it is dropped, when we are suspended,
//! when a signal would end us, and when we panic: the settings of the terminal driver, and the modes that were switched
//! on by codes (another screen, a hidden cursor, marked pastes).
//!
//! Signals are read from a descriptor while the guard exists. So every signal that would end the process and can be
//! caught reaches the caller first, who restores the terminal and then lets the signal act. What is not covered is a
//! fault in our own code, and `SIGKILL`.

use std::fs::{File, OpenOptions};
use std::io::{self, IsTerminal as _, Read as _, Write as _};
use std::os::fd::{AsFd as _, BorrowedFd};
use std::sync::{Mutex, Once, PoisonError};

use rustix::process as unix;
use rustix::termios::{self, OptionalActions, QueueSelector, Termios};
use shellgate_sandbox::signals::{self, Signal, SignalFd};

/// Signals that stop or continue the process, or tell of a new size. Those that end it are handled as well.
const OTHER_SIGNALS: [Signal; 3] = [Signal::WindowChange, Signal::Stop, Signal::Continue];

/// What to restore. It is static so that the panic hook finds it; one terminal at a time is raw.
static SAVED: Mutex<Option<Saved>> = Mutex::new(None);

/// A terminal as it was before it became raw.
#[derive(Debug)]
struct Saved {
    input: File,
    output: File,
    settings: Termios,
    typed_keys: TypedKeys,
    /// Codes that switch off what was switched on since.
    leave_codes: String,
}

/// What happens to keys that were typed but not read, when the terminal becomes raw and when it is restored.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum TypedKeys {
    /// They are discarded: they were typed before the question, or after its answer.
    Discard,
    /// They stay, for whichever program reads next.
    Keep,
}

impl TypedKeys {
    const fn action(self) -> OptionalActions {
        match self {
            Self::Discard => OptionalActions::Flush,
            Self::Keep => OptionalActions::Drain,
        }
    }
}

/// A terminal that can be made raw, and the signals that arrive meanwhile.
#[derive(Debug)]
pub(crate) struct RawTerminal {
    input: File,
    output: File,
    typed_keys: TypedKeys,
    /// Codes that are written each time the terminal becomes raw.
    enter_codes: String,
    leave_codes: String,
    signals: SignalFd,
    handled: Vec<Signal>,
}

/// Rows and columns of a terminal.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct TerminalSize {
    pub(crate) rows: u16,
    pub(crate) columns: u16,
}

impl RawTerminal {
    /// The terminal that controls this process, whatever its standard streams are. `None` when it has none.
    pub(crate) fn controlling() -> Option<Self> {
        let terminal = OpenOptions::new().read(true).write(true).open("/dev/tty").ok()?;
        Self::on(terminal.try_clone().ok()?, terminal, TypedKeys::Discard).ok()
    }

    /// The terminal of standard input and output.
    pub(crate) fn of_standard_streams() -> io::Result<Self> {
        let input = io::stdin().as_fd().try_clone_to_owned()?;
        let output = io::stdout().as_fd().try_clone_to_owned()?;
        Self::on(input.into(), output.into(), TypedKeys::Keep)
    }

    /// Listens for signals from now on. The terminal stays as it is until [`RawTerminal::enter`].
    pub(crate) fn on(input: File, output: File, typed_keys: TypedKeys) -> io::Result<Self> {
        // A signal that our parent process made us ignore (`nohup`) stays ignored.
        let others = OTHER_SIGNALS.into_iter().filter(|signal| !signal.is_ignored());
        let handled: Vec<Signal> = Signal::terminating().into_iter().chain(others).collect();
        let signals = SignalFd::open(&handled)?;
        let (enter_codes, leave_codes) = (String::new(), String::new());
        Ok(Self { input, output, typed_keys, enter_codes, leave_codes, signals, handled })
    }

    /// Whether a person is at the standard streams: both are a terminal, and its keys come to this process.
    pub(crate) fn is_interactive() -> bool {
        let foreground = termios::tcgetpgrp(io::stdin()).is_ok_and(|group| group == unix::getpgrp());
        foreground && io::stdin().is_terminal() && io::stdout().is_terminal()
    }

    /// The codes to write when the terminal becomes raw again, and when it is restored.
    pub(crate) fn set_codes(&mut self, enter: String, leave: String) {
        (self.enter_codes, self.leave_codes) = (enter, leave);
        if let Some(saved) = SAVED.lock().unwrap_or_else(PoisonError::into_inner).as_mut() {
            saved.leave_codes.clone_from(&self.leave_codes);
        }
    }

    /// Makes the terminal raw and writes the codes for that, also after it was restored.
    ///
    /// # Errors
    /// When the terminal can't give single keys, or takes no codes.
    pub(crate) fn enter(&mut self) -> io::Result<()> {
        self.make_raw()?;
        self.output.write_all(self.enter_codes.as_bytes())
    }

    /// Makes the terminal raw, also after another process changed its settings.
    ///
    /// # Errors
    /// When the terminal can't give single keys.
    pub(crate) fn make_raw(&mut self) -> io::Result<()> {
        restore_on_panic();
        let mut raw = {
            let mut slot = SAVED.lock().unwrap_or_else(PoisonError::into_inner);
            match slot.as_ref() {
                Some(saved) => saved.settings.clone(),
                None => {
                    let settings = termios::tcgetattr(&self.input)?;
                    *slot = Some(Saved {
                        input: self.input.try_clone()?,
                        output: self.output.try_clone()?,
                        settings: settings.clone(),
                        typed_keys: self.typed_keys,
                        leave_codes: self.leave_codes.clone(),
                    });
                    settings
                }
            }
        };
        raw.make_raw();
        Ok(termios::tcsetattr(&self.input, self.typed_keys.action(), &raw)?)
    }

    /// Restores the terminal. [`RawTerminal::enter`] makes it raw again.
    pub(crate) fn leave(&self) {
        restore();
    }

    /// Restores the terminal and stops this process and its group, as Ctrl-Z does at a terminal that isn't raw. Returns
    /// when the shell continues them. The terminal isn't raw then.
    pub(crate) fn suspend_group(&mut self) -> io::Result<()> {
        self.leave();
        signals::unblock(&[Signal::Stop]);
        // It fails only for a group without processes, and we are in it.
        let _ = unix::kill_current_process_group(unix::Signal::TSTP);
        self.reopen_signals()
    }

    /// Restores the terminal and lets a signal act that we have read. Returns when the process goes on after that.
    pub(crate) fn let_signal_act(&mut self, signal: Signal) -> io::Result<()> {
        self.leave();
        if !matches!(signal, Signal::Child | Signal::WindowChange | Signal::Continue) {
            signals::let_act(signal);
        }
        self.reopen_signals()
    }

    /// Blocks the handled signals again after one of them was let through.
    fn reopen_signals(&mut self) -> io::Result<()> {
        self.signals = SignalFd::open(&self.handled)?;
        Ok(())
    }

    /// The next signal that arrived, if any.
    pub(crate) fn next_signal(&self) -> io::Result<Option<Signal>> {
        self.signals.next()
    }

    /// The descriptor that tells of signals.
    pub(crate) fn signal_fd(&self) -> BorrowedFd<'_> {
        self.signals.as_fd()
    }

    /// The descriptor that tells of keys.
    pub(crate) fn key_fd(&self) -> BorrowedFd<'_> {
        self.input.as_fd()
    }

    /// Reads keys.
    pub(crate) fn read(&mut self, buffer: &mut [u8]) -> io::Result<usize> {
        self.input.read(buffer)
    }

    /// Writes text and codes.
    pub(crate) fn write_all(&mut self, bytes: &[u8]) -> io::Result<()> {
        self.output.write_all(bytes)
    }

    /// Discards keys that were typed and not read.
    pub(crate) fn discard_input(&self) {
        // A terminal that can't do this has hung up, and the next read tells.
        let _ = termios::tcflush(&self.input, QueueSelector::IFlush);
    }

    /// The process group whose keys the terminal delivers is ours.
    pub(crate) fn is_foreground(&self) -> bool {
        termios::tcgetpgrp(&self.input).is_ok_and(|group| group == unix::getpgrp())
    }

    /// Its rows and columns; 24 and 80 where the terminal doesn't know.
    pub(crate) fn size(&self) -> TerminalSize {
        TerminalSize::of(self.input.as_fd())
    }

    /// Whether its output may have colors.
    pub(crate) fn has_colors(&self) -> bool {
        anstream::AutoStream::choice(&self.output) != anstream::ColorChoice::Never
    }
}

impl Drop for RawTerminal {
    fn drop(&mut self) {
        restore();
        signals::unblock(&self.handled);
    }
}

impl TerminalSize {
    /// The size of standard input's terminal.
    pub(crate) fn of_stdin() -> Self {
        Self::of(io::stdin().as_fd())
    }

    fn of(terminal: BorrowedFd<'_>) -> Self {
        let size = termios::tcgetwinsize(terminal).ok();
        let or = |number: Option<u16>, default| number.filter(|number| *number > 0).unwrap_or(default);
        Self { rows: or(size.map(|size| size.ws_row), 24), columns: or(size.map(|size| size.ws_col), 80) }
    }
}

impl From<TerminalSize> for shellgate::Size {
    fn from(size: TerminalSize) -> Self {
        Self { rows: size.rows, cols: size.columns }
    }
}

/// Restores the terminal that is raw, if one is.
fn restore() {
    // During a panic this thread may hold the lock.
    let Ok(mut slot) = SAVED.try_lock() else { return };
    if let Some(Saved { input, mut output, settings, typed_keys, leave_codes }) = slot.take() {
        // A terminal that takes neither codes nor settings has hung up: there is nothing to restore.
        let _ = output.write_all(leave_codes.as_bytes());
        let _ = termios::tcsetattr(&input, typed_keys.action(), &settings);
    }
}

fn restore_on_panic() {
    static ONCE: Once = Once::new();
    ONCE.call_once(|| {
        let previous = std::panic::take_hook();
        std::panic::set_hook(Box::new(move |panic| {
            restore();
            previous(panic);
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
    fn a_panic_restores_the_terminal() {
        let (mut seen, file) = pair();
        let before = modes(&file);
        let (input, output) = (file.try_clone().unwrap(), file.try_clone().unwrap());
        let panicked = std::thread::scope(|scope| {
            let asking = scope.spawn(|| {
                let mut terminal = RawTerminal::on(input, output, TypedKeys::Discard).unwrap();
                terminal.set_codes("<enter>".to_owned(), "<leave>".to_owned());
                terminal.enter().unwrap();
                assert_ne!(modes(&file), before, "the terminal is raw now");
                // The hook has to restore it: not every panic unwinds.
                std::mem::forget(terminal);
                panic!("in the middle of a question");
            });
            asking.join()
        });
        assert!(panicked.is_err());
        assert_eq!(modes(&file), before);
        // The kernel hands over what was written bit by bit.
        let expected = "<enter><leave>";
        let (sender, receiver) = std::sync::mpsc::channel();
        std::thread::spawn(move || {
            let mut shown = vec![0; expected.len()];
            let _ = sender.send(seen.read_exact(&mut shown).map(|()| shown));
        });
        let shown = receiver.recv_timeout(std::time::Duration::from_secs(20)).expect("all is shown").unwrap();
        assert_eq!(String::from_utf8(shown).unwrap(), expected);
    }
}
