//! Faults in the keeper, which runs already: a job keeps it alive.

use std::process::Output;

use serde_json::json;

use super::trace::{attach, begin, bounded, detach, hangs};
use super::{Verdict, id_of, made, right_or_honest, stdout, try_all};
use crate::support::{Place, wait_until};

/// Starts a keeper with a job. Returns its pid and the job's id.
fn kept(place: &Place) -> (u64, String) {
    let answer = place.output(["call", r#"{"command": "exec sleep 1000", "background": true}"#]);
    (place.keepers()[0], id_of(&answer).unwrap())
}

fn checked(output: &Output, is_right: bool) -> Result<Verdict, String> {
    if hangs(output) {
        return Err("it hangs".to_owned());
    }
    right_or_honest(is_right, output)
}

/// Tries the faults while the keeper serves `shellgate WORDS`, which went well if `is_right`.
fn try_words(name: &str, words: &[&str], is_right: fn(&Place, &Output) -> bool) {
    try_all(name, "keeper", |place, strace| {
        let (keeper, _) = kept(place);
        let strace = attach(place, keeper, strace);
        let output = bounded(place, words);
        detach(strace);
        checked(&output, is_right(place, &output))
    });
}

#[test]
fn faults_while_it_serves_a_call() {
    let words = ["call", r#"{"command": "echo out; echo x > made"}"#];
    try_words("call", &words, |place, output| stdout(output).contains(r#""stdout":"out\n""#) && made(place));
}

#[test]
fn faults_while_it_serves_a_call_with_a_terminal() {
    let words = ["call", r#"{"command": "echo out; echo x > made", "pty": true}"#];
    try_words("pty", &words, |place, output| {
        stdout(output).contains(r#""stdout":"out\n""#)
            && stdout(output).contains(r#""completed""#)
            && made(place)
    });
}

/// The keeper looks at every program that the command starts. Whatever fails there, a forbidden one doesn't run.
#[test]
fn faults_while_it_guards_a_call() {
    try_all("guarded call", "keeper", |place, strace| {
        place.write("victim", "");
        let lines = [
            "import subprocess",
            "try: subprocess.run(['rm', 'victim'])",
            "except OSError: pass",
            "open('made', 'w')",
            "print('out')",
        ];
        place.write("script.py", &lines.join("\n"));
        let (keeper, _) = kept(place);
        let strace = attach(place, keeper, strace);
        let words = ["call", "--exclude", "rm", r#"{"command": "python3 script.py made"}"#];
        let output = bounded(place, &words);
        detach(strace);
        if !place.root().join("victim").exists() {
            return Err(format!("a forbidden program ran: {output:?}"));
        }
        checked(&output, stdout(&output).contains(r#""stdout":"out\n""#) && made(place))
    });
}

#[test]
fn faults_while_it_starts_a_job() {
    let words = ["call", r#"{"command": "echo out; sleep 1000", "background": true}"#];
    try_words("background start", &words, |_, output| stdout(output).contains(r#""status":"running""#));
}

#[test]
fn faults_while_it_lists_its_jobs() {
    try_words("jobs", &["jobs", "--json"], |_, output| {
        stdout(output).contains("sleep 1000") && output.status.success()
    });
}

/// What is said to be stopped has ended.
#[test]
fn faults_while_it_stops_a_job() {
    try_all("stop", "keeper", |place, strace| {
        let (keeper, id) = kept(place);
        let host_pid = job_pid(place);
        let strace = attach(place, keeper, strace);
        let output = bounded(place, &["stop", &id]);
        detach(strace);
        let is_alive = crate::support::is_alive(host_pid);
        if output.status.success() && is_alive {
            return Err(format!("it is said to be stopped: {output:?}"));
        }
        checked(&output, output.status.success() && !is_alive)
    });
}

/// The pid of the first process of the only job.
fn job_pid(place: &Place) -> u64 {
    let list: serde_json::Value = serde_json::from_slice(&place.output(["jobs", "--json"]).stdout).unwrap();
    list["jobs"][0]["host_pid"].as_u64().unwrap()
}

/// A call whose command goes on, and a wait for its end.
#[test]
fn faults_while_it_hands_a_job_over() {
    try_all("job handed over", "keeper", |place, strace| {
        let (keeper, _) = kept(place);
        let strace = attach(place, keeper, strace);
        let command = r#"{"command": "echo out; until [ -e go ]; do sleep 0.01; done; echo x > made; exit 7", "wait_ms": 50}"#;
        let output = bounded(place, &["call", command]);
        place.write("go", "");
        let running = stdout(&output).contains(r#""status":"running""#);
        let came = id_of(&output).filter(|_| running).map(|id| bounded(place, &["wait", &id]));
        detach(strace);
        checked(&output, running)?;
        let Some(waited) = came else { return Ok(Verdict::HonestError) };
        if waited.status.success() {
            return Err(format!("a job that can't exit with 0 is said to have done so: {waited:?}"));
        }
        checked(&waited, waited.status.code() == Some(7) && made(place))
    });
}

/// The kernel tells of a child's end once. A keeper that could not wait for it then does so later, and doesn't use the processor
/// meanwhile.
#[test]
fn a_keeper_that_can_t_wait_for_its_children_does_so_later() {
    for when in ["1..7", "1+"] {
        let place = Place::new(None);
        let (keeper, id) = kept(&place);
        let used = || {
            let stat = std::fs::read_to_string(format!("/proc/{keeper}/stat")).unwrap();
            let (_, fields) = stat.rsplit_once(')').unwrap();
            fields.split_whitespace().skip(11).take(2).map(|ticks| ticks.parse::<u64>().unwrap()).sum::<u64>()
        };
        let fault = format!("inject=wait4,waitid:error=EIO:when={when}");
        let strace = attach(&place, keeper, &["-o", "/dev/null", "-e", &fault]);
        let caller = begin(&place, &["call", r#"{"command": "echo x > made; exit 7"}"#]);
        wait_until("it has ended", || made(&place));
        let answer = if when == "1+" {
            let before = used();
            std::thread::sleep(std::time::Duration::from_secs(1));
            let ticks = used() - before;
            assert!(ticks < 50, "{ticks} hundredths of a second of processor time in one second");
            detach(strace);
            caller.wait_with_output().unwrap()
        } else {
            let answer = caller.wait_with_output().unwrap();
            detach(strace);
            answer
        };
        assert!(stdout(&answer).contains(r#""exit_code":7"#), "{when}: {answer:?}");
        assert!(place.output(["stop", &id]).status.success(), "{when}");
        wait_until("the keeper has left", || !crate::support::is_alive(keeper));
        super::afterwards(&place).unwrap();
    }
}

/// `background` from another terminal takes a foreground command from its caller.
#[test]
fn faults_while_a_command_is_sent_to_the_background() {
    try_all("sent to the background", "keeper", |place, strace| {
        let (keeper, _) = kept(place);
        let mark = crate::support::mark();
        let call = format!(r#"{{"command": "sleep {mark}; exit 7"}}"#);
        let caller = begin(place, &["call", &call]);
        let newest = || -> serde_json::Value {
            let history = place.output(["history", "--json"]).stdout;
            serde_json::from_slice::<serde_json::Value>(&history).unwrap()[0].clone()
        };
        let runs = |newest: &serde_json::Value| {
            newest["command"].as_str().unwrap().contains(&mark) && newest["status"] == "running"
        };
        wait_until("it runs", || runs(&newest()));
        let newest = newest();
        let id = newest["id"].as_str().unwrap();
        let strace = attach(place, keeper, strace);
        let output = bounded(place, &["background", id]);
        let released = output.status.success();
        detach(strace);
        if !released {
            bounded(place, &["stop", id, "--now"]);
        }
        let answer = caller.wait_with_output().unwrap();
        let right = released && stdout(&answer).contains(r#""status":"running""#);
        match right {
            true => Ok(Verdict::Success),
            // The caller has an error, if the one who released it has success.
            false if released => checked(&answer, false),
            false => checked(&output, false),
        }
    });
}

/// The keeper and the processes that it starts, from their first call on. They share what `strace` is told, so a fault may hit
/// each of them once. The caller is a program with the library, so that its own calls don't fail.
#[test]
fn faults_while_it_starts() {
    try_all("first use", "keeper and launcher", |place, strace| {
        let (words, program) = (strace.join(" "), crate::support::shellgate());
        let text = format!(
            "#!/bin/sh\nexec strace -D --follow-forks -b execve -qq --signal=none {words} {} \"$@\"\n",
            program.display()
        );
        let script = place.write("keeper", &text);
        std::fs::set_permissions(&script, std::os::unix::fs::PermissionsExt::from_mode(0o755)).unwrap();
        let builder = shellgate::Gate::builder().root(place.root()).state_folder(place.state());
        let builder = builder.keeper_program(script).flags(crate::support::unasked());
        let (sender, receiver) = std::sync::mpsc::channel();
        let command = "echo out; echo x > made".to_owned();
        std::thread::spawn(move || {
            let request = shellgate::Request {
                action: shellgate::request::Action::Shell(command),
                ..shellgate::Request::default()
            };
            let told = |error: &dyn ToString| json!({"error": {"code": error.to_string()}});
            let answer = match builder.build() {
                Err(error) => told(&error.message),
                Ok(gate) => {
                    match gate.submit(request, shellgate::Follow::Quietly).map(|mut run| run.wait()) {
                        Err(refused) => json!(*refused),
                        Ok(Ok(report)) => json!(report),
                        Ok(Err(error)) => told(&error),
                    }
                }
            };
            // The test has stopped listening if it took too long.
            let _ = sender.send(answer);
        });
        let report = receiver.recv_timeout(crate::support::PATIENCE).map_err(|_| "it hangs".to_owned())?;
        let is_right = report["status"] == "completed" && report["stdout"] == "out\n" && made(place);
        super::server::told(&report, is_right)
    });
}
