//! Faults in the front end: its own system calls, not those of the keeper that it starts.

use std::process::Output;

use super::trace::{bounded, hangs, traced};
use super::{Verdict, id_of, made, right_or_honest, stdout, try_all};
use crate::support::{Place, processes_with, wait_until};

/// Whether the state folder has a record already.
#[derive(Clone, Copy, PartialEq)]
enum Record {
    New,
    Used,
}

/// Tries the faults of `shellgate WORDS`, which went well if `is_right`.
fn try_words(name: &str, record: Record, words: &[&str], is_right: fn(&Place, &Output) -> bool) {
    try_all(name, "front end", |place, strace| {
        if record == Record::Used {
            place.output(["call", r#"{"command": "echo before"}"#]);
        }
        let output = traced(place, strace, words).output().unwrap();
        checked(strace, &output, is_right(place, &output))
    });
}

fn checked(strace: &[&str], output: &Output, is_right: bool) -> Result<Verdict, String> {
    // A killed process and a hanging one end alike.
    if hangs(output) && !strace.concat().contains("KILL") {
        return Err("it hangs".to_owned());
    }
    right_or_honest(is_right, output)
}

#[test]
fn faults_in_the_first_call() {
    let words = ["call", r#"{"command": "echo out; echo x > made"}"#];
    try_words("first use", Record::New, &words, |place, output| {
        stdout(output).contains(r#""stdout":"out\n""#) && made(place)
    });
}

#[test]
fn faults_in_run() {
    try_words("call", Record::Used, &["run", "echo out; echo x > made; exit 7"], |place, output| {
        stdout(output) == "out\n" && output.status.code() == Some(7) && made(place)
    });
}

#[test]
fn faults_in_a_refused_run() {
    let words = ["run", "--exclude", "touch", "touch made"];
    try_words("refused call", Record::Used, &words, |place, output| {
        output.status.code() == Some(125) && !made(place)
    });
}

#[test]
fn faults_in_a_call_with_a_terminal() {
    let words = ["call", r#"{"command": "echo out; echo x > made", "pty": true}"#];
    try_words("pty", Record::Used, &words, |place, output| stdout(output).contains("out") && made(place));
}

#[test]
fn faults_in_history() {
    try_words("history", Record::Used, &["history", "--json"], |_, output| {
        stdout(output).contains("echo before") && output.status.success()
    });
}

#[test]
fn faults_in_jobs() {
    try_all("jobs", "front end", |place, strace| {
        let (id, _) = background(place);
        let output = traced(place, strace, &["jobs", "--json"]).output().unwrap();
        if output.status.success() && !stdout(&output).contains(&id) {
            return Err(format!("a job that runs isn't told: {output:?}"));
        }
        checked(strace, &output, output.status.success())
    });
}

#[test]
fn faults_in_verifying() {
    try_words("verify", Record::Used, &["audit", "verify"], |_, output| {
        stdout(output).contains("intact") && output.status.success()
    });
}

/// What is said to be forgotten is in no answer any more.
#[test]
fn faults_in_forgetting() {
    try_all("forget", "front end", |place, strace| {
        let answer = place.output(["call", r#"{"command": "echo very-secret"}"#]);
        let id = id_of(&answer).unwrap();
        let output = traced(place, strace, &["history", "forget", &id]).output().unwrap();
        let said = output.status.success() && stdout(&output).contains("forgot");
        let is_known = stdout(&place.output(["history", "--json"])).contains("very-secret");
        if said && is_known {
            return Err(format!("it is said to be forgotten: {output:?}"));
        }
        let came = checked(strace, &output, said)?;
        // Who was told of an error tries again. The first try may have counted, except for the output.
        let again = if came == Verdict::HonestError {
            bounded(place, &["history", "forget", &id]).status.code()
        } else {
            Some(0)
        };
        if !matches!((is_known, again), (_, Some(0)) | (false, Some(4))) {
            return Err(format!("it can't be forgotten afterwards: {again:?}"));
        }
        let spooled = std::fs::read_dir(place.state().join("spool")).unwrap().flatten();
        let is_its = |entry: &std::fs::DirEntry| entry.file_name().to_string_lossy().starts_with(&id);
        match spooled.filter(is_its).count() {
            0 => Ok(came),
            _ => Err(format!("its output is left: {output:?}")),
        }
    });
}

/// What is said to be stopped has ended.
#[test]
fn faults_in_stopping() {
    try_all("stop", "front end", |place, strace| {
        let (id, mark) = background(place);
        let output = traced(place, strace, &["stop", &id]).output().unwrap();
        let is_alive = !processes_with(&mark).is_empty();
        if output.status.success() && is_alive {
            return Err(format!("it is said to be stopped: {output:?}"));
        }
        checked(strace, &output, output.status.success() && !is_alive)
    });
}

/// Starts a job. Returns its id and the text in the command line of its process.
fn background(place: &Place) -> (String, String) {
    let mark = crate::support::mark();
    let call = serde_json::json!({"command": format!("exec sleep {mark}"), "background": true}).to_string();
    let id = id_of(&place.output(["call", &call])).unwrap();
    wait_until("it runs", || !processes_with(&mark).is_empty());
    (id, mark)
}

/// A command that goes on until the file `go` is there.
const HANDED_OVER: &str =
    r#"{"command": "echo out; until [ -e go ]; do sleep 0.01; done; echo x > made; exit 7", "wait_ms": 50}"#;

#[test]
fn faults_in_a_call_whose_command_goes_on() {
    try_all("job handed over", "front end", |place, strace| {
        let output = traced(place, strace, &["call", HANDED_OVER]).output().unwrap();
        let id = id_of(&output).filter(|_| stdout(&output).contains(r#""status":"running""#));
        place.write("go", "");
        let Some(id) = id else { return checked(strace, &output, false) };
        let waited = bounded(place, &["wait", &id]);
        match waited.status.code() == Some(7) && made(place) {
            true => Ok(Verdict::Success),
            false => Err(format!("{id} was handed over, and its end isn't known: {waited:?}")),
        }
    });
}

/// The job can't exit with 0, and `wait` doesn't say that it did.
#[test]
fn faults_in_waiting_for_a_job() {
    try_all("job handed over", "front end that waits", |place, strace| {
        let id = id_of(&place.output(["call", HANDED_OVER])).unwrap();
        place.write("go", "");
        let waited = traced(place, strace, &["wait", &id]).output().unwrap();
        if waited.status.success() {
            return Err(format!("a job that can't exit with 0 is said to have done so: {waited:?}"));
        }
        checked(strace, &waited, waited.status.code() == Some(7) && made(place))
    });
}
