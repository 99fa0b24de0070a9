//! The terminal that a question is drawn on.

use std::io;
use std::time::Duration;

use rustix::event::{PollFd, PollFlags, Timespec, poll};
use rustix::process as unix;
use shellgate::text::StyledLine;
use shellgate_sandbox::signals::Signal;

use super::screen::{Frame, Size};
use crate::output::with_codes;
use crate::raw_terminal::RawTerminal;

/// Switches to the other screen, with lines that don't wrap, letters in their own order, marked pastes and no cursor.
const ENTER: &str = "\x1b[?1049h\x1b[?7l\x1b[8l\x1b[?2004h\x1b[?25l\x1b[H\x1b[2J";
const LEAVE: &str = "\x1b[0m\x1b[?25h\x1b[?2004l\x1b[8h\x1b[?7h\x1b[?1049l";

/// How often a process in the background asks for the foreground before it gives up.
const FOREGROUND_ATTEMPTS: u32 = 3;

/// The controlling terminal of this process.
#[derive(Debug)]
pub(crate) struct Terminal {
    raw: RawTerminal,
    drawn: Option<Frame>,
    has_colors: bool,
}

/// What happened while we waited.
#[derive(Debug)]
pub(crate) enum Event {
    Input(Vec<u8>),
    Signal(Signal),
    /// The terminal hung up.
    HungUp,
    Nothing,
}

impl Terminal {
    /// `None` when this process has no controlling terminal.
    pub(crate) fn open() -> Option<Self> {
        let raw = RawTerminal::controlling()?;
        let has_colors = raw.has_colors();
        Some(Self { raw, drawn: None, has_colors })
    }

    /// Makes sure that the terminal's keys come to us and not to another job of the shell. Returns whether they do.
    pub(crate) fn claim_foreground(&self) -> bool {
        // The kernel stops a background job until the shell brings it to the foreground. It doesn't stop a job that no
        // shell controls.
        for _ in 0..FOREGROUND_ATTEMPTS {
            if self.raw.is_foreground() {
                break;
            }
            // It fails only for a group without processes, and we are in it.
            let _ = unix::kill_current_process_group(unix::Signal::TTOU);
        }
        self.raw.is_foreground()
    }

    /// Takes the whole screen. Keys that were typed before the question was there are discarded.
    ///
    /// # Errors
    /// When the terminal takes no codes, or can't give single keys.
    pub(crate) fn enter(&mut self) -> io::Result<()> {
        self.raw.set_codes(ENTER.to_owned(), LEAVE.to_owned());
        self.drawn = None;
        self.raw.enter()
    }

    /// Restores the terminal.
    pub(crate) fn leave(&mut self) {
        self.raw.leave();
    }

    /// Discards keys that were typed before now.
    pub(crate) fn discard_input(&self) {
        self.raw.discard_input();
    }

    pub(crate) fn size(&self) -> Size {
        let size = self.raw.size();
        Size { rows: size.rows.into(), columns: size.columns.into() }
    }

    /// Draws `frame`, unless it is on the screen already.
    pub(crate) fn draw(&mut self, frame: Frame) -> io::Result<()> {
        if self.drawn.as_ref() == Some(&frame) {
            return Ok(());
        }
        let mut text = "\x1b[?25l\x1b[H".to_owned();
        for (number, row) in frame.rows.iter().enumerate() {
            text.push_str(if number == 0 { "" } else { "\r\n" });
            // Cleared before it is written: after a full row the cursor is still on its last column.
            text.push_str("\x1b[K");
            text.push_str(&self.styled(row));
        }
        if let Some(column) = frame.cursor {
            text.push_str(&format!("\x1b[{}G\x1b[?25h", column + 1));
        }
        self.raw.write_all(text.as_bytes())?;
        self.drawn = Some(frame);
        Ok(())
    }

    /// Prints lines that stay on the screen.
    pub(crate) fn print_lines(&mut self, lines: &[StyledLine]) -> io::Result<()> {
        let text: String = lines.iter().map(|line| self.styled(line) + "\n").collect();
        self.print(&text)
    }

    /// Prints text of our own.
    pub(crate) fn print(&mut self, text: &str) -> io::Result<()> {
        self.raw.write_all(text.as_bytes())
    }

    fn styled(&self, line: &StyledLine) -> String {
        if self.has_colors { with_codes(line) } else { line.to_string() }
    }

    /// Waits for a key or a signal.
    pub(crate) fn wait(&mut self, timeout: Duration) -> io::Result<Event> {
        let mut polled = [
            PollFd::from_borrowed_fd(self.raw.key_fd(), PollFlags::IN),
            PollFd::from_borrowed_fd(self.raw.signal_fd(), PollFlags::IN),
        ];
        match poll(&mut polled, Timespec::try_from(timeout).ok().as_ref()) {
            Ok(_) => {}
            Err(rustix::io::Errno::INTR) => return Ok(Event::Nothing),
            Err(error) => return Err(error.into()),
        }
        let [input, signal] = polled.map(|polled| !polled.revents().is_empty());
        if signal && let Some(signal) = self.raw.next_signal()? {
            // The size is asked for before each drawing.
            return Ok(if signal == Signal::WindowChange { Event::Nothing } else { Event::Signal(signal) });
        }
        if !input {
            return Ok(Event::Nothing);
        }
        let mut bytes = vec![0; 4096];
        match self.raw.read(&mut bytes) {
            Ok(0) => Ok(Event::HungUp),
            Ok(length) => {
                bytes.truncate(length);
                Ok(Event::Input(bytes))
            }
            Err(error) if error.kind() == io::ErrorKind::Interrupted => Ok(Event::Nothing),
            Err(error) => Err(error),
        }
    }

    /// Restores the terminal and lets a signal act. Returns when the process goes on after that.
    pub(crate) fn let_signal_act(&mut self, signal: Signal) -> io::Result<()> {
        self.raw.let_signal_act(signal)
    }

    /// Restores the terminal and stops our process group. Returns when the shell continues it.
    pub(crate) fn suspend_group(&mut self) -> io::Result<()> {
        self.raw.suspend_group()
    }
}
