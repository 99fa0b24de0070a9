//! Faults in the MCP server while it refuses, asks, starts terminals, hands jobs over, stops them, and is used for the first time.

use std::os::unix::process::ExitStatusExt as _;

use serde_json::{Value, json};

use super::server::{answered, ends, traced_server, works};
use super::trace::{attach, bounded, detach};
use super::{Verdict, made, try_all};
use crate::mcp::talk::Talk;
use crate::support::{Place, processes_with, wait_until};

/// Tries the faults of a server while `talk` talks with it. `flags` are those of `shellgate mcp`.
fn try_talk(
    scenario: &str,
    flags: &[&str],
    talk: impl Fn(&Place, &mut Talk) -> Result<Verdict, String> + Sync,
) {
    try_all(scenario, "server", |place, strace| {
        let words: Vec<&str> = ["mcp"].iter().chain(flags).copied().collect();
        let mut server = Talk::begin(place.shellgate(&words), &json!({}));
        let strace = attach(place, u64::from(server.server.id()), &traced_server(strace));
        let verdict = talk(place, &mut server);
        detach(strace);
        let verdict = verdict?;
        let server = std::cell::RefCell::new(server);
        let next = || server.borrow_mut().try_call(json!({"command": "echo again"}));
        works(place, next, || !ends(&mut server.borrow_mut().server))?;
        let left = server.into_inner().leave();
        match left.success() || left.signal() == Some(9) || verdict == Verdict::HonestError {
            true => Ok(verdict),
            false => Err(format!("the server ends with {left:?}")),
        }
    });
}

/// Calls a tool for jobs. `None`: the server has closed its output before it answered.
fn job_tool(talk: &mut Talk, tool: &str, arguments: Value) -> Option<Value> {
    talk.try_ask("tools/call", json!({"name": tool, "arguments": arguments}))
}

#[test]
fn faults_in_a_server_that_refuses() {
    try_talk("refused call", &["--exclude", "touch"], |place, talk| {
        let answer = talk.try_call(json!({"command": "touch made"}));
        if made(place) {
            return Err(format!("it ran: {answer:?}"));
        }
        let code = answer.as_ref().map(|answer| &answer["result"]["structuredContent"]["error"]["code"]);
        match code.is_some_and(|code| code == "denied_by_policy") {
            true => Ok(Verdict::Success),
            false => answered(answer.as_ref(), false),
        }
    });
}

#[test]
fn faults_in_a_server_that_runs_a_terminal() {
    try_talk("pty", &[], |place, talk| {
        let answer = talk.try_call(json!({"command": "echo out; echo x > made", "pty": true}));
        let report = answer.as_ref().map(|answer| &answer["result"]["structuredContent"]);
        let is_right = report.is_some_and(|report| {
            report["status"] == "completed" && report["stdout"] == "out\n" && made(place)
        });
        answered(answer.as_ref(), is_right)
    });
}

/// The answer comes from another terminal.
#[test]
fn faults_in_a_server_that_asks() {
    try_talk("question answered elsewhere", &["--approve", "ask", "--allow", "echo *"], |place, talk| {
        let request = talk.call(json!({"command": "touch made; echo out"}));
        let talk = std::cell::RefCell::new(talk);
        wait_until("it asks, answers or has ended", || {
            let mut talk = talk.borrow_mut();
            talk.has_answer(request)
                || talk.server.try_wait().unwrap().is_some()
                || !super::questions::waiting(place).is_empty()
        });
        for number in super::questions::waiting(place) {
            bounded(place, &["approvals", "approve", &number]);
        }
        let answer = talk.into_inner().try_answer(request);
        let report = answer.as_ref().map(|answer| &answer["result"]["structuredContent"]);
        let is_right = report.is_some_and(|report| {
            report["status"] == "completed" && report["stdout"] == "out\n" && made(place)
        });
        answered(answer.as_ref(), is_right)
    });
}

/// The job can't exit with 0, and no answer says that it did.
#[test]
fn faults_in_a_server_that_hands_a_job_over() {
    try_talk("job handed over", &[], |place, talk| {
        let command = "echo out; until [ -e go ]; do sleep 0.01; done; echo x > made; exit 7";
        let answer = talk.try_call(json!({"command": command, "wait_ms": 50}));
        let running = answer.as_ref().map(|answer| answer["result"]["structuredContent"].clone());
        place.write("go", "");
        let Some(job) = running.as_ref().and_then(|report| report["job"].as_str()) else {
            return answered(answer.as_ref(), false);
        };
        let waited = job_tool(talk, "shell_wait", json!({"job": job}));
        let report = waited.as_ref().map(|waited| &waited["result"]["structuredContent"]);
        if report.is_some_and(|report| report["exit_code"] == 0 || report["status"] == "completed") {
            return Err(format!("a job that can't exit with 0 is said to have done so: {waited:?}"));
        }
        let is_right = report.is_some_and(|report| report["exit_code"] == 7 && report["stdout"] == "out\n");
        match is_right && made(place) {
            true => Ok(Verdict::Success),
            false => {
                // The one who was told of an error asks elsewhere.
                let elsewhere = bounded(place, &["wait", job]);
                match elsewhere.status.code() {
                    Some(7) => answered(waited.as_ref(), false),
                    _ => Err(format!("its end isn't known: {elsewhere:?}, {waited:?}")),
                }
            }
        }
    });
}

#[test]
fn faults_in_a_server_that_stops_a_job() {
    try_talk("stop", &[], |place, talk| {
        let mark = crate::support::mark();
        let answer = talk.try_call(json!({"command": format!("exec sleep {mark}"), "background": true}));
        let report = answer.as_ref().map(|answer| answer["result"]["structuredContent"].clone());
        let Some(job) = report.as_ref().and_then(|report| report["job"].as_str()) else {
            return answered(answer.as_ref(), false);
        };
        let stopped = job_tool(talk, "shell_stop", json!({"job": job}));
        let said = stopped
            .as_ref()
            .is_some_and(|stopped| stopped["result"]["structuredContent"]["status"] == "canceled");
        let is_alive = !processes_with(&mark).is_empty();
        if said && is_alive {
            return Err(format!("it is said to be stopped: {stopped:?}"));
        }
        if is_alive && !bounded(place, &["stop", job]).status.success() {
            return Err(format!("it can't be stopped afterwards: {stopped:?}"));
        }
        answered(stopped.as_ref(), said)
    });
}

#[test]
fn faults_in_a_server_that_is_used_for_the_first_time() {
    try_all("first use", "server", |place, strace| {
        let command = super::trace::traced(place, &traced_server(strace), &["mcp"]);
        let mut talk = Talk::with(command);
        let answer =
            talk.try_begin().and_then(|()| talk.try_call(json!({"command": "echo out; echo x > made"})));
        let report = answer.as_ref().map(|answer| &answer["result"]["structuredContent"]);
        let is_right = report.is_some_and(|report| {
            report["status"] == "completed" && report["stdout"] == "out\n" && made(place)
        });
        let verdict = answered(answer.as_ref(), is_right);
        talk.leave();
        verdict
    });
}
