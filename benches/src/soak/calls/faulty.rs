//! Calls in whose front end a system call fails.

use std::time::Duration;

use serde_json::json;

use super::super::callers::{Caller, finish};
use super::super::faults;
use super::super::judging::{Expected, Verdict};
use super::untimed;

/// The highest number of the failing system call, of all with the same name.
const LAST_CALL: u64 = 25;

/// `shellgate run` or `call` under `strace`.
pub(super) fn call(caller: &mut Caller<'_>) -> (Verdict, Option<Duration>) {
    untimed(|| {
        let (code, mark) = (caller.code(), caller.mark());
        let (command, stdout) = mark.command(code);
        let fault = faults::random(&mut caller.dice, LAST_CALL);
        let is_run = caller.dice.below(2) == 0;
        let arguments = json!({"command": command}).to_string();
        let words = match is_run {
            true => caller.words("run", &["--core", "*", &command]),
            false => caller.words("call", &["--core", "*", &arguments]),
        };
        let strace = faults::traced(&caller.soak.place, &fault, &words);
        let started = caller.soak.watchdog.start(strace);
        let ended = finish(started.map_err(|error| Verdict::Wrong(format!("strace: {error}")))?)?;
        let expected = Expected { mark: &mark, code, stdout: stdout.as_bytes() };
        let verdict = match is_run {
            true => expected.run(&caller.soak.marks, &ended),
            false => expected.call(&caller.soak.marks, &ended),
        };
        Ok(match verdict {
            Verdict::Wrong(why) => Verdict::Wrong(format!("{fault}: {why}")),
            Verdict::Honest(_) => Verdict::Honest("a call with a fault".to_owned()),
            Verdict::Right => Verdict::Right,
        })
    })
}
