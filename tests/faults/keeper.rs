//! Faults in the keeper, which runs already: a job keeps it alive.

use std::process::{Child, Output};

use super::{Tally, Verdict, afterwards, honest, inject};
use crate::support::{Place, wait_until};

/// A place with a keeper.
fn kept() -> (Place, u64) {
    let place = Place::new(None);
    place.output(["call", r#"{"command": "sleep 1000", "background": true}"#]);
    let keeper = place.keepers()[0];
    (place, keeper)
}

/// Attaches `strace ARGUMENTS` to a process.
fn attach(place: &Place, pid: u64, arguments: &[&str]) -> Child {
    let mut strace = place.program("strace");
    strace.args(["-qq", "--signal=none", "-p", &pid.to_string()]).args(arguments);
    let mut strace = strace.stderr(std::process::Stdio::null()).spawn().unwrap();
    let status = format!("/proc/{pid}/status");
    let is_traced = || {
        let status = std::fs::read_to_string(&status).unwrap_or_default();
        status.lines().any(|line| line.starts_with("TracerPid:") && !line.ends_with("\t0"))
    };
    wait_until("it is traced", || is_traced() || !std::path::Path::new(&status).exists());
    if !std::path::Path::new(&status).exists() {
        strace.wait().unwrap();
    }
    strace
}

/// Ends `strace`; the process that it is attached to goes on.
fn detach(mut strace: Child) {
    // It has ended already if the process has.
    let _ = rustix::process::kill_process(
        rustix::process::Pid::from_child(&strace),
        rustix::process::Signal::INT,
    );
    strace.wait().unwrap();
}

/// A call that the keeper serves, and whether it went well.
struct Scenario {
    name: &'static str,
    words: &'static [&'static str],
    is_right: fn(&Place, &Output) -> bool,
}

fn call(place: &Place, words: &[&str]) -> Output {
    let mut command = place.program("timeout");
    command.args(["--signal=KILL", "40"]).arg(crate::support::shellgate()).args(words);
    command.output().unwrap()
}

fn try_fault(scenario: &Scenario, fault: &str) -> Result<Verdict, String> {
    let (place, keeper) = kept();
    let strace = attach(&place, keeper, &["-o", "/dev/null", "-e", fault]);
    let output = call(&place, scenario.words);
    detach(strace);
    if output.status.code() == Some(137) {
        return Err("it hangs".to_owned());
    }
    let came = match (scenario.is_right)(&place, &output) {
        true => Verdict::Success,
        false => honest(&output)?,
    };
    let stopped = call(&place, &["stop", "--all", "--now"]);
    if stopped.status.code() == Some(137) {
        return Err("stop hangs".to_owned());
    }
    afterwards(&place)?;
    place.assert_nothing_is_left();
    Ok(came)
}

fn try_all(scenario: &Scenario) {
    let (place, keeper) = kept();
    let log = place.root().join("log");
    let strace = attach(&place, keeper, &["-o", log.to_str().unwrap()]);
    let output = call(&place, scenario.words);
    detach(strace);
    assert!((scenario.is_right)(&place, &output), "{}: without faults: {output:?}", scenario.name);
    place.output(["stop", "--all", "--now"]);
    let log = std::fs::read_to_string(log).unwrap();
    let mut tally = Tally::default();
    for fault in inject::plan(&log, scenario.name.len()) {
        tally.add(&fault, try_fault(scenario, &fault));
    }
    tally.assert_none_is_wrong(scenario.name);
}

fn stdout(output: &Output) -> String {
    String::from_utf8_lossy(&output.stdout).into_owned()
}

#[test]
fn faults_while_it_serves_a_call() {
    try_all(&Scenario {
        name: "the keeper serves a call",
        words: &["call", r#"{"command": "echo out; echo x > made"}"#],
        is_right: |place, output| {
            stdout(output).contains(r#""stdout":"out\n""#) && place.root().join("made").exists()
        },
    });
}

#[test]
fn faults_while_it_starts_a_job() {
    try_all(&Scenario {
        name: "the keeper starts a job",
        words: &["call", r#"{"command": "echo out; sleep 1000", "background": true}"#],
        is_right: |_, output| stdout(output).contains(r#""status":"running""#),
    });
}

#[test]
fn faults_while_it_lists_its_jobs() {
    try_all(&Scenario {
        name: "the keeper lists its jobs",
        words: &["jobs", "--json"],
        is_right: |_, output| stdout(output).contains("sleep 1000") && output.status.success(),
    });
}
