//! Printing: results on standard output, messages for the person on standard error.

use std::io::{self, IsTerminal as _, Write as _};
use std::time::{Duration, Instant};

pub(crate) use shellgate::text::escape::line as escape;
pub(crate) use shellgate::text::own_text;
use shellgate::text::{Style, StyledLine};

use crate::args::Color;
use crate::error::CliError;

/// Prints a line for the person, on standard error. Of codes for terminals, only colors get through.
pub(crate) fn print_message(line: &str) {
    // Standard error is the last place to report anything to.
    let _ = writeln!(anstream::stderr(), "{}", own_text(line));
}

/// Prints a remark for the person, dimmed, on standard error.
pub(crate) fn print_note(line: &str) {
    print_message(&format!("\x1b[2mshellgate: {line}\x1b[0m"));
}

/// Prints a result on standard output. Of codes for terminals, only colors get through, if standard output takes them.
pub(crate) fn print(text: &str) -> Result<(), CliError> {
    let mut out = anstream::stdout();
    out.write_all(own_text(text).as_bytes())
        .and_then(|()| out.flush())
        .map_err(|error| CliError::write_failed(&error))
}

/// Prints JSON as one line on standard output.
pub(crate) fn print_json(value: &serde_json::Value) -> Result<(), CliError> {
    let mut out = io::stdout().lock();
    writeln!(out, "{value}").and_then(|()| out.flush()).map_err(|error| CliError::write_failed(&error))
}

pub(crate) fn choose_color(color: Color) {
    let choice = match color {
        Color::Auto => return,
        Color::Always => anstream::ColorChoice::Always,
        Color::Never => anstream::ColorChoice::Never,
    };
    choice.write_global();
}

/// The code that switches a style on.
pub(crate) const fn style_code(style: Style) -> &'static str {
    match style {
        Style::Plain => "",
        Style::Faint => "\x1b[2m",
        Style::Strong => "\x1b[1m",
        Style::Good => "\x1b[32m",
        Style::Caution => "\x1b[33m",
        Style::Bad => "\x1b[31m",
    }
}

/// A line with codes for its styles.
pub(crate) fn with_codes(line: &StyledLine) -> String {
    let mut text = String::new();
    for (style, piece) in line.pieces() {
        let end = if style == Style::Plain { "" } else { "\x1b[0m" };
        text.push_str(&format!("{}{piece}{end}", style_code(style)));
    }
    text
}

/// Prints lines with their styles on standard output.
pub(crate) fn print_lines(lines: &[StyledLine]) -> Result<(), CliError> {
    print(&lines.iter().map(|line| with_codes(line) + "\n").collect::<String>())
}

/// How long a command may be silent before the status line appears.
const STATUS_AFTER_SILENCE: Duration = Duration::from_secs(2);

/// A line that says that a silent command is still running. It appears on terminals only, at the start of a line, and
/// is removed before anything else is written.
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
    /// Standard error is not a terminal, so the line never appears.
    Hidden,
    Running,
    Stopping,
}

impl StatusLine {
    pub(crate) fn new() -> Self {
        let now = Instant::now();
        let stage = if io::stderr().is_terminal() { Stage::Running } else { Stage::Hidden };
        Self { stage, started: now, last_output: now, at_line_start: true, shown: false }
    }

    /// How long until the line changes.
    pub(crate) fn poll_timeout(&self) -> Option<Duration> {
        (self.stage != Stage::Hidden).then(|| match self.shown {
            true => Duration::from_secs(1),
            false => {
                STATUS_AFTER_SILENCE.saturating_sub(self.last_output.elapsed()).max(Duration::from_millis(20))
            }
        })
    }

    /// Shows or updates the line if it is due.
    pub(crate) fn tick(&mut self) {
        let words = match self.stage {
            Stage::Running if self.last_output.elapsed() >= STATUS_AFTER_SILENCE => {
                "running, Ctrl-C stops it"
            }
            Stage::Stopping => "stopping, Ctrl-C again kills it",
            Stage::Running | Stage::Hidden => return,
        };
        if !self.at_line_start {
            return;
        }
        let text = format!("shellgate: {} s, {words}", self.started.elapsed().as_secs());
        // The line is a courtesy: the command runs on without it.
        let _ = write!(anstream::stderr(), "\r\x1b[2m{text}\x1b[0m\x1b[K");
        let _ = io::stderr().flush();
        self.shown = true;
    }

    /// Removes the line because `bytes` are about to be written.
    pub(crate) fn prepare_for(&mut self, bytes: &[u8]) {
        self.clear();
        self.last_output = Instant::now();
        self.at_line_start = bytes.last() == Some(&b'\n');
    }

    /// Removes the line.
    pub(crate) fn clear(&mut self) {
        if self.shown {
            // What was written there can be removed there, or the terminal is gone.
            let _ = write!(io::stderr(), "\r\x1b[K");
            self.shown = false;
        }
    }

    /// The person pressed Ctrl-C.
    pub(crate) fn stopping(&mut self) {
        if self.stage == Stage::Running {
            self.stage = Stage::Stopping;
        }
        self.tick();
    }
}
