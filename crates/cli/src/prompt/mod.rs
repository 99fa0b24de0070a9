//! Asking whoever sits at the terminal.
//!
//! The question takes the whole screen until it is answered, so that nothing on it comes from anybody but us: [`facts`]
//! are what it says, [`escape`] makes foreign text safe, [`screen`] lays it out, [`dialogue`] knows what keys do,
//! [`debounce`] which of them count, and [`terminal`] is the only one that touches the terminal. No answer is a yes unless one
//! key was pressed alone, with all of the question seen.

mod by_line;
pub(crate) mod choices;
mod dialogue;
mod escape;
pub(crate) mod facts;
mod key_debounce;
mod keys;
mod screen;
mod table;
mod terminal;

use std::io;
use std::time::{Duration, Instant};

use shellgate::approval::{Answer, ApprovalChannel, Approver, Question, Waiting};
use shellgate_sandbox::signals::Signal;

use choices::Choices;
use dialogue::{Dialogue, Effect};
use facts::Facts;
use key_debounce::KeyDebounce;
use keys::{Key, Keys};
use screen::Frame;
use terminal::{Event, Terminal};

/// How often the record is looked at for an answer from elsewhere, and the terminal for its size.
const POLL_INTERVAL: Duration = Duration::from_millis(100);
/// How much of a command stays in the line about its answer, in characters.
const REMINDER_CHARS: usize = 60;

/// The terminal that this process belongs to, whatever its standard streams are.
#[derive(Debug)]
pub(crate) struct TerminalApprover;

/// An answer, and where it came from.
enum GivenAnswer {
    Here(Answer),
    Elsewhere(Answer),
}

impl Approver for TerminalApprover {
    fn channel(&self) -> ApprovalChannel {
        ApprovalChannel::Terminal
    }

    fn ask(&self, question: &Question<'_>, waiting: Waiting<'_>) -> Answer {
        let Some(mut terminal) = Terminal::open() else { return Answer::Nobody };
        ask_on(&mut terminal, question, waiting).unwrap_or(Answer::Nobody)
    }
}

fn ask_on(terminal: &mut Terminal, question: &Question<'_>, waiting: Waiting<'_>) -> io::Result<Answer> {
    if !terminal.claim_foreground() {
        return Ok(Answer::Nobody);
    }
    let until = Instant::now() + question.timeout;
    let (facts, choices) = (Facts::of(question), Choices::of(question));
    let reminder = reminder(&facts.text);
    let is_dumb = std::env::var_os("TERM").is_none_or(|term| term.is_empty() || term == "dumb");
    let said = if is_dumb || terminal.enter().is_err() {
        terminal.leave();
        by_line::ask(terminal, &facts, until, waiting)?
    } else {
        let dialogue = Dialogue::new(facts, choices.clone());
        let now = Instant::now();
        let asking = Asking {
            terminal,
            dialogue,
            keys: Keys::default(),
            last_input: now,
            debounce: KeyDebounce::new(now),
        };
        asking.run(until, waiting)?
    };
    terminal.leave();
    let (summary, answer) = match said {
        GivenAnswer::Here(answer) => (choices.summary(&answer), answer),
        GivenAnswer::Elsewhere(answer) => (choices::summary_elsewhere(&answer).to_owned(), answer),
    };
    terminal.print(&format!("\x1b[2mshellgate: {summary}: {reminder}\x1b[0m\n"))?;
    Ok(answer)
}

/// The beginning of a command, for somebody who has just seen all of it.
fn reminder(text: &str) -> String {
    let shown = escape::line(text);
    let mut short: String = shown.chars().take(REMINDER_CHARS).collect();
    if short.len() < shown.len() {
        short.push('…');
    }
    short
}

/// A question on the screen.
struct Asking<'a> {
    terminal: &'a mut Terminal,
    dialogue: Dialogue,
    keys: Keys,
    /// When something came that may not be all of a key.
    last_input: Instant,
    debounce: KeyDebounce,
}

impl Asking<'_> {
    fn run(mut self, until: Instant, waiting: Waiting<'_>) -> io::Result<GivenAnswer> {
        loop {
            if let Some(answer) = waiting.poll() {
                return Ok(GivenAnswer::Elsewhere(answer));
            }
            let left = until.saturating_duration_since(Instant::now());
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

    /// Waits for the next thing that happens, but not long.
    fn step(&mut self, left: Duration) -> io::Result<Option<Answer>> {
        let now = Instant::now();
        let patience = [self.debounce.time_left(now), self.keys.timeout(), Some(left)];
        let patience = patience.into_iter().flatten().fold(POLL_INTERVAL, Duration::min);
        match self.terminal.wait(patience)? {
            Event::HungUp => return Ok(Some(Answer::Nobody)),
            Event::Signal(Signal::Interrupt) => return Ok(Some(Answer::No(None))),
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
                // What had begun doesn't go on.
                if self.keys.timeout().is_some_and(|patience| self.last_input.elapsed() >= patience)
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

    /// A key was pressed: does it count?
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

    /// We were stopped, and go on: whatever is on the screen is not ours.
    fn resume(&mut self) -> io::Result<()> {
        if !self.terminal.claim_foreground() {
            return Err(io::Error::other("the terminal belongs to others"));
        }
        self.terminal.enter()?;
        self.keys.clear();
        self.debounce.restart(Instant::now());
        Ok(())
    }
}
