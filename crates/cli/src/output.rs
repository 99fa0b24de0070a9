//! Writing to the person, and to whoever reads our output.

use std::io::{self, IsTerminal as _, Write as _};
use std::time::{Duration, Instant};

use crate::args::Color;

/// A line to the person, on standard error.
pub(crate) fn say(line: &str) {
    let _ = writeln!(anstream::stderr(), "{line}");
}

/// The same, less prominent.
pub(crate) fn whisper(line: &str) {
    say(&format!("\x1b[2mshellgate: {line}\x1b[0m"));
}

pub(crate) fn choose_color(color: Color) {
    let choice = match color {
        Color::Auto => return,
        Color::Always => anstream::ColorChoice::Always,
        Color::Never => anstream::ColorChoice::Never,
    };
    choice.write_global();
}

/// Text that a terminal can't take for anything but text.
pub(crate) fn plain(text: &str) -> String {
    text.chars()
        .flat_map(|c| {
            c.escape_debug().take(if c.is_control() { 8 } else { 0 }).chain((!c.is_control()).then_some(c))
        })
        .collect()
}

/// How long a command may be silent before we say that it still runs.
const SILENCE: Duration = Duration::from_secs(2);

/// A line that says that a silent command still runs. It is only shown on a terminal, at the start of a line, and taken
/// away before anything else is written.
#[derive(Debug)]
pub(crate) struct StatusLine {
    stage: Stage,
    started: Instant,
    last_output: Instant,
    at_line_start: bool,
    shown: bool,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Stage {
    /// Standard error is no terminal: nothing is ever shown.
    Unseen,
    Running,
    Stopping,
}

impl StatusLine {
    pub(crate) fn new() -> Self {
        let now = Instant::now();
        let stage = if io::stderr().is_terminal() { Stage::Running } else { Stage::Unseen };
        Self { stage, started: now, last_output: now, at_line_start: true, shown: false }
    }

    /// How long to wait before the line changes.
    pub(crate) fn patience(&self) -> Option<Duration> {
        (self.stage != Stage::Unseen).then(|| match self.shown {
            true => Duration::from_secs(1),
            false => SILENCE.saturating_sub(self.last_output.elapsed()).max(Duration::from_millis(20)),
        })
    }

    /// Shows or renews the line, if it is time.
    pub(crate) fn tick(&mut self) {
        let words = match self.stage {
            Stage::Running if self.last_output.elapsed() >= SILENCE => "running, Ctrl-C stops it",
            Stage::Stopping => "stopping, Ctrl-C again kills it",
            Stage::Running | Stage::Unseen => return,
        };
        if !self.at_line_start {
            return;
        }
        let text = format!("shellgate: {} s, {words}", self.started.elapsed().as_secs());
        let _ = write!(anstream::stderr(), "\r\x1b[2m{text}\x1b[0m\x1b[K");
        let _ = io::stderr().flush();
        self.shown = true;
    }

    /// Makes room for `bytes`, which are about to be written.
    pub(crate) fn before(&mut self, bytes: &[u8]) {
        self.clear();
        self.last_output = Instant::now();
        self.at_line_start = bytes.last() == Some(&b'\n');
    }

    /// Takes the line away.
    pub(crate) fn clear(&mut self) {
        if self.shown {
            let _ = write!(io::stderr(), "\r\x1b[K");
            self.shown = false;
        }
    }

    /// Somebody pressed Ctrl-C.
    pub(crate) fn stopping(&mut self) {
        if self.stage == Stage::Running {
            self.stage = Stage::Stopping;
        }
        self.tick();
    }
}
