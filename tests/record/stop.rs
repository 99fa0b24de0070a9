//! `shellgate stop`.

use std::process::Child;

use serde_json::json;

use super::{commands, complaint, text};
use crate::support::{Place, for_each_user, is_alive, mark, processes_with, wait_until};

/// Starts `shellgate run` in the foreground, with a command that runs `sleep MARK`.
fn running(place: &Place, session: &str, mark: &str) -> Child {
    let child = place.start(["run", "--session", session, &format!("sleep {mark}; echo not stopped")]);
    wait_until("it runs", || processes_with(&format!("sleep {mark}")).len() > 1);
    child
}

fn exit_code(child: Child) -> Option<i32> {
    let output = child.wait_with_output().unwrap();
    assert!(!text(&output).contains("not stopped"), "{output:?}");
    output.status.code()
}

#[test]
fn one_execution_is_stopped_by_its_name_from_elsewhere() {
    for_each_user(|place| {
        let (mark, other) = (mark(), mark());
        let stopped = running(place, "a", &mark);
        let stays = running(place, "a", &other);
        let id = super::json(place, &["history", "--search", &mark])[0]["id"].as_str().unwrap().to_owned();
        let output = place.output(["stop", &id]);
        assert_eq!(output.status.code(), Some(0), "{output:?}");
        assert_eq!(processes_with(&mark), [0; 0], "when it returns, it has ended");
        assert_eq!(exit_code(stopped), Some(130));
        assert_eq!(commands(place, &["--status", "canceled"]).len(), 1);
        assert!(!processes_with(&other).is_empty(), "nothing else was");

        let again = place.output(["stop", &id]);
        assert_eq!(again.status.code(), Some(4), "{again:?}");
        assert!(complaint(&again).contains("has ended: canceled"), "{again:?}");
        assert_eq!(place.output(["stop", "01ARZ3NDEKTSV4RRFFQ69G5FAV"]).status.code(), Some(4));
        assert_eq!(place.output(["stop"]).status.code(), Some(2), "nothing was named");
        assert_eq!(place.output(["stop", "--all"]).status.code(), Some(0));
        assert_eq!(exit_code(stays), Some(130));
    });
}

#[test]
fn jobs_and_leftover_processes_are_stopped_too() {
    let place = Place::new(None);
    let (job, left) = (mark(), mark());
    let answer = place.call(&json!({"command": format!("sleep {job}"), "background": true}));
    assert_eq!(place.output(["stop", answer["id"].as_str().unwrap()]).status.code(), Some(0));
    assert_eq!(processes_with(&job), [0; 0]);
    let answer = place.call(&json!({"command": format!("setsid sleep {left} & echo done")}));
    let pid = answer["background"][0]["host_pid"].as_u64().unwrap();
    assert!(is_alive(pid));
    let output = place.output(["stop", answer["id"].as_str().unwrap()]);
    assert_eq!(output.status.code(), Some(0), "{output:?}");
    assert!(!is_alive(pid));
    place.assert_nothing_is_left();
}

#[test]
fn a_session_is_stopped_with_its_chats_and_no_other() {
    for_each_user(|place| {
        let marks = [mark(), mark(), mark()];
        let sessions = ["A", "A/b", "AB"];
        let mut children = sessions.iter().zip(&marks).map(|(session, mark)| running(place, session, mark));
        let (own, chat, other) =
            (children.next().unwrap(), children.next().unwrap(), children.next().unwrap());
        let output = place.output(["stop", "--session", "A"]);
        assert_eq!(text(&output), "stopped 2 executions of A\n");
        assert_eq!((exit_code(own), exit_code(chat)), (Some(130), Some(130)));
        assert!(!processes_with(&marks[2]).is_empty());
        assert_eq!(text(&place.output(["stop", "--all"])), "stopped 1 execution\n");
        assert_eq!(exit_code(other), Some(130));
    });
}

#[test]
fn a_session_without_a_name_is_called_by_its_root() {
    let place = Place::new(None);
    let mark = mark();
    let child = place.start(["run", &format!("sleep {mark}; echo not stopped")]);
    wait_until("it runs", || processes_with(&format!("sleep {mark}")).len() > 1);
    let root = place.root().canonicalize().unwrap();
    let output = place.output(["stop", "--session", root.to_str().unwrap()]);
    assert!(text(&output).starts_with("stopped 1 execution"), "{output:?}");
    assert_eq!(exit_code(child), Some(130));
    place.assert_nothing_is_left();
}

#[test]
fn stop_now_sends_no_sigterm_first() {
    let place = Place::new(None);
    let stopped = |flags: &[&str]| {
        let command = "trap 'touch asked; exit' TERM; touch ready; while :; do sleep 0.01; done";
        let child = place.start(["run", "--session", "x", command]);
        wait_until("it listens", || place.root().join("ready").exists());
        let stop = place.output(["stop", "--session", "x"].iter().chain(flags));
        assert_eq!((stop.status.code(), exit_code(child)), (Some(0), Some(130)), "{stop:?}");
        std::fs::remove_file(place.root().join("ready")).unwrap();
        std::fs::remove_file(place.root().join("asked")).is_ok()
    };
    assert!(!stopped(&["--now"]));
    assert!(stopped(&[]));
    place.assert_nothing_is_left();
}

/// The session of a root doesn't contain those of roots below it, for none of the commands.
#[test]
fn a_root_below_a_root_is_another_session_for_every_command() {
    for_each_user(|place| {
        let below = place.root().join("sub");
        assert!(place.program("mkdir").arg(&below).status().unwrap().success());
        let upper = place.root().canonicalize().unwrap().display().to_string();
        let lower = below.canonicalize().unwrap().display().to_string();
        let (one, other) = (mark(), mark());
        for (mark, root) in [(&one, &upper), (&other, &lower)] {
            let command = format!("sleep {mark}");
            let output = place.output(["run", "--background", "--root", root, &command]);
            assert!(output.status.success(), "{output:?}");
        }
        let listed = |command: &str, session: &str| {
            let output = place.output([command, "--session", session, "--json"]);
            let list: serde_json::Value = serde_json::from_slice(&output.stdout).unwrap();
            let list = list.get("jobs").unwrap_or(&list).as_array().unwrap().clone();
            list.iter().map(|one| one["command"].as_str().unwrap().to_owned()).collect::<Vec<_>>()
        };
        for command in ["jobs", "history"] {
            assert_eq!(listed(command, &upper), [format!("sleep {one}")], "{command}");
            assert_eq!(listed(command, &lower), [format!("sleep {other}")], "{command}");
        }
        assert!(place.output(["stop", "--session", &upper]).status.success());
        assert!(processes_with(&one).is_empty() && !processes_with(&other).is_empty());
        assert!(place.output(["stop", "--session", &lower]).status.success());
        assert!(processes_with(&other).is_empty());
        place.assert_nothing_is_left();
    });
}
