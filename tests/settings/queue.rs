//! `max_running`: commands that wait for their turn.

use std::io::{BufRead as _, BufReader, Lines, Read as _};
use std::process::{Child, ChildStdout, Stdio};

use rustix::process::{Pid, Signal, kill_process};
use serde_json::{Value, json};

use super::{project_file, shellgate, write_file};
use crate::support::{Place, for_each_user, wait_until};

/// A running `call --events`.
struct Call {
    child: Child,
    lines: Lines<BufReader<ChildStdout>>,
}

impl Call {
    /// Starts a call and waits until it is queued.
    fn queue(place: &Place, arguments: &Value) -> Self {
        let mut command = shellgate(place, ["call", "--events", &arguments.to_string()]);
        let mut child = command.stdout(Stdio::piped()).spawn().unwrap();
        let lines = BufReader::new(child.stdout.take().unwrap()).lines();
        let mut call = Self { child, lines };
        call.wait_for("queued");
        call
    }

    fn next(&mut self) -> Value {
        serde_json::from_str(&self.lines.next().unwrap().unwrap()).unwrap()
    }

    /// Reads events until the next state, which must be `status`.
    fn wait_for(&mut self, status: &str) {
        loop {
            let event = self.next();
            assert_ne!(event["type"], "result", "it never was {status}: {event}");
            if event["type"] == "state" {
                assert_eq!(event["status"], status);
                return;
            }
        }
    }

    /// Waits until the [`patient`] command called `name` runs.
    fn wait_until_it_runs(&mut self, place: &Place, name: &str) {
        self.wait_for("starting");
        self.wait_for("running");
        wait_until("it has noted that it runs", || {
            started(place).lines().any(|line| line.split(' ').next() == Some(name))
        });
    }

    /// The states until the result, the result, and the exit code.
    fn end(mut self) -> (Vec<String>, Value, Option<i32>) {
        let mut states = Vec::new();
        loop {
            let event = self.next();
            match event["type"].as_str().unwrap() {
                "state" => states.push(event["status"].as_str().unwrap().to_owned()),
                "result" => return (states, event["json"].clone(), self.child.wait().unwrap().code()),
                _ => {}
            }
        }
    }
}

/// A command that writes to `started` its name and which commands have ended, waits for its gate, and writes its name to
/// `ended`. Its gate is a named pipe.
fn patient(place: &Place, name: &str) -> Value {
    assert!(place.program("mkfifo").arg(format!("gate-{name}")).status().unwrap().success());
    json!({"command": format!("echo {name} $(cat ended) >> started; read x < gate-{name}; echo {name} >> ended")})
}

/// Opens a command's gate. Blocks until the command reads from it.
fn open_gate(place: &Place, name: &str) {
    std::fs::write(place.root().join(format!("gate-{name}")), "go\n").unwrap();
}

fn started(place: &Place) -> String {
    std::fs::read_to_string(place.root().join("started")).unwrap_or_default()
}

/// Sets `max_running` in the project file, which is untrusted but may lower it.
fn at_most(place: &Place, number: u32) {
    write_file(place, &project_file(place), format!("limits.max_running = {number}\n"));
    place.write("ended", "");
}

#[test]
fn more_than_may_run_wait_and_are_served_in_the_order_they_came() {
    for_each_user(|place| {
        at_most(place, 2);
        let [a, b] = ["a", "b"].map(|name| {
            let mut call = Call::queue(place, &patient(place, name));
            call.wait_until_it_runs(place, name);
            call
        });
        let [mut c, mut d, mut e] = ["c", "d", "e"].map(|name| Call::queue(place, &patient(place, name)));
        open_gate(place, "b");
        c.wait_until_it_runs(place, "c");
        let mut f = Call::queue(place, &patient(place, "f"));
        open_gate(place, "a");
        d.wait_until_it_runs(place, "d");
        open_gate(place, "d");
        e.wait_until_it_runs(place, "e");
        open_gate(place, "c");
        f.wait_until_it_runs(place, "f");
        open_gate(place, "e");
        open_gate(place, "f");
        for call in [a, b, c, d, e, f] {
            let (states, result, code) = call.end();
            assert_eq!((states, code), (vec!["completed".to_owned()], Some(0)), "{result}");
        }
        let started = started(place);
        let lines: Vec<Vec<&str>> = started.lines().map(|line| line.split(' ').collect()).collect();
        let names: Vec<&str> = lines.iter().map(|line| line[0]).collect();
        assert_eq!(&names[2..], ["c", "d", "e", "f"], "first come, first served: {started}");
        for (nth, line) in lines.iter().enumerate() {
            let ended = line.len() - 1;
            assert!(nth < 2 + ended, "never more than two at once: {started}");
        }
    });
}

#[test]
fn a_command_that_is_canceled_while_queued_never_starts() {
    for_each_user(|place| {
        at_most(place, 1);
        let mut first = Call::queue(place, &patient(place, "first"));
        first.wait_until_it_runs(place, "first");
        for signal in [Signal::INT, Signal::TERM] {
            let canceled = Call::queue(place, &patient(place, &format!("canceled-{}", signal.as_raw())));
            kill_process(Pid::from_child(&canceled.child), signal).unwrap();
            let (states, result, code) = canceled.end();
            assert_eq!((states, code), (vec!["canceled".to_owned()], Some(0)));
            assert_eq!((&result["status"], &result["pid"]), (&json!("canceled"), &Value::Null));
            assert_eq!((&result["canceled"], &result["exit_code"]), (&json!(true), &Value::Null));
            assert_eq!(result["error"]["code"], "canceled");
            assert_eq!(result["error"]["message"], "the command was canceled before it started");
        }
        // A queued command whose caller is killed never starts either.
        let mut gone = Call::queue(place, &patient(place, "gone"));
        gone.child.kill().unwrap();
        gone.child.wait().unwrap();
        let last = Call::queue(place, &patient(place, "last"));
        open_gate(place, "first");
        assert_eq!(first.end().2, Some(0));
        open_gate(place, "last");
        assert_eq!(last.end().0, ["starting", "running", "completed"]);
        assert_eq!(started(place), "first\nlast first\n", "the others never ran");
    });
}

#[test]
fn the_timeout_does_not_run_while_a_command_is_queued() {
    for_each_user(|place| {
        at_most(place, 1);
        let mut first = Call::queue(place, &json!({"command": "sleep 1000", "timeout_ms": 2500}));
        first.wait_for("starting");
        let second = Call::queue(place, &json!({"command": "echo in time", "timeout_ms": 1500}));
        assert_eq!(first.end().1["status"], "timed_out");
        let (_, result, _) = second.end();
        assert_eq!((&result["status"], &result["stdout"]), (&json!("completed"), &json!("in time\n")));
    });
}

#[test]
fn each_session_has_its_own_queue() {
    for_each_user(|place| {
        at_most(place, 1);
        let mut first = Call::queue(place, &patient(place, "first"));
        first.wait_for("starting");
        let mut command = shellgate(place, ["run", "--session", "another", "echo free"]);
        let mut output = String::new();
        let mut child = command.stdout(Stdio::piped()).stderr(Stdio::null()).spawn().unwrap();
        child.stdout.take().unwrap().read_to_string(&mut output).unwrap();
        assert_eq!((output.as_str(), child.wait().unwrap().code()), ("free\n", Some(0)));
        open_gate(place, "first");
        assert_eq!(first.end().2, Some(0));
    });
}
