//! Faults in the MCP server. `strace` counts the calls of each thread by themselves, so a fault may hit several threads once.

use std::io::Write as _;

use serde_json::{Value, json};

use super::trace::{attach, detach};
use super::{Verdict, made, try_all};
use crate::mcp::site::Site;
use crate::mcp::talk::Talk;
use crate::support::Place;

fn arguments() -> Value {
    json!({"command": "echo out; echo x > made"})
}

/// `strace ARGUMENTS` for all threads of a server.
pub(super) fn traced_server<'a>(strace: &[&'a str]) -> Vec<&'a str> {
    ["--follow-forks"].into_iter().chain(strace.iter().copied()).collect()
}

fn came(place: &Place, answer: Option<&Value>) -> Result<Verdict, String> {
    let report = answer.map(|answer| &answer["result"]["structuredContent"]);
    let is_right = report
        .is_some_and(|report| report["status"] == "completed" && report["stdout"] == "out\n" && made(place));
    answered(answer, is_right)
}

/// The verdict on the answer to a call: it is right, or it tells an error. `None`: the connection was closed without one.
pub(super) fn answered(answer: Option<&Value>, is_right: bool) -> Result<Verdict, String> {
    let Some(answer) = answer else { return Ok(Verdict::HonestError) };
    match answer["error"]["code"].is_i64() && !is_right {
        true => Ok(Verdict::HonestError),
        false => told(&answer["result"]["structuredContent"], is_right),
    }
}

/// The verdict on a report: it is right, or it tells an error.
pub(super) fn told(report: &Value, is_right: bool) -> Result<Verdict, String> {
    // The fault may also be one of the command itself, or the answer says that output is missing.
    let is_told = report["error"]["code"].is_string()
        || report["status"] == "failed" && (report["signal"].is_object() || report["exit_code"].is_i64())
        || report["stdout_truncated"] == true;
    match (is_right, is_told) {
        (true, _) => Ok(Verdict::Success),
        (false, true) => Ok(Verdict::HonestError),
        (false, false) => Err(format!("no error is told: {report}")),
    }
}

/// Whether a server that lives after a fault answers its next calls. The first of them may fail honestly: it finds what the
/// fault left, such as a lock that could not be released.
pub(super) fn works(
    place: &Place,
    next: impl Fn() -> Option<Value>,
    is_alive: impl Fn() -> bool,
) -> Result<(), String> {
    let is_right = |answer: &Value| answer["result"]["structuredContent"]["stdout"] == "again\n";
    let mut answer = next();
    if let Some(first) = answer.as_ref().filter(|answer| !is_right(answer)) {
        came(place, Some(first))?;
        answer = next();
    }
    match answer.as_ref().is_some_and(is_right) || answer.is_none() && !is_alive() {
        true => Ok(()),
        false => Err(format!("the server goes on and its next call fails: {answer:?}")),
    }
}

/// Whether a process that closes its connections ends soon.
pub(super) fn ends(server: &mut std::process::Child) -> bool {
    let server = std::cell::RefCell::new(server);
    crate::support::wait_until("the server ends", || server.borrow_mut().try_wait().unwrap().is_some());
    true
}

#[test]
fn faults_in_a_call_over_standard_input() {
    try_all("MCP call", "server", |place, strace| {
        let mut talk = Talk::new(place);
        let strace = attach(place, u64::from(talk.server.id()), &traced_server(strace));
        let answer = talk.try_call(arguments());
        detach(strace);
        let verdict = came(place, answer.as_ref())?;
        let talk = std::cell::RefCell::new(talk);
        let next = || talk.borrow_mut().try_call(json!({"command": "echo again"}));
        works(place, next, || !ends(&mut talk.borrow_mut().server))?;
        talk.into_inner().leave();
        Ok(verdict)
    });
}

/// The rest of a message would be read as another one, and its request would wait for ever.
#[test]
fn an_input_that_fails_within_a_message_ends_the_connection() {
    let place = Place::new(None);
    let mut talk = Talk::new(&place);
    let params = json!({"name": "shell", "arguments": arguments()});
    let request = json!({"jsonrpc": "2.0", "id": 7, "method": "tools/call", "params": params}).to_string();
    let (first, rest) = request.split_at(request.len() / 2);
    let mut to = talk.to.take().unwrap();
    to.write_all(first.as_bytes()).unwrap();
    crate::support::wait_until("the first half is read", || rustix::io::ioctl_fionread(&to).unwrap() == 0);
    let fault = ["-o", "/dev/null", "-e", "inject=read:error=EIO:when=1"];
    let strace = attach(&place, u64::from(talk.server.id()), &fault);
    // The server may have ended before all of it is written.
    let _ = to.write_all(rest.as_bytes());
    let _ = to.write_all(b"\n");
    let told = talk.rest().concat();
    assert!(!told.contains(r#""result""#), "{told}");
    detach(strace);
    assert!(ends(&mut talk.server));
    assert!(!made(&place));
}

#[test]
fn faults_in_a_call_over_http() {
    try_all("HTTP call", "server", |place, strace| {
        let site = Site::new(place, &[]);
        let strace = attach(place, u64::from(site.server.id()), &traced_server(strace));
        let call = |site: &Site, arguments: Value| site.try_call(&site.key, "shell", arguments);
        let answer = call(&site, arguments());
        detach(strace);
        let verdict = came(place, answer.as_ref())?;
        let site = std::cell::RefCell::new(site);
        let next = || call(&site.borrow(), json!({"command": "echo again"}));
        works(place, next, || !ends(&mut site.borrow_mut().server))?;
        drop(site);
        Ok(verdict)
    });
}

/// What a thread has done reaches the thread that answers by a `write` to an `eventfd`, which no fault may swallow.
#[test]
fn a_server_that_can_t_wake_itself_at_once_answers() {
    // A short text is judged by the thread that answers.
    let command = format!("echo out; echo x > made # {}", "long ".repeat(210));
    for nth in 1..=8 {
        let place = Place::new(None);
        let mut talk = Talk::new(&place);
        let fault = format!("inject=write:error=EIO:when={nth}");
        let fault = traced_server(&["-o", "/dev/null", "-e", &fault]);
        let strace = attach(&place, u64::from(talk.server.id()), &fault);
        let answer = talk.try_call(json!({"command": command}));
        detach(strace);
        came(&place, answer.as_ref()).unwrap();
    }
}

/// The server prunes when it starts: output beyond `keep_mb` goes.
#[test]
fn faults_while_it_starts_and_prunes() {
    try_all("prune", "server", |place, strace| {
        let config = place.write("keep.toml", "[journal]\nkeep_mb = 1\n");
        let flags = ["--config", config.to_str().unwrap()];
        let big = place.call(&json!({"command": "head -c 1200000 /dev/zero"}));
        place.call(&json!({"command": "echo kept"}));
        let file = std::path::PathBuf::from(big["stdout_file"].as_str().unwrap());
        let mut talk =
            Talk::with(super::trace::traced(place, &traced_server(strace), &["mcp", flags[0], flags[1]]));
        let Some(answer) = talk.try_begin().and_then(|()| talk.try_call(arguments())) else {
            drop(talk);
            return Ok(Verdict::HonestError);
        };
        let verdict = came(place, Some(&answer))?;
        talk.leave();
        // Pruning that failed is tried again by the next server.
        if file.exists() {
            let talk = Talk::begin(place.shellgate(["mcp", flags[0], flags[1]]), &json!({}));
            crate::support::wait_until("it prunes", || !file.exists());
            talk.leave();
        }
        Ok(verdict)
    });
}
