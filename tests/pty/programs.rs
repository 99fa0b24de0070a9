//! Real programs in a terminal, used as a model would.

use std::process::Command;

use serde_json::json;

use super::job::Job;
use crate::support::{Place, for_each_user, wait_until};

#[test]
fn a_shell_works() {
    for_each_user(|place| {
        let job = Job::start(place, "bash --norc");
        job.types(&["export A=5; cd /; pwd"]);
        job.types(&["echo $((A * 2)); exit 9"]);
        assert_eq!(job.ends(), Some(9));
        assert!(job.printed().contains("/\r\n") && job.printed().contains("10\r\n"), "{}", job.printed());
    });
}

#[test]
fn a_python_works() {
    for_each_user(|place| {
        let job = Job::start(place, "python3 -q");
        job.types(&["def f(x):\n    return x * 2\n"]);
        job.types(&["f(21)"]);
        job.prints("42");
        job.types(&["import os; os._exit(4)"]);
        assert_eq!(job.ends(), Some(4));
    });
}

#[test]
fn a_full_screen_is_seen_as_it_is() {
    for_each_user(|place| {
        let job = Job::start(place, "top -d 0.5");
        wait_until("its screen", || {
            let screen = job.screen();
            screen.starts_with("top - ") && screen.contains("load average") && screen.contains("PID")
        });
        assert!(job.screen().lines().count() <= 24, "{}", job.screen());
        // After many redraws the output is still one screen.
        let printed = job.printed().len();
        wait_until("it has drawn more", || job.printed().len() > printed + 1000);
        assert_eq!(job.screen().matches("load average").count(), 1);
        job.types(&["--no-newline", "q"]);
        assert_eq!(job.ends(), Some(0));
    });
}

#[test]
fn an_editor_and_a_pager_work() {
    for_each_user(|place| {
        let job = Job::start(place, "vim --clean text");
        job.types(&["--no-newline", "ihello"]);
        wait_until("its screen", || {
            let screen = job.screen();
            screen.starts_with("hello\n~\n") && screen.contains("-- INSERT --")
        });
        job.types(&["--key", "Esc"]);
        job.types(&[":wq"]);
        assert_eq!(job.ends(), Some(0));
        assert_eq!(std::fs::read_to_string(place.root().join("text")).unwrap(), "hello\n");
        place.write("long", &(1..=100).map(|n| format!("line {n}\n")).collect::<String>());
        let job = Job::start(place, "less long");
        wait_until("its first page", || job.screen().starts_with("line 1\n"));
        job.types(&["--key", "PageDown"]);
        wait_until("its next page", || job.screen().starts_with("line 24\n"));
        job.types(&["--no-newline", "q"]);
        assert_eq!(job.ends(), Some(0));
    });
}

fn git(place: &Place, args: &[&str]) -> String {
    let mut git: Command = place.program("git");
    let output = git.args(args).output().unwrap();
    assert!(output.status.success(), "{args:?}: {output:?}");
    String::from_utf8(output.stdout).unwrap()
}

#[test]
fn commits_are_rewritten_with_an_editor() {
    for_each_user(|place| {
        git(place, &["init", "-q", "-b", "main"]);
        git(place, &["config", "user.name", "t"]);
        git(place, &["config", "user.email", "t@example.com"]);
        git(place, &["config", "core.editor", "vim --clean"]);
        for name in ["first", "second", "third"] {
            place.write(name, "");
            git(place, &["add", name]);
            git(place, &["commit", "-q", "-m", name]);
        }
        let job = Job::start(place, "git rebase -i HEAD~2");
        wait_until("the list", || job.screen().starts_with("pick ") && job.screen().contains("second"));
        job.types(&["--no-newline", "dd"]);
        job.types(&[":wq"]);
        assert_eq!(job.ends(), Some(0), "{}", job.printed());
        assert_eq!(git(place, &["log", "--format=%s"]), "third\nfirst\n");
    });
}

#[test]
fn a_command_that_ended_shows_all_its_lines() {
    for_each_user(|place| {
        let report = place.call(&json!({"command": "seq 100", "pty": true}));
        let expected: String = (1..=100).map(|number| format!("{number}\n")).collect();
        assert_eq!(report["stdout"], expected.as_str());
        let report =
            place.call(&json!({"command": "printf '10%%\\r20%%\\r\\033[31mdone\\033[0m\\n'", "pty": true}));
        assert_eq!(report["stdout"], "done\n");
    });
}
