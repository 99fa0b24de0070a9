//! Faults in the broker of the sandbox, which does for commands what needs a decision. It runs already: a job keeps it alive.

use super::trace::{attach, bounded, detach, hangs};
use super::{Verdict, made, right_or_honest, stdout, try_all};
use crate::support::{Place, pids, wait_until};

/// Starts a job, and returns the broker of its sandbox.
fn with_a_job(place: &Place) -> u64 {
    place.output(["call", r#"{"command": "exec sleep 1000", "background": true}"#]);
    let keeper = place.keepers()[0];
    let is_it = |pid: &u64| {
        let status = std::fs::read_to_string(format!("/proc/{pid}/status")).unwrap_or_default();
        status.starts_with("Name:\tshellgate-broke\n") && status.contains(&format!("\nPPid:\t{keeper}\n"))
    };
    wait_until("there is a broker", || pids().any(|pid| is_it(&pid)));
    pids().find(is_it).unwrap()
}

/// A command that makes names and looks for them, under `strace ARGUMENTS` at the broker.
fn run(place: &Place, strace: &[&str]) -> Result<Verdict, String> {
    let strace = [&["--follow-forks"], strace].concat();
    let strace = attach(place, with_a_job(place), &strace);
    let command = r#"{"command": "mkdir folder && echo x > folder/new && mv folder/new made && echo out"}"#;
    let output = bounded(place, &["call", command]);
    detach(strace);
    if hangs(&output) {
        return Err("it hangs".to_owned());
    }
    let said = stdout(&output);
    let is_right = said.contains(r#""stdout":"out\n""#) && made(place);
    // The command itself may be told that it failed, and says so.
    let is_told = said.contains(r#""status":"failed""#) && !said.contains(r#""stderr":"""#);
    if !is_right && is_told { Ok(Verdict::HonestError) } else { right_or_honest(is_right, &output) }
}

#[test]
fn faults_while_it_serves_a_call() {
    try_all("call", "broker", run);
}

/// What a command did is told, or that it isn't known: never that it did nothing. The broker sends it, and the keeper reads it.
#[test]
fn effects_are_known_or_said_to_be_unknown() {
    let faults = [
        ("broker", "inject=sendto:error=ENOMEM:when=1"),
        ("broker", "inject=sendto:error=ENOMEM:when=2"),
        ("keeper", "inject=recvfrom:error=ENOMEM:when=1"),
        ("keeper", "inject=recvfrom:error=ENOMEM:when=2"),
        ("keeper", "inject=epoll_ctl:error=ENOMEM:when=2"),
        ("keeper", "inject=recvfrom:error=ENOMEM:when=1+"),
    ];
    for (process, fault) in faults {
        let place = Place::new(None);
        let broker = with_a_job(&place);
        let pid = if process == "broker" { broker } else { place.keepers()[0] };
        let strace = attach(&place, pid, &["--follow-forks", "-o", "/dev/null", "-e", fault]);
        let answer = place.call(&serde_json::json!({"command": "echo x > made"}));
        detach(strace);
        let effects = &answer["effects"];
        let is_known = effects["writes"] == serde_json::json!(["made"]);
        let is_unknown = effects.is_null() && answer["denials"].is_null();
        assert!(if fault.ends_with('+') { is_unknown } else { is_known }, "{process} {fault}: {answer}");
        let next = place.call(&serde_json::json!({"command": "echo x > next"}));
        assert_eq!(next["effects"]["writes"], serde_json::json!(["next"]), "{process} {fault}: {next}");
        place.output(["stop", "--all", "--now"]);
    }
}

/// A call that is held gets its answer, however the kernel takes the first one.
#[test]
fn a_broker_whose_answer_is_not_taken_at_once_tells_it_again() {
    for nth in 1..=8 {
        let fault = format!("inject=ioctl:error=EIO:when={nth}");
        super::try_one(run, &["-o", "/dev/null", "-e", &fault]).unwrap();
    }
}

/// One that can't answer at all ends, and with it the calls that it holds.
#[test]
fn a_broker_that_can_t_answer_ends() {
    let verdict = super::try_one(run, &["-o", "/dev/null", "-e", "inject=ioctl:error=EIO:when=1+"]);
    assert_eq!(verdict, Ok(Verdict::HonestError));
}
