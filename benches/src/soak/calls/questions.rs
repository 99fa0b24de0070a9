//! A question that another process answers.

use std::time::{Duration, Instant};

use serde_json::Value;

use super::super::callers::{Caller, finish};
use super::super::judging::{Expected, Verdict, honest, honest_run, told};
use super::super::marks::Mark;
use super::super::watchdog::Running;
use super::untimed;

/// How long to look for a question.
const ASK_TIMEOUT: Duration = Duration::from_secs(20);
/// How often a question is answered, if the process that answers is disturbed.
const TRIES: usize = 4;

/// A command that needs approval, and gets it or not.
pub(super) fn question(caller: &mut Caller<'_>) -> (Verdict, Option<Duration>) {
    untimed(|| {
        let (code, mark, is_yes) = (caller.code(), caller.mark(), caller.dice.below(2) == 0);
        let (command, stdout) = mark.command(code);
        let flags = ["--default", "ask", "--approve", "ask", "--ask", "queue", &command];
        let mut asker = caller.start(&caller.words("run", &flags))?;
        let number = find(caller, &mark, &mut asker);
        let answered = number.map(|number| answer(caller, &number, is_yes));
        let ended = finish(asker)?;
        let expected = Expected { mark: &mark, code, stdout: stdout.as_bytes() };
        match answered {
            // Without an answer the command must not run.
            None => {
                caller.soak.marks.say_unrun(&mark, "its question was not answered");
                Ok(honest(&ended))
            }
            Some(Err(verdict)) => Ok(verdict),
            Some(Ok(())) if is_yes => Ok(expected.run(&caller.soak.marks, &ended)),
            Some(Ok(())) => {
                caller.soak.marks.say_unrun(&mark, "its question was answered with no");
                let is_told = String::from_utf8_lossy(&ended.output.stderr).contains("denied_by_user");
                match ended.output.status.code() {
                    Some(125) if is_told => Ok(Verdict::Right),
                    Some(0) => Err(Verdict::Wrong(format!("denied, and ran: {}", told(&ended)))),
                    _ => Ok(honest_run(&caller.soak.marks, &mark, &ended)),
                }
            }
        }
    })
}

/// The number of the question about a command. `None`: the asker has ended, or no question is found in time.
fn find(caller: &Caller<'_>, mark: &Mark, asker: &mut Running<'_>) -> Option<String> {
    let until = Instant::now() + ASK_TIMEOUT;
    while Instant::now() < until && !asker.has_ended() {
        std::thread::sleep(Duration::from_millis(100));
        let list = caller.plainly(&["approvals", "list", "--json"]).ok()?;
        let list: Value = serde_json::from_slice(&list.output.stdout).unwrap_or_default();
        let is_it = |question: &&Value| {
            question["command"].as_str().is_some_and(|command| command.contains(mark.text()))
        };
        if let Some(question) = list.as_array().into_iter().flatten().find(is_it) {
            return Some(question["id"].to_string());
        }
    }
    None
}

/// Answers a question. An answer that was given by a disturbed process counts or can be given again.
fn answer(caller: &Caller<'_>, number: &str, is_yes: bool) -> Result<(), Verdict> {
    let word = if is_yes { "approve" } else { "deny" };
    let mut last = Verdict::Right;
    for _ in 0..TRIES {
        let ended = caller.plainly(&["approvals", word, number])?;
        match ended.output.status.code() {
            Some(0 | 6) => return Ok(()),
            _ => last = honest(&ended),
        }
        // The asker has gone: the question was withdrawn.
        if ended.output.status.code() == Some(4) {
            break;
        }
    }
    Err(last)
}
