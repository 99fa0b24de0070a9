//! Shells that run a given script which sources the terminal: text that is typed there is judged as commands.

use super::job::Job;
use super::judged::{is_refused, passes, send};
use crate::support::{for_each_user, wait_until};

/// Ways to make bash source the terminal.
const SOURCING: &[&str] = &[
    "bash -c '. /dev/stdin; :'",
    ". /dev/stdin",
    "source /dev/tty",
    ". /dev/fd/0",
    ". /proc/self/fd/0",
    ". /dev/tty >&-",
    "bash script",
    "BASH_ENV=/dev/tty bash -c ':'",
    "dash -c '. /dev/stdin'",
    "dash -c '. /dev/tty'",
    "ksh -c '. /dev/stdin'",
    "exec -a sh busybox -c '. /dev/stdin; :'",
    "cat | bash -c '. /dev/stdin'",
    "cat | dash -c '. /dev/stdin; :'",
    ". <(cat)",
];

#[test]
fn what_a_shell_sources_from_the_terminal_is_judged() {
    for_each_user(|place| {
        place.write("script", ". /dev/stdin\n");
        for command in SOURCING {
            place.write("x", "");
            let job = Job::start(place, command);
            is_refused(place, &job, &["rm x"], "denied_by_policy: the command is denied: `rm` is excluded");
            passes(place, &job, &["--no-newline", "r"]);
            is_refused(place, &job, &["m x"], "denied_by_policy");
            passes(place, &job, &["--key", "C-u"]);
            is_refused(place, &job, &["if true\nthen rm x\nfi"], "denied_by_policy");
            passes(place, &job, &["--no-newline", "rm x"]);
            is_refused(place, &job, &["--eof"], "denied_by_policy");
            passes(place, &job, &["--key", "C-u"]);
            passes(place, &job, &["touch y"]);
            passes(place, &job, &["--eof"]);
            wait_until("y is there", || place.root().join("y").exists());
            job.ends();
            assert!(place.root().join("x").exists(), "{command}");
            std::fs::remove_file(place.root().join("y")).unwrap();
        }
    });
}

/// Input to a shell that the judge can't parse needs approval.
#[test]
fn another_shell_that_sources_the_terminal_asks() {
    for_each_user(|place| {
        let job = Job::start(place, "zsh -fc '. /dev/stdin'");
        is_refused(place, &job, &["touch y"], "approval_unavailable");
        job.types(&["touch y"]);
        job.types(&["--eof"]);
        wait_until("y is there", || place.root().join("y").exists());
    });
}

/// Ways in which a shell reads an answer that is not a command.
const ANSWERED: &[&str] = &[
    "read x; echo \"got $x\"",
    "read x </dev/tty; echo \"got $x\"",
    "bash -c 'read x; echo \"got $x\"'",
    "read -e x; echo \"got $x\"",
    "read -t 60 x; echo \"got $x\"",
    "mapfile -n 1 a; echo \"got $a\"",
    "exec 3<&0; read -u 3 x; echo \"got $x\"",
    "x=$(head -n 1); echo \"got $x\"",
    "read x < <(head -n 1); echo \"got $x\"",
    "while read -u 3 f; do read x; echo \"got $x\"; done 3< <(echo f)",
    "dash -c 'read x; echo \"got $x\"'",
    "dash -c 'read x </dev/tty; echo \"got $x\"'",
    "exec -a sh busybox -c 'read x; echo \"got $x\"'",
    "zsh -fc 'read x; echo \"got $x\"'",
];

#[test]
fn an_answer_to_a_shell_stays_an_answer() {
    for_each_user(|place| {
        for command in ANSWERED {
            let job = Job::start(place, command);
            let output = send(place, &job, &["rm 'x"]);
            assert!(output.status.success(), "{command}: {output:?}");
            job.prints("got rm 'x");
        }
    });
}
