//! Calls of the servers' tools.

use std::time::{Duration, Instant};

use serde_json::{Value, json};

use super::super::callers::Caller;
use super::super::http::Site;
use super::super::judging::{Expected, Verdict, error_of};
use super::super::stdio;

/// Calls the caller's own server.
pub(in super::super) fn over_stdio(
    caller: &mut Caller<'_>,
    client: &mut stdio::Client,
) -> (Verdict, Option<Duration>) {
    let (place, is_steady) = (&caller.soak.place, client.is_steady());
    if let Err(why) = client.connect(place) {
        return (of_lost(is_steady, why), None);
    }
    let call = |tool: &str, arguments: Value| client.call(tool, &arguments);
    converse(caller, is_steady, call)
}

/// Calls one of the servers over HTTP.
pub(in super::super) fn over_http(caller: &mut Caller<'_>) -> (Verdict, Option<Duration>) {
    let site: &Site =
        if caller.number.is_multiple_of(2) { &caller.soak.sites.steady } else { &caller.soak.sites.other };
    converse(caller, site.is_steady(), |tool, arguments| site.call(tool, &arguments))
}

/// One call, or a job and its stop. `call` returns the answer, or why there is none.
fn converse(
    caller: &mut Caller<'_>,
    is_steady: bool,
    mut call: impl FnMut(&str, Value) -> Result<Value, String>,
) -> (Verdict, Option<Duration>) {
    let (code, mark) = (caller.code(), caller.mark());
    let marks = &caller.soak.marks;
    match caller.dice.below(10) {
        0 => {
            let command = format!("touch effects/refused-{}; {}", mark.text(), mark.effect());
            marks.say_unrun(&mark, "its program is excluded");
            let verdict = match call("shell", json!({"command": command})).map(report) {
                Err(why) => of_lost(is_steady, why),
                Ok(report) => match error_of(marks, &mark, &report) {
                    Some(error) if error == "denied_by_policy" => Verdict::Right,
                    Some(error) => Verdict::Honest(of_server(is_steady, &error)),
                    None => unreported(is_steady, &report),
                },
            };
            (verdict, None)
        }
        1 => (job(caller, is_steady, call), None),
        _ => {
            let (command, stdout) = mark.command(code);
            let start = Instant::now();
            let answer = call("shell", json!({"command": command})).map(report);
            let took = start.elapsed();
            let verdict = match answer {
                Err(why) => of_lost(is_steady, why),
                Ok(report) if report["code"].is_i64() => unreported(is_steady, &report),
                Ok(report) => {
                    match (Expected { mark: &mark, code, stdout: stdout.as_bytes() }).report(marks, &report) {
                        Verdict::Honest(error) => Verdict::Honest(of_server(is_steady, &error)),
                        verdict => verdict,
                    }
                }
            };
            (verdict, Some(took))
        }
    }
}

/// A job that is started and stopped.
fn job(
    caller: &Caller<'_>,
    is_steady: bool,
    mut call: impl FnMut(&str, Value) -> Result<Value, String>,
) -> Verdict {
    let mark = caller.mark();
    let command = format!("{}; exec sleep {}", mark.effect(), mark.seconds());
    let report = match call("shell", json!({"command": command, "background": true})).map(report) {
        Ok(report) => report,
        Err(why) => return of_lost(is_steady, why),
    };
    let Some(id) = report["job"].as_str() else {
        return match error_of(&caller.soak.marks, &mark, &report) {
            Some(error) => Verdict::Honest(of_server(is_steady, &error)),
            None if report["signal"].is_object() => Verdict::Honest("killed by a signal".to_owned()),
            None => unreported(is_steady, &report),
        };
    };
    match call("shell_stop", json!({"id": id})) {
        Err(why) => {
            // Another process stops it, so that jobs don't pile up.
            drop(caller.plainly(&["stop", "--now", id]));
            of_lost(is_steady, why)
        }
        Ok(answer) if answer["result"]["isError"] == true || answer["error"].is_object() => {
            drop(caller.plainly(&["stop", "--now", id]));
            Verdict::Honest(of_server(is_steady, "shell_stop"))
        }
        Ok(answer) if super::is_alive(caller, &mark.seconds()) => {
            Verdict::Wrong(format!("{id} is said to be stopped: {answer}"))
        }
        Ok(_) => Verdict::Right,
    }
}

/// The facts of an answer, or its error in the protocol.
fn report(mut answer: Value) -> Value {
    let pointers = ["/result/structuredContent", "/error"];
    pointers.iter().find_map(|pointer| Some(answer.pointer_mut(pointer)?.take())).unwrap_or_default()
}

/// The verdict on an answer without facts: an error in the protocol.
fn unreported(is_steady: bool, report: &Value) -> Verdict {
    match report["code"].as_i64() {
        Some(code) if !is_steady => Verdict::Honest(format!("mcp error {code}")),
        _ => Verdict::Wrong(format!("steady {is_steady}, no error is told: {report}")),
    }
}

/// The verdict on a connection without an answer. A server that is never killed has no reason for it.
fn of_lost(is_steady: bool, why: String) -> Verdict {
    match is_steady || why.starts_with("hang") {
        true => Verdict::Wrong(format!("steady {is_steady}: {why}")),
        false => Verdict::Honest(format!("mcp: {why}")),
    }
}

fn of_server(is_steady: bool, error: &str) -> String {
    format!("mcp{}: {error}", if is_steady { ", steady server" } else { "" })
}
