//! Faults in the standby process while it ends the jobs of a killed keeper.

use super::trace::{attach, bounded, detach, hangs};
use super::{Verdict, id_of, stdout, try_all};
use crate::support::{kill, processes_with, wait_until};

#[test]
fn faults_while_it_ends_the_jobs_of_a_killed_keeper() {
    try_all("keeper killed", "standby", |place, strace| {
        let mark = crate::support::mark();
        let command = format!("echo printed; (setsid sleep {mark} &); sleep {mark}; true");
        let call = serde_json::json!({"command": command, "background": true}).to_string();
        let id = id_of(&place.output(["call", &call])).unwrap();
        wait_until("it runs", || processes_with(&mark).len() >= 2);
        wait_until("the standby waits", || place.holders("shellgate-stby").len() == 1);
        let strace = attach(place, place.holders("shellgate-stby")[0], strace);
        kill(place.keepers()[0]);
        let waited = bounded(place, &["wait", &id, "--json"]);
        detach(strace);
        if hangs(&waited) {
            return Err("it hangs".to_owned());
        }
        let said = stdout(&waited);
        if !said.contains("keeper_lost") || waited.status.success() {
            return Err(format!("the loss is not told: {waited:?}"));
        }
        wait_until("no process of the job is left", || processes_with(&mark).is_empty());
        match said.contains(r#""stdout":"printed\n""#) {
            true => Ok(Verdict::Success),
            false => Err(format!("output that was stored is not told: {waited:?}")),
        }
    });
}

#[test]
fn faults_while_it_takes_a_job() {
    take_a_job("job handed over", false);
}

#[test]
fn faults_while_it_takes_a_job_with_a_terminal() {
    take_a_job("pty", true);
}

/// A second job comes and ends while the standby holds a first one. Whatever becomes of the standby, both have their ends.
fn take_a_job(scenario: &str, pty: bool) {
    try_all(scenario, "standby", |place, strace| {
        place.output(["call", r#"{"command": "exec sleep 1000", "background": true}"#]);
        wait_until("the standby waits", || place.holders("shellgate-stby").len() == 1);
        let strace = attach(place, place.holders("shellgate-stby")[0], strace);
        let command = "echo out; until [ -e go ]; do sleep 0.01; done; echo x > made; exit 7";
        let call = serde_json::json!({"command": command, "wait_ms": 50, "pty": pty}).to_string();
        let answer = bounded(place, &["call", &call]);
        place.write("go", "");
        let waited = id_of(&answer).map(|id| bounded(place, &["wait", &id]));
        detach(strace);
        let is_right = |waited: &std::process::Output| waited.status.code() == Some(7) && super::made(place);
        match waited.as_ref().is_some_and(is_right) {
            true => Ok(Verdict::Success),
            // The keeper is well, so nothing may fail.
            false => Err(format!("{answer:?} {waited:?}")),
        }
    });
}

#[test]
fn faults_while_its_jobs_are_stopped() {
    try_all("stop", "standby", |place, strace| {
        let mark = crate::support::mark();
        let call =
            serde_json::json!({"command": format!("exec sleep {mark}"), "background": true}).to_string();
        let ids = [(); 2].map(|()| id_of(&place.output(["call", &call])).unwrap());
        wait_until("the standby waits", || place.holders("shellgate-stby").len() == 1);
        let strace = attach(place, place.holders("shellgate-stby")[0], strace);
        let stopped = ids.map(|id| bounded(place, &["stop", &id]));
        detach(strace);
        let is_right =
            stopped.iter().all(|output| output.status.success()) && processes_with(&mark).is_empty();
        if is_right { Ok(Verdict::Success) } else { Err(format!("{stopped:?}")) }
    });
}
