//! Faults in the front end: its own system calls, not those of the keeper that it starts.

use std::process::Output;

use super::trace::{bounded, hangs, traced};
use super::{Verdict, id_of, made, right_or_honest, stdout, try_all};
use crate::support::Place;

/// Whether the state folder has a record already.
#[derive(Clone, Copy, PartialEq)]
enum Record {
    New,
    Used,
}

/// Tries the faults of `shellgate WORDS`, which went well if `is_right`.
fn try_words(name: &str, record: Record, words: &[&str], is_right: fn(&Place, &Output) -> bool) {
    try_all(name, |place, strace| {
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
    try_words("first call", Record::New, &words, |place, output| {
        stdout(output).contains(r#""stdout":"out\n""#) && made(place)
    });
}

#[test]
fn faults_in_run() {
    try_words("run", Record::Used, &["run", "echo out; echo x > made; exit 7"], |place, output| {
        stdout(output) == "out\n" && output.status.code() == Some(7) && made(place)
    });
}

#[test]
fn faults_in_a_refused_run() {
    let words = ["run", "--exclude", "touch", "touch made"];
    try_words("refused run", Record::Used, &words, |place, output| {
        output.status.code() == Some(125) && !made(place)
    });
}

#[test]
fn faults_in_a_call_with_a_terminal() {
    let words = ["call", r#"{"command": "echo out; echo x > made", "pty": true}"#];
    try_words("run in a terminal", Record::Used, &words, |place, output| {
        stdout(output).contains("out") && made(place)
    });
}

#[test]
fn faults_in_history() {
    try_words("history", Record::Used, &["history", "--json"], |_, output| {
        stdout(output).contains("echo before") && output.status.success()
    });
}

#[test]
fn faults_in_jobs() {
    try_words("jobs", Record::Used, &["jobs", "--json"], |_, output| {
        stdout(output).starts_with(r#"{"jobs":["#) && output.status.success()
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
    try_all("forget", |place, strace| {
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
