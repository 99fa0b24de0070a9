//! The same question on a terminal that can do nothing but print lines.

use std::time::{Duration, Instant};

use shellgate::approval::{Answer, Choice, Waiting};
use shellgate_sandbox::signals::Signal;

use super::facts::Facts;
use super::terminal::{Event, Terminal};
use super::{LOOK, Said};

/// Prints all facts and waits for a line. Only the word `yes` is one.
pub(super) fn ask(
    terminal: &mut Terminal,
    facts: &Facts,
    until: Instant,
    waiting: Waiting<'_>,
) -> std::io::Result<Said> {
    let mut text = "\nshellgate: may this run?\n".to_owned();
    for line in facts.lines(terminal.size().columns) {
        text.push_str(&line);
        text.push('\n');
    }
    text.push_str("Type `yes` to run it, this once. Anything else is a no: ");
    // What was typed before the question was there is no answer to it.
    terminal.forget_input();
    terminal.say(&text)?;
    match line(terminal, until, waiting)? {
        Ok(line) if line.trim_ascii() == b"yes" => Ok(Said::Here(Answer::Yes(Choice::Once))),
        Ok(_) => Ok(Said::Here(Answer::No(None))),
        Err(said) => {
            // Nobody has pressed Enter behind the question.
            terminal.say("\n")?;
            Ok(said)
        }
    }
}

/// What is typed up to Enter, or what comes before.
fn line(
    terminal: &mut Terminal,
    until: Instant,
    waiting: Waiting<'_>,
) -> std::io::Result<Result<Vec<u8>, Said>> {
    let mut typed = Vec::new();
    while !typed.contains(&b'\n') {
        if let Some(answer) = waiting.poll() {
            return Ok(Err(Said::Elsewhere(answer)));
        }
        let left = until.saturating_duration_since(Instant::now());
        if left == Duration::ZERO {
            return Ok(Err(Said::Here(Answer::TimedOut)));
        }
        match terminal.wait(LOOK.min(left))? {
            Event::Input(bytes) => typed.extend(bytes),
            Event::Gone | Event::Signal(Signal::Interrupt) => return Ok(Err(Said::Here(Answer::No(None)))),
            Event::Signal(signal) => {
                terminal.suffer(signal);
                terminal.listen_again()?;
            }
            Event::Nothing => {}
        }
    }
    Ok(Ok(typed))
}
