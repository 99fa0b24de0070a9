//! Calls that are answered when the command has ended.

use std::time::Duration;

use serde_json::json;

use super::super::callers::Caller;
use super::super::judging::{Expected, Verdict, answer_of, error_of, honest_run, told};
use super::{is_alive, untimed};

const MEGABYTE: usize = 1_000_000;

/// `shellgate run`, timed.
pub(super) fn run(caller: &mut Caller<'_>) -> (Verdict, Option<Duration>) {
    let (code, mark) = (caller.code(), caller.mark());
    let (command, stdout) = mark.command(code);
    match caller.shellgate(&caller.words("run", &["--core", "*", &command])) {
        Ok(ended) => {
            let expected = Expected { mark: &mark, code, stdout: stdout.as_bytes() };
            (expected.run(&caller.soak.marks, &ended), Some(ended.took))
        }
        Err(verdict) => (verdict, None),
    }
}

/// `shellgate call`, timed.
pub(super) fn call(caller: &mut Caller<'_>) -> (Verdict, Option<Duration>) {
    let (code, mark) = (caller.code(), caller.mark());
    let (command, stdout) = mark.command(code);
    let arguments = json!({"command": command}).to_string();
    match caller.shellgate(&caller.words("call", &["--core", "*", &arguments])) {
        Ok(ended) => {
            let expected = Expected { mark: &mark, code, stdout: stdout.as_bytes() };
            (expected.call(&caller.soak.marks, &ended), Some(ended.took))
        }
        Err(verdict) => (verdict, None),
    }
}

/// A command whose program is excluded. It never runs.
pub(super) fn refused(caller: &mut Caller<'_>) -> (Verdict, Option<Duration>) {
    untimed(|| {
        let mark = caller.mark();
        let command = format!("touch effects/refused-{0}; {1}", mark.text(), mark.effect());
        caller.soak.marks.say_unrun(&mark, "its program is excluded");
        let flags = ["--core", "*", "--exclude", "touch"];
        let verdict = if caller.dice.below(2) == 0 {
            let ended = caller.shellgate(&caller.words("run", &[&flags[..], &[&command]].concat()))?;
            let stderr = String::from_utf8_lossy(&ended.output.stderr);
            match ended.output.status.code() == Some(125) && stderr.starts_with("denied_by_policy") {
                true => Verdict::Right,
                false if ended.output.status.success() => {
                    Verdict::Wrong(format!("not refused: {}", told(&ended)))
                }
                false => honest_run(&caller.soak.marks, &mark, &ended),
            }
        } else {
            let arguments = json!({"command": command}).to_string();
            let report =
                answer_of(&caller.shellgate(&caller.words("call", &[&flags[..], &[&arguments]].concat()))?)?;
            match error_of(&caller.soak.marks, &mark, &report) {
                Some(code) if code == "denied_by_policy" => Verdict::Right,
                Some(code) => Verdict::Honest(code),
                None => Verdict::Wrong(format!("not refused: {report}")),
            }
        };
        let file = caller.soak.place.effects().join(format!("refused-{}", mark.text()));
        match file.exists() || mark.is_set() {
            true => Err(Verdict::Wrong(format!("{} ran though refused: {verdict:?}", mark.text()))),
            false => Ok(verdict),
        }
    })
}

/// A command that prints a megabyte.
pub(super) fn big(caller: &mut Caller<'_>) -> (Verdict, Option<Duration>) {
    untimed(|| {
        let (code, mark) = (caller.code(), caller.mark());
        let command = format!("{}; head -c {MEGABYTE} /dev/zero | tr '\\0' x; exit {code}", mark.effect());
        let stdout = vec![b'x'; MEGABYTE];
        let expected = Expected { mark: &mark, code, stdout: &stdout };
        if caller.dice.below(2) == 0 {
            let ended = caller.shellgate(&caller.words("run", &["--core", "*", &command]))?;
            return Ok(expected.run(&caller.soak.marks, &ended));
        }
        let arguments = json!({"command": command}).to_string();
        let report = answer_of(&caller.shellgate(&caller.words("call", &["--core", "*", &arguments]))?)?;
        // The answer has a part of it and says so.
        let is_right = report["stdout_bytes"] == MEGABYTE
            && report["stdout_truncated"] == true
            && report["exit_code"] == code
            && report["error"].is_null();
        match is_right && mark.is_set() {
            true => Ok(Verdict::Right),
            false => Ok(expected.report(&caller.soak.marks, &report)),
        }
    })
}

/// A command that is stopped by its time limit.
pub(super) fn timeout(caller: &mut Caller<'_>) -> (Verdict, Option<Duration>) {
    untimed(|| {
        let mark = caller.mark();
        let command = format!("{}; exec sleep {}", mark.effect(), mark.seconds());
        let flags = ["--core", "*", "--timeout", "400ms", &command];
        let ended = caller.shellgate(&caller.words("run", &flags))?;
        let is_told = String::from_utf8_lossy(&ended.output.stderr).contains("timed_out");
        match ended.output.status.code() {
            Some(124) if is_told && is_alive(caller, &mark.seconds()) => {
                Err(Verdict::Wrong(format!("it goes on after its timeout: {}", told(&ended))))
            }
            Some(124) if is_told => Ok(Verdict::Right),
            Some(0) => Err(Verdict::Wrong(format!("it can't have ended: {}", told(&ended)))),
            _ => Ok(honest_run(&caller.soak.marks, &mark, &ended)),
        }
    })
}

/// A command in a terminal.
pub(super) fn terminal(caller: &mut Caller<'_>) -> (Verdict, Option<Duration>) {
    untimed(|| {
        let (code, mark) = (caller.code(), caller.mark());
        let (command, stdout) = mark.command(code);
        let arguments = json!({"command": command, "pty": true}).to_string();
        let ended = caller.shellgate(&caller.words("call", &["--core", "*", &arguments]))?;
        let expected = Expected { mark: &mark, code, stdout: stdout.as_bytes() };
        Ok(expected.call(&caller.soak.marks, &ended))
    })
}
