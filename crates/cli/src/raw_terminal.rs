//! Our own terminal while a person sits at another one through it: keys come one by one, and pass through.
//!
//! It is given back as it was: at the end, when we are suspended, when a signal ends us, and when we panic.

use std::io::{self, IsTerminal as _};
use std::sync::{Mutex, Once, PoisonError};

use rustix::termios::{self, OptionalActions, Termios};
use shellgate::Size;

/// What is to be given back, for whoever gets to it first.
static SAVED: Mutex<Option<Termios>> = Mutex::new(None);

/// Our terminal, taken.
#[derive(Debug)]
pub(crate) struct RawTerminal {
    raw: Termios,
}

impl RawTerminal {
    /// Whether a person sits there: input and output are a terminal, and its keys come to us.
    pub(crate) fn is_interactive() -> bool {
        let ours = termios::tcgetpgrp(io::stdin()).is_ok_and(|group| group == rustix::process::getpgrp());
        ours && io::stdin().is_terminal() && io::stdout().is_terminal()
    }

    /// Takes it.
    ///
    /// # Errors
    /// When it can't give single keys.
    pub(crate) fn take() -> io::Result<Self> {
        let before = termios::tcgetattr(io::stdin())?;
        let mut raw = before.clone();
        raw.make_raw();
        restore_on_panic();
        *SAVED.lock().unwrap_or_else(PoisonError::into_inner) = Some(before);
        let terminal = Self { raw };
        terminal.retake()?;
        Ok(terminal)
    }

    /// Takes it again, after it was let go.
    pub(crate) fn retake(&self) -> io::Result<()> {
        Ok(termios::tcsetattr(io::stdin(), OptionalActions::Drain, &self.raw)?)
    }

    /// Gives it back for a while.
    pub(crate) fn release(&self) {
        restore();
    }

    /// Its size.
    pub(crate) fn size() -> Size {
        let size = termios::tcgetwinsize(io::stdin()).ok();
        let usual = Size::default();
        let or = |number: Option<u16>, usual| number.filter(|number| *number > 0).unwrap_or(usual);
        Size {
            rows: or(size.map(|size| size.ws_row), usual.rows),
            cols: or(size.map(|size| size.ws_col), usual.cols),
        }
    }
}

impl Drop for RawTerminal {
    fn drop(&mut self) {
        restore();
    }
}

fn restore() {
    // In a panic the lock may be ours.
    let Ok(saved) = SAVED.try_lock() else { return };
    if let Some(before) = saved.as_ref() {
        let _ = termios::tcsetattr(io::stdin(), OptionalActions::Drain, before);
    }
}

fn restore_on_panic() {
    static ONCE: Once = Once::new();
    ONCE.call_once(|| {
        let usual = std::panic::take_hook();
        std::panic::set_hook(Box::new(move |panic| {
            restore();
            usual(panic);
        }));
    });
}
