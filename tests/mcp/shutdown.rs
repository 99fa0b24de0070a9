//! How agents end a server, and what must be true then: nothing runs in the foreground, and no job is lost.

use rustix::process::{Pid, Signal, kill_process};
use serde_json::json;

use super::talk::Talk;
use crate::support::{for_each_user, mark, processes_with, wait_until};

/// Starts a server with a foreground command, a background start and a call that became a job, and ends it with `end`.
fn ends(end: impl Fn(&mut Talk)) {
    for_each_user(|place| {
        let mut talk = Talk::new(place);
        let (foreground, hidden, background, became) = (mark(), mark(), mark(), mark());
        let answer = talk.run(json!({"command": format!("sleep {background}"), "background": true}));
        let job = answer["job"].as_str().unwrap().to_owned();
        let answer = talk.run(json!({"command": format!("sleep {became}"), "wait_ms": 50}));
        let other_job = answer["job"].as_str().unwrap().to_owned();
        // A command that ignores signals.
        talk.call(
            json!({"command": format!("trap '' TERM INT HUP; setsid sleep {hidden} & sleep {foreground}")}),
        );
        wait_until("both run", || {
            !processes_with(&foreground).is_empty() && !processes_with(&hidden).is_empty()
        });
        end(&mut talk);
        talk.server.wait().unwrap();
        wait_until("the foreground is gone", || {
            processes_with(&foreground).is_empty() && processes_with(&hidden).is_empty()
        });
        for (mark, job) in [(&background, &job), (&became, &other_job)] {
            assert!(!processes_with(mark).is_empty(), "the job goes on");
            assert!(place.output(["stop", job]).status.success(), "and is known by its name");
            assert!(processes_with(mark).is_empty());
        }
    });
}

fn signal(talk: &Talk, signal: Signal) {
    kill_process(Pid::from_child(&talk.server), signal).unwrap();
}

#[test]
fn shutdown_by_the_end_of_input() {
    ends(|talk| drop(talk.to.take()));
}

#[test]
fn shutdown_by_sigterm() {
    ends(|talk| signal(talk, Signal::TERM));
}

#[test]
fn shutdown_by_sigterm_the_end_of_input_and_sigkill() {
    ends(|talk| {
        signal(talk, Signal::TERM);
        drop(talk.to.take());
        signal(talk, Signal::KILL);
    });
}

#[test]
fn shutdown_by_sigkill() {
    ends(|talk| signal(talk, Signal::KILL));
}

#[test]
fn an_interrupt_of_the_agent_s_terminal_is_ignored() {
    for_each_user(|place| {
        let mut talk = Talk::new(place);
        let id = talk.call(json!({"command": "while [ ! -e go ]; do sleep 0.01; done; echo on"}));
        assert_eq!(talk.run(json!({"command": "echo up"}))["stdout"], "up\n");
        signal(&talk, Signal::INT);
        place.write("go", "");
        assert_eq!(talk.answer(id)["result"]["structuredContent"]["stdout"], "on\n");
        assert!(talk.leave().success());
    });
}

#[test]
fn what_was_asked_before_the_end_of_input_is_answered() {
    for_each_user(|place| {
        let mut talk = Talk::new(place);
        talk.call(json!({"command": "echo last"}));
        drop(talk.to.take());
        let rest = talk.rest();
        assert!(rest.iter().any(|line| line.contains(r#""stdout":"last\n""#)), "{rest:?}");
    });
}
