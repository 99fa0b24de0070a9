//! Faults in the front end: its own system calls, not those of the keeper that it starts.

use std::process::{Command, Output};

use super::{Tally, Verdict, afterwards, honest, inject};
use crate::support::{Place, shellgate};

/// A command line, and what makes its result right.
struct Scenario {
    name: &'static str,
    words: &'static [&'static str],
    /// Whether the state folder has a record already.
    used: bool,
    /// Whether the result is that of a run without faults.
    is_right: fn(&Place, &Output) -> bool,
}

fn stdout(output: &Output) -> String {
    String::from_utf8_lossy(&output.stdout).into_owned()
}

fn made(place: &Place) -> bool {
    place.root().join("made").exists()
}

/// `strace ARGUMENTS shellgate WORDS` in a place. It ends after a while even if it hangs.
fn traced(place: &Place, arguments: &[&str], words: &[&str]) -> Output {
    let mut command: Command = place.program("timeout");
    command.args(["--signal=KILL", "30", "strace", "-qq", "--signal=none"]).args(arguments);
    command.arg(shellgate()).args(words).output().unwrap()
}

fn prepared(scenario: &Scenario) -> Place {
    let place = Place::new(None);
    if scenario.used {
        place.output(["call", r#"{"command": "echo before"}"#]);
    }
    place
}

fn try_fault(scenario: &Scenario, fault: &str) -> Result<Verdict, String> {
    let place = prepared(scenario);
    let output = traced(&place, &["-o", "/dev/null", "-e", fault], scenario.words);
    if output.status.code() == Some(137) && !fault.contains("KILL") {
        return Err("it hangs".to_owned());
    }
    let came = match (scenario.is_right)(&place, &output) {
        true => Ok(Verdict::Success),
        false => honest(&output),
    }?;
    afterwards(&place)?;
    place.assert_nothing_is_left();
    Ok(came)
}

fn try_all(scenario: &Scenario) {
    let place = prepared(scenario);
    let log = place.root().join("log");
    let output = traced(&place, &["-o", log.to_str().unwrap()], scenario.words);
    assert!((scenario.is_right)(&place, &output), "{}: without faults: {output:?}", scenario.name);
    let log = std::fs::read_to_string(log).unwrap();
    let mut tally = Tally::default();
    for fault in inject::plan(&log, scenario.name.len()) {
        tally.add(&fault, try_fault(scenario, &fault));
    }
    tally.assert_none_is_wrong(scenario.name);
}

#[test]
fn faults_in_the_first_call() {
    try_all(&Scenario {
        name: "first call",
        words: &["call", r#"{"command": "echo out; echo x > made"}"#],
        used: false,
        is_right: |place, output| stdout(output).contains(r#""stdout":"out\n""#) && made(place),
    });
}

#[test]
fn faults_in_run() {
    try_all(&Scenario {
        name: "run",
        words: &["run", "echo out; echo x > made; exit 7"],
        used: true,
        is_right: |place, output| stdout(output) == "out\n" && output.status.code() == Some(7) && made(place),
    });
}

#[test]
fn faults_in_a_refused_run() {
    try_all(&Scenario {
        name: "refused run",
        words: &["run", "--exclude", "touch", "touch made"],
        used: true,
        is_right: |place, output| output.status.code() == Some(125) && !made(place),
    });
}

#[test]
fn faults_in_a_call_with_a_terminal() {
    try_all(&Scenario {
        name: "run in a terminal",
        words: &["call", r#"{"command": "echo out; echo x > made", "pty": true}"#],
        used: true,
        is_right: |place, output| stdout(output).contains("out") && made(place),
    });
}

#[test]
fn faults_in_history() {
    try_all(&Scenario {
        name: "history",
        words: &["history", "--json"],
        used: true,
        is_right: |_, output| stdout(output).contains("echo before") && output.status.success(),
    });
}

#[test]
fn faults_in_jobs() {
    try_all(&Scenario {
        name: "jobs",
        words: &["jobs", "--json"],
        used: true,
        is_right: |_, output| stdout(output).starts_with(r#"{"jobs":["#) && output.status.success(),
    });
}

#[test]
fn faults_in_verifying() {
    try_all(&Scenario {
        name: "prune and verify",
        words: &["audit", "verify"],
        used: true,
        is_right: |_, output| stdout(output).contains("intact") && output.status.success(),
    });
}
