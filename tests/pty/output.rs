//! Commands with a terminal, and their output.

use serde_json::json;

use super::job::Job;
use crate::support::{for_each_user, is_alive, wait_until, wait_until_idle};

#[test]
fn a_command_has_a_terminal_of_its_own() {
    for_each_user(|place| {
        let command = "tty; stty size; test -t 0 && test -t 1 && test -t 2 && echo all; echo $TERM; echo e >&2; \
                       echo /dev/tty >/dev/tty; ps -o tpgid= -p $$ | tr -d ' '; echo $$";
        let report = place.call(&json!({"command": command, "pty": true}));
        let lines: Vec<&str> = report["stdout"].as_str().unwrap().lines().collect();
        let [tty, size, all, term, error, own, group, pid] = lines.as_slice() else { panic!("{report}") };
        assert!(tty.starts_with("/dev/pts/"), "{report}");
        assert_eq!((*size, *all, *term, *error, *own), ("24 80", "all", "xterm-256color", "e", "/dev/tty"));
        assert_eq!(group, pid, "it is in the foreground of its terminal");
        assert_eq!((&report["stderr_bytes"], &report["exit_code"]), (&json!(0), &json!(0)));
        let report = place.call(&json!({"command": "stty size", "pty_size": "40x120"}));
        assert_eq!(report["stdout"], "40 120\n");
        let report = place.call(&json!({"command": "tty"}));
        assert_eq!(report["stdout"], "not a tty\n", "without `pty` there is no terminal");
    });
}

#[test]
fn no_byte_is_lost_at_the_end() {
    for_each_user(|place| {
        for _ in 0..10 {
            let report = place.call(&json!({"command": "seq 20000; exit 3", "pty": true}));
            assert_eq!(report["exit_code"], 3);
            let printed = std::fs::read_to_string(report["stdout_file"].as_str().unwrap()).unwrap();
            let expected: String = (1..=20_000).map(|number| format!("{number}\r\n")).collect();
            assert_eq!(printed.len(), expected.len());
            assert!(printed == expected);
        }
    });
}

#[test]
fn one_that_closes_its_terminal_may_open_it_again() {
    for_each_user(|place| {
        let command = "exec 0<&- 1>&- 2>&-; sleep 0.3; echo late >/dev/tty";
        let report = place.call(&json!({"command": command, "pty": true}));
        assert_eq!((&report["stdout"], &report["exit_code"]), (&json!("late\n"), &json!(0)));
    });
}

#[test]
fn standard_input_can_still_be_a_text() {
    for_each_user(|place| {
        let report = place.call(
            &json!({"command": "cat; test -t 0 || test -t 1 && echo out", "pty": true, "stdin": "in\n"}),
        );
        assert_eq!(report["stdout"], "in\nout\n");
    });
}

#[test]
fn a_shell_that_people_type_at_is_stopped_politely_and_clocks_run() {
    for_each_user(|place| {
        // A builtin: a child process of the trap could get the signal too.
        place.write("rc", "trap ': > bye' EXIT\n");
        let job = Job::start(place, "bash --rcfile rc; true");
        wait_until("it reads", || job.waits_for_input());
        let pid = job.report["host_pid"].as_u64().unwrap();
        assert!(place.output(["stop", &job.id]).status.success());
        assert!(place.root().join("bye").exists(), "it ended by itself: no SIGKILL was needed");
        assert!(!is_alive(pid));
        let report = place.call(&json!({"command": "read x", "pty": true, "timeout_ms": 300}));
        assert_eq!(report["status"], "timed_out");
        let report = place.call(&json!({"command": "read x", "pty": true, "idle_timeout_ms": 300}));
        assert_eq!(report["status"], "timed_out");
    });
}

#[test]
fn a_stop_hangs_up_once() {
    for_each_user(|place| {
        place.write(
            "deaf",
            "trap '' TERM; trap 'echo hup >> hups; n=5' HUP; echo ready; n=1000; while ((n-- > 0)); do sleep 0.1; done",
        );
        // The kernel hangs up when the leader dies, and the keeper when it doesn't.
        for leader in ["bash deaf; true", "trap 'echo term' TERM; bash deaf; true"] {
            let job = Job::start(place, leader);
            job.prints("ready");
            assert!(place.output(["stop", &job.id]).status.success());
            assert_eq!(std::fs::read_to_string(place.root().join("hups")).unwrap(), "hup\n", "{leader}");
            std::fs::remove_file(place.root().join("hups")).unwrap();
        }
    });
}

#[test]
fn a_keeper_with_a_job_sleeps() {
    for_each_user(|place| {
        for (command, pty) in [
            ("exec sleep 3600", true),
            ("exec sleep 3600", false),
            ("exec sleep 3600 >/dev/null 2>&1", false),
        ] {
            let report = place.call(&json!({"command": command, "pty": pty, "background": true}));
            let [keeper] = place.keepers()[..] else { panic!("one keeper: {:?}", place.keepers()) };
            wait_until_idle(u32::try_from(keeper).unwrap());
            assert!(place.output(["stop", "--now", report["id"].as_str().unwrap()]).status.success());
        }
    });
}
