//! Asks the person at the terminal.
//!
//! The question takes the whole screen until it is answered, so that everything on the screen is ours. [`screen`] lays it
//! out, [`dialogue`] knows what keys do, [`key_debounce`] decides which keys are accepted, and [`terminal`] alone touches
//! the terminal. Only a key that was pressed alone approves, after all of the question was on the screen.

mod by_line;
mod choices;
mod dialogue;
mod key_debounce;
mod keys;
mod screen;
mod terminal;

use std::io;
use std::time::{Duration, Instant};

use shellgate::approval::{Answer, ApprovalChannel, Approver, Question, QueueWait};
use shellgate::text::{Style, StyledLine, escape};
use shellgate::views::QuestionView;
use shellgate_sandbox::signals::Signal;

use dialogue::{Dialogue, Effect};
use key_debounce::KeyDebounce;
use keys::{Key, Keys};
use screen::Frame;
use terminal::Event;
pub(crate) use terminal::Terminal;

/// How often the record is checked for an answer from elsewhere, and the terminal for its size.
const POLL_INTERVAL: Duration = Duration::from_millis(100);
/// The line that stays after an answer has this many characters of the command.
const REMINDER_CHARS: usize = 60;

/// Asks on the controlling terminal of this process, whatever its standard streams are.
#[derive(Debug)]
pub(crate) struct TerminalApprover;

/// An answer, and where it was given.
pub(crate) enum GivenAnswer {
    Here(Answer),
    Elsewhere(Answer),
}

/// A question's wait for an answer from elsewhere.
pub(crate) trait AnswerSource {
    /// The answer, if there is one.
    fn recorded_answer(&self) -> Option<Answer>;
    /// The time until the question times out.
    fn time_left(&self) -> Duration;
}

impl AnswerSource for QueueWait {
    fn recorded_answer(&self) -> Option<Answer> {
        self.recorded_answer()
    }

    fn time_left(&self) -> Duration {
        self.time_left()
    }
}

impl Approver for TerminalApprover {
    fn channel(&self) -> ApprovalChannel {
        ApprovalChannel::Terminal
    }

    fn ask(&self, question: &Question<'_>, queue: &QueueWait) -> Answer {
        let Some(mut terminal) = Terminal::open() else { return Answer::Unavailable };
        ask_on(&mut terminal, question, queue).unwrap_or(Answer::Unavailable)
    }
}

fn ask_on(terminal: &mut Terminal, question: &Question<'_>, queue: &QueueWait) -> io::Result<Answer> {
    let view = QuestionView::of(question);
    // Ctrl-C is a no: the command is the only thing that this process is for.
    let Some(said) = show(terminal, &view, queue, Answer::No(None))? else { return Ok(Answer::Unavailable) };
    print_summary(terminal, &view, &said)?;
    let (GivenAnswer::Here(answer) | GivenAnswer::Elsewhere(answer)) = said;
    Ok(answer)
}

/// Shows a question until it is answered, and restores the terminal. `interrupted`: what Ctrl-C means. `None`: another process
/// has the terminal.
pub(crate) fn show(
    terminal: &mut Terminal,
    view: &QuestionView,
    queue: &impl AnswerSource,
    interrupted: Answer,
) -> io::Result<Option<GivenAnswer>> {
    if !terminal.claim_foreground() {
        return Ok(None);
    }
    let is_dumb = std::env::var_os("TERM").is_none_or(|term| term.is_empty() || term == "dumb");
    let said = if is_dumb || terminal.enter().is_err() {
        terminal.leave();
        by_line::ask(terminal, view, queue, &interrupted)?
    } else {
        let dialogue = Dialogue::new(view.clone(), interrupted);
        let now = Instant::now();
        let asking = Asking {
            terminal,
            dialogue,
            keys: Keys::default(),
            last_input: now,
            debounce: KeyDebounce::new(now),
        };
        asking.run(queue)?
    };
    terminal.leave();
    Ok(Some(said))
}

/// Prints the line that stays on the screen after a question.
pub(crate) fn print_summary(
    terminal: &mut Terminal,
    view: &QuestionView,
    said: &GivenAnswer,
) -> io::Result<()> {
    let summary = match said {
        GivenAnswer::Here(answer) => choices::summary(view, answer),
        GivenAnswer::Elsewhere(answer) => choices::summary_elsewhere(answer).to_owned(),
    };
    let line = format!("shellgate: {summary}: {}", reminder(&view.command));
    terminal.print_lines(&[StyledLine::new().with(Style::Faint, line)])
}

/// The beginning of a command, as a reminder.
fn reminder(text: &str) -> String {
    let shown = escape::marked_line(text);
    let mut short: String = shown.chars().take(REMINDER_CHARS).collect();
    if short.len() < shown.len() {
        short.push('…');
    }
    short
}

/// A question on the screen, until it is answered.
struct Asking<'a> {
    terminal: &'a mut Terminal,
    dialogue: Dialogue,
    keys: Keys,
    /// When the last bytes arrived.
    last_input: Instant,
    debounce: KeyDebounce,
}

impl Asking<'_> {
    fn run(mut self, queue: &impl AnswerSource) -> io::Result<GivenAnswer> {
        loop {
            if let Some(answer) = queue.recorded_answer() {
                return Ok(GivenAnswer::Elsewhere(answer));
            }
            let left = queue.time_left();
            if left == Duration::ZERO {
                return Ok(GivenAnswer::Here(Answer::TimedOut));
            }
            let frame = Frame::new(&mut self.dialogue, self.terminal.size(), left);
            self.terminal.draw(frame)?;
            if let Some(answer) = self.step(left)? {
                return Ok(GivenAnswer::Here(answer));
            }
        }
    }

    /// Waits for the next event, at most [`POLL_INTERVAL`].
    fn step(&mut self, left: Duration) -> io::Result<Option<Answer>> {
        let now = Instant::now();
        let timeouts = [self.debounce.time_left(now), self.keys.timeout(), Some(left)];
        let timeout = timeouts.into_iter().flatten().fold(POLL_INTERVAL, Duration::min);
        match self.terminal.wait(timeout)? {
            Event::HungUp => return Ok(Some(Answer::Unavailable)),
            Event::Signal(Signal::Interrupt) => return Ok(Some(self.dialogue.interrupted.clone())),
            Event::Signal(signal) => self.signal(signal)?,
            Event::Input(bytes) => {
                self.keys.push(&bytes);
                self.last_input = Instant::now();
                while let Some(key) = self.keys.next() {
                    if let Some(answer) = self.key_pressed(key)? {
                        return Ok(Some(answer));
                    }
                }
            }
            Event::Nothing => {
                // The rest of the key didn't come.
                if self.keys.timeout().is_some_and(|timeout| self.last_input.elapsed() >= timeout)
                    && let Some(key) = self.keys.flush()
                    && let Some(answer) = self.key_pressed(key)?
                {
                    return Ok(Some(answer));
                }
            }
        }
        let now = Instant::now();
        match self.debounce.take_accepted(now) {
            Some(key) => self.accept(&key, now),
            None => Ok(None),
        }
    }

    /// Handles a key: an answer is held back, other keys take effect at once.
    fn key_pressed(&mut self, key: Key) -> io::Result<Option<Answer>> {
        let now = Instant::now();
        if key == Key::Ctrl('z') {
            self.terminal.suspend_group()?;
            self.resume()?;
            return Ok(None);
        }
        if self.dialogue.needs_no_debounce(&key) {
            if self.debounce.interrupt(now) {
                self.dialogue.note_too_fast();
            }
            return self.accept(&key, now);
        }
        if !self.debounce.hold(key, now) && !self.debounce.is_ignoring(now) {
            self.dialogue.note_too_fast();
        }
        Ok(None)
    }

    fn accept(&mut self, key: &Key, now: Instant) -> io::Result<Option<Answer>> {
        match self.dialogue.key(key) {
            Effect::None => Ok(None),
            Effect::PageChanged => {
                self.debounce.restart(now);
                Ok(None)
            }
            Effect::Answered(answer) => Ok(Some(answer)),
        }
    }

    fn signal(&mut self, signal: Signal) -> io::Result<()> {
        self.terminal.let_signal_act(signal)?;
        self.resume()
    }

    /// Takes the screen again after we were stopped.
    fn resume(&mut self) -> io::Result<()> {
        if !self.terminal.claim_foreground() {
            return Err(io::Error::other("another process has the terminal"));
        }
        self.terminal.enter()?;
        self.keys.clear();
        self.debounce.restart(Instant::now());
        Ok(())
    }
}
