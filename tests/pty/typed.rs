//! Typing at a job, and its effects.

use serde_json::{Value, json};

use super::job::Job;
use crate::support::{for_each_user, wait_until};

#[test]
fn text_keys_and_ends_arrive() {
    for_each_user(|place| {
        let job = Job::start(place, "cat");
        job.types(&["one"]);
        job.types(&["--no-newline", "tw"]);
        job.types(&["o"]);
        job.types(&["three\nfour"]);
        job.prints("four\r\nfour\r\n");
        assert_eq!(job.printed().matches("two").count(), 2, "echoed and printed: {}", job.printed());
        job.types(&["--eof"]);
        assert_eq!(job.ends(), Some(0));
        let job = Job::start(place, "trap 'echo int; exit 7' INT; while :; do sleep 0.1; done");
        job.types(&["--key", "C-c"]);
        assert_eq!(job.ends(), Some(7), "the key works while the program doesn't read: {}", job.printed());
        let job = Job::start(place, "stty raw -echo; dd bs=1 count=9 2>/dev/null | od -An -c");
        wait_until("it reads", || job.waits_for_input());
        job.types(&["--key", "Up", "--key", "Enter", "--key", "F5"]);
        job.prints("\\r 033");
        let shown = job.printed();
        assert!(shown.contains("033   [   A  \\r 033   [   1   5   ~"), "{shown}");
    });
}

#[test]
fn the_json_answer_has_the_job_s_status() {
    for_each_user(|place| {
        let job = Job::start(place, "exec cat");
        assert!(job.send(&["a line"]).stdout.is_empty(), "people are told nothing");
        let output = job.send(&["--json", "another"]);
        let told: Value = serde_json::from_slice(&output.stdout).unwrap();
        assert_eq!(told, json!({"id": job.id, "status": "running"}), "{output:?}");
        job.prints("another\r\nanother");
    });
}

#[test]
fn input_that_can_not_be_typed_is_an_error() {
    for_each_user(|place| {
        let output = place.output(["send", "01ARZ3NDEKTSV4RRFFQ69G5FAV", "x"]);
        assert_eq!(output.status.code(), Some(4), "{output:?}");
        let report = place.call(&json!({"command": "exec sleep 3600", "background": true}));
        let id = report["id"].as_str().unwrap();
        let output = place.output(["send", id, "x"]);
        assert_eq!(output.status.code(), Some(2), "{output:?}");
        let said = String::from_utf8(output.stderr).unwrap();
        assert!(said.contains("its standard input is closed: start it with `pty`"), "{said}");
        assert_eq!(place.output(["resize", id, "30x90"]).status.code(), Some(2));
        assert!(place.output(["stop", "--now", id]).status.success());
        assert_eq!(place.output(["send", id, "x"]).status.code(), Some(4), "it has ended");
        let job = Job::start(place, "exec cat");
        assert_eq!(job.send(&["--key", "Entre"]).status.code(), Some(2));
        let long = "x".repeat(5000);
        let output = job.send(&[&long]);
        assert_eq!(output.status.code(), Some(2), "{output:?}");
        assert!(String::from_utf8(output.stderr).unwrap().contains("4095"));
        job.types(&["still there"]);
        job.prints("still there\r\nstill there");
    });
}

#[test]
fn a_size_can_be_changed() {
    for_each_user(|place| {
        let job = Job::start(place, "trap 'stty size' WINCH; while :; do sleep 0.1; done");
        assert!(place.output(["resize", &job.id, "33x99"]).status.success());
        job.prints("33 99");
        assert_eq!(place.output(["resize", &job.id, "0x99"]).status.code(), Some(2));
    });
}

#[test]
fn a_command_may_not_type_at_another_job() {
    for_each_user(|place| {
        let job = Job::start(place, "exec cat");
        let program = crate::support::shellgate();
        for words in
            [format!("send {} x", job.id), format!("resize {} 9x9", job.id), format!("attach {}", job.id)]
        {
            let command = json!({"command": format!("{} {words}", program.display())});
            assert_eq!(place.call(&command)["status"], "failed", "a sandbox hides the state folder");
            let report = place.call_with(&["--sandbox", "off"], &command);
            assert_eq!(report["exit_code"], 3, "{report}");
        }
        job.types(&["from outside"]);
        job.prints("from outside\r\nfrom outside");
        assert!(!job.printed().contains('x'), "{}", job.printed());
    });
}

#[test]
fn lines_typed_at_the_same_time_are_not_mixed() {
    for_each_user(|place| {
        let job = Job::start(place, "exec cat");
        std::thread::scope(|scope| {
            for typist in 0..4 {
                let job = &job;
                scope.spawn(move || {
                    for line in 0..5 {
                        job.types(&[&format!("typist {typist} line {line}")]);
                    }
                });
            }
        });
        for (typist, line) in (0..4).flat_map(|typist| (0..5).map(move |line| (typist, line))) {
            job.prints(&format!("typist {typist} line {line}\r\ntypist {typist} line {line}\r\n"));
        }
    });
}
