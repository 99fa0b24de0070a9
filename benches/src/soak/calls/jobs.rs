//! Jobs: started, then waited for or stopped by other processes.

use std::time::{Duration, Instant};

use serde_json::{Value, json};

use super::super::callers::Caller;
use super::super::judging::{Expected, Verdict, answer_of, error_of, honest, honest_run, told};
use super::super::marks::Mark;
use super::{is_alive, untimed};

/// The exit code of jobs that end by themselves. It isn't 0, so that success can't be taken for it.
const CODE: i32 = 7;
/// How long the processes of a job may live on whose keeper was killed.
const LOST_TIMEOUT: Duration = Duration::from_secs(5);

/// A background start, a wait for its end and a look at its output.
pub(super) fn waited(caller: &mut Caller<'_>) -> (Verdict, Option<Duration>) {
    let arguments = |command: String| json!({"command": command, "background": true});
    untimed(|| wait_for(caller, arguments))
}

/// A call whose command goes on after its answer, a wait for its end and a look at its output.
pub(super) fn handed_over(caller: &mut Caller<'_>) -> (Verdict, Option<Duration>) {
    let arguments = |command: String| json!({"command": command, "wait_ms": 50});
    untimed(|| wait_for(caller, arguments))
}

fn wait_for(caller: &mut Caller<'_>, arguments: impl Fn(String) -> Value) -> Result<Verdict, Verdict> {
    let (mark, pause) = (caller.mark(), caller.dice.below(1200));
    let (effect, stdout) = (mark.effect(), format!("out {}\n", mark.text()));
    let command = format!(
        "{effect}; echo out {}; sleep {}.{:03}; exit {CODE}",
        mark.text(),
        pause / 1000,
        pause % 1000
    );
    let arguments = arguments(command).to_string();
    let report = answer_of(&caller.shellgate(&caller.words("call", &["--core", "*", &arguments]))?)?;
    let expected = Expected { mark: &mark, code: CODE, stdout: stdout.as_bytes() };
    let Some(id) = running_id(&report) else { return Ok(expected.report(&caller.soak.marks, &report)) };
    let ended = caller.plainly(&["wait", id, "--timeout", "45s"])?;
    match ended.output.status.code() {
        Some(CODE) if mark.is_set() => (),
        Some(0..10) if ended.output.status.code() != Some(4) => {
            return Err(Verdict::Wrong(format!(
                "expected exit code {CODE} of `wait {id}`: {}",
                told(&ended)
            )));
        }
        Some(124) => return Err(Verdict::Wrong(format!("the job {id} never ends: {}", told(&ended)))),
        _ => return Err(honest_run(&caller.soak.marks, &mark, &ended)),
    }
    let logs = caller.plainly(&["logs", id])?;
    let is_told = !logs.output.stderr.is_empty();
    match logs.output.status.success() {
        true if logs.output.stdout == stdout.as_bytes() => Ok(Verdict::Right),
        true if !is_told => Err(Verdict::Wrong(format!("the output of {id} is missing: {}", told(&logs)))),
        _ => Ok(honest(&logs)),
    }
}

/// A background start and a stop.
pub(super) fn stopped(caller: &mut Caller<'_>) -> (Verdict, Option<Duration>) {
    untimed(|| {
        let mark = caller.mark();
        let command = format!("{}; exec sleep {}", mark.effect(), mark.seconds());
        let arguments = json!({"command": command, "background": true}).to_string();
        let report = answer_of(&caller.shellgate(&caller.words("call", &["--core", "*", &arguments]))?)?;
        let Some(id) = running_id(&report) else {
            return match error_of(&caller.soak.marks, &mark, &report) {
                Some(error) => Ok(Verdict::Honest(error)),
                None if report["signal"].is_object() => Ok(Verdict::Honest("killed by a signal".to_owned())),
                None => Err(Verdict::Wrong(format!("the job can't have ended: {report}"))),
            };
        };
        let mut first = None;
        // One that can't be stopped because a process was disturbed is stopped by another try.
        for now in [None, Some("--now"), Some("--now"), Some("--now")] {
            let words: Vec<&str> = ["stop", id].into_iter().chain(now).collect();
            let ended = caller.plainly(&words)?;
            let verdict = match ended.output.status.code() {
                Some(0) if is_alive(caller, &mark.seconds()) => {
                    return Err(Verdict::Wrong(format!("{id} is said to be stopped: {}", told(&ended))));
                }
                Some(0) => Verdict::Right,
                _ => honest(&ended),
            };
            // The exit code 4 says that it doesn't run any more.
            let is_over = matches!(ended.output.status.code(), Some(0 | 4));
            let first = first.get_or_insert(verdict);
            if is_over {
                let first = std::mem::replace(first, Verdict::Right);
                return ends(caller, &mark).map(|()| first);
            }
        }
        Err(Verdict::Wrong(format!("{id} can't be stopped: {first:?}")))
    })
}

/// Whether the processes of a job that is said not to run end.
fn ends(caller: &Caller<'_>, mark: &Mark) -> Result<(), Verdict> {
    let until = Instant::now() + LOST_TIMEOUT;
    while is_alive(caller, &mark.seconds()) {
        if Instant::now() > until {
            return Err(Verdict::Wrong(format!("{} is said not to run, and runs", mark.text())));
        }
        std::thread::sleep(Duration::from_millis(50));
    }
    Ok(())
}

/// The id in the answer of a call whose command goes on.
fn running_id(report: &Value) -> Option<&str> {
    report["job"].as_str().filter(|_| report["status"] == "running")
}
