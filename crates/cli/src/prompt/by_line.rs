//! The same question on a terminal that can do nothing but print lines.

use std::time::{Duration, Instant};

use shellgate::approval::{Answer, Choice, Waiting};
use shellgate_sandbox::signals::Signal;

use super::facts::Facts;
use super::terminal::{Event, Terminal};
use super::{GivenAnswer, POLL_INTERVAL};

/// Prints all facts and waits for a line. Only the word `yes` is one.
pub(super) fn ask(
    terminal: &mut Terminal,
    facts: &Facts,
    until: Instant,
    waiting: Waiting<'_>,
) -> std::io::Result<GivenAnswer> {
    let mut text = "\nshellgate: may this run?\n".to_owned();
    for line in facts.lines(terminal.size().columns) {
        text.push_str(&line);
        text.push('\n');
    }
    text.push_str("Type `yes` to run it, this once. Anything else is a no: ");
    // What was typed before the question was there is no answer to it.
    terminal.discard_input();
    terminal.print(&text)?;
    match line(terminal, until, waiting)? {
        Ok(line) if line.trim_ascii() == b"yes" => Ok(GivenAnswer::Here(Answer::Yes(Choice::Once))),
        Ok(_) => Ok(GivenAnswer::Here(Answer::No(None))),
        Err(said) => {
            // Nobody has pressed Enter behind the question.
            terminal.print("\n")?;
            Ok(said)
        }
    }
}

/// What is typed up to Enter, or what comes before.
fn line(
    terminal: &mut Terminal,
    until: Instant,
    waiting: Waiting<'_>,
) -> std::io::Result<Result<Vec<u8>, GivenAnswer>> {
    let mut typed = Vec::new();
    while !typed.contains(&b'\n') {
        if let Some(answer) = waiting.poll() {
            return Ok(Err(GivenAnswer::Elsewhere(answer)));
        }
        let left = until.saturating_duration_since(Instant::now());
        if left == Duration::ZERO {
            return Ok(Err(GivenAnswer::Here(Answer::TimedOut)));
        }
        match terminal.wait(POLL_INTERVAL.min(left))? {
            Event::Input(bytes) => typed.extend(bytes),
            Event::HungUp | Event::Signal(Signal::Interrupt) => {
                return Ok(Err(GivenAnswer::Here(Answer::No(None))));
            }
            Event::Signal(signal) => terminal.let_signal_act(signal)?,
            Event::Nothing => {}
        }
    }
    Ok(Ok(typed))
}
