//! A question on a terminal that can only print lines.

use std::time::Duration;

use shellgate::approval::{Answer, Choice};
use shellgate::views::QuestionView;
use shellgate_sandbox::signals::Signal;

use super::terminal::{Event, Terminal};
use super::{AnswerSource, GivenAnswer, POLL_INTERVAL};

/// Prints the question and reads a line. Only the word `yes` approves.
pub(super) fn ask(
    terminal: &mut Terminal,
    view: &QuestionView,
    queue: &impl AnswerSource,
    interrupted: &Answer,
) -> std::io::Result<GivenAnswer> {
    // Keys that were typed before the question are not an answer.
    terminal.discard_input();
    terminal.print("\nshellgate: may this run?\n")?;
    terminal.print_lines(&view.lines(terminal.size().columns))?;
    terminal.print("Type `yes` to run it once. Anything else denies it: ")?;
    match line(terminal, queue, interrupted)? {
        Ok(line) if line.trim_ascii() == b"yes" => Ok(GivenAnswer::Here(Answer::Yes(Choice::Once))),
        Ok(_) => Ok(GivenAnswer::Here(Answer::No(None))),
        Err(said) => {
            // The cursor is still after the question.
            terminal.print("\n")?;
            Ok(said)
        }
    }
}

/// The line that is typed, or the answer that arrives before Enter.
fn line(
    terminal: &mut Terminal,
    queue: &impl AnswerSource,
    interrupted: &Answer,
) -> std::io::Result<Result<Vec<u8>, GivenAnswer>> {
    let mut typed = Vec::new();
    while !typed.contains(&b'\n') {
        if let Some(answer) = queue.recorded_answer() {
            return Ok(Err(GivenAnswer::Elsewhere(answer)));
        }
        let left = queue.time_left();
        if left == Duration::ZERO {
            return Ok(Err(GivenAnswer::Here(Answer::TimedOut)));
        }
        match terminal.wait(POLL_INTERVAL.min(left))? {
            Event::Input(bytes) => typed.extend(bytes),
            Event::HungUp | Event::Signal(Signal::Interrupt) => {
                return Ok(Err(GivenAnswer::Here(interrupted.clone())));
            }
            Event::Signal(signal) => terminal.let_signal_act(signal)?,
            Event::Nothing => {}
        }
    }
    Ok(Ok(typed))
}
