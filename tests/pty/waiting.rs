//! Whether a job waits for input, according to the kernel.

use super::job::Job;
use crate::support::{for_each_user, wait_until};

/// Programs that wait for input in different ways: by `read`, `select`, `poll` or `epoll`, for lines or for keys.
const READERS: &[&str] = &[
    "bash --norc",
    "dash",
    "read x",
    "cat",
    "cat </dev/tty",
    "python3 -q",
    "python3 -c 'input()'",
    "node",
    "vim --clean",
    "top",
    "less /etc/passwd",
    "python3 -c 'import select,sys; select.select([sys.stdin],[],[])'",
    "python3 -c 'import select; p=select.poll(); p.register(0, select.POLLIN); p.poll()'",
    "python3 -c 'import select; e=select.epoll(); e.register(0, select.EPOLLIN); e.poll()'",
    "python3 -c 'import threading; threading.Thread(target=input).start()'",
    "(cat)",
    "cat | cat",
];

/// Programs that don't wait for input, whatever they print.
const OTHERS: &[&str] = &[
    "echo password:; sleep 3600",
    "printf 'password: '; exec sleep 3600",
    "while :; do :; done",
    "sleep 3600 | cat",
    "cat </dev/zero >/dev/null",
    "python3 -c 'import select; select.select([], [0], [], 3600); import time; time.sleep(3600)'",
];

#[test]
fn a_program_that_reads_the_terminal_waits_for_input() {
    for_each_user(|place| {
        for command in READERS {
            let job = Job::start(place, command);
            wait_until(command, || job.waits_for_input());
        }
    });
}

#[test]
fn a_program_that_does_not_read_does_not_wait_for_input() {
    for_each_user(|place| {
        for command in OTHERS {
            let job = Job::start(place, command);
            assert_eq!(job.report["waiting_for_input"], false, "{command}");
            assert!(!job.waits_for_input(), "{command}");
        }
    });
}

#[test]
fn a_start_reports_waiting_for_input_and_typing_ends_the_wait() {
    for_each_user(|place| {
        let job = Job::start(place, "read x; echo \"got $x\"; exec sleep 3600");
        wait_until("it reads", || job.waits_for_input());
        job.types(&["word"]);
        job.prints("got word");
        assert!(!job.waits_for_input());
        let job = Job::start(place, "exec cat");
        assert_eq!(
            job.report["waiting_for_input"], true,
            "`cat` waits before the start is answered: {}",
            job.report
        );
    });
}

#[test]
fn a_job_without_a_terminal_never_waits_for_input() {
    for_each_user(|place| {
        let report = place.call(&serde_json::json!({"command": "sleep 3600 | cat", "background": true}));
        assert_eq!(report["waiting_for_input"], false);
        assert!(place.output(["stop", "--now", report["id"].as_str().unwrap()]).status.success());
    });
}
