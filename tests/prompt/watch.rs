//! `approvals watch`: the prompt in a second terminal.

use std::process::{Child, Stdio};

use crate::support::pane::Pane;
use crate::support::{Place, for_each_user, shellgate, wait_until};

/// Starts `shellgate run WORDS`, which asks in the queue.
fn asking(place: &Place, words: &[&str]) -> Child {
    let mut command =
        place.strictly(["run", "--preset", "none", "--ask", "queue"].iter().chain(words).copied());
    command.env("XDG_CONFIG_HOME", place.home().join("settings"));
    command.stdout(Stdio::piped()).stderr(Stdio::piped()).spawn().unwrap()
}

fn start(pane: &Pane<'_>) {
    let program = shellgate().display().to_string();
    pane.type_line(&format!(
        "clear; stty -a > before; {program} approvals watch; echo left: $?; stty -a > after"
    ));
    pane.shows("waiting for questions");
}

fn leave(pane: &Pane<'_>) {
    pane.press(&["C-c"]);
    pane.shows("left: 130");
    let after = pane.place.root().join("after");
    wait_until("the modes are read", || std::fs::read(&after).is_ok_and(|modes| !modes.is_empty()));
    let modes = |name: &str| std::fs::read_to_string(pane.place.root().join(name)).unwrap();
    assert_eq!(modes("before"), modes("after"));
}

#[test]
fn questions_are_answered_one_after_the_other() {
    for_each_user(|place| {
        let pane = Pane::new(place, 80, 24);
        let copy = place.home().join("copy");
        pane.copy_output_to(&copy);
        start(&pane);
        let bells = || std::fs::read(&copy).unwrap_or_default().iter().filter(|byte| **byte == 7).count();
        assert_eq!(bells(), 0);
        for (key, code, summary) in [("y", 0, "approved once: touch a"), ("n", 125, "denied: touch a")] {
            let asker = asking(place, &["touch a"]);
            let screen = pane.shows("may this run?");
            assert!(
                screen.contains("│ touch a") && screen.contains("a yes for the session ends"),
                "{screen}"
            );
            pane.press_calmly(key);
            pane.shows(summary);
            assert_eq!(asker.wait_with_output().unwrap().status.code(), Some(code), "{key}");
        }
        wait_until("the bell has rung for each", || bells() == 2);
        // Always: the lines first, then file and line.
        let asker = asking(place, &["touch b"]);
        pane.shows("may this run?");
        pane.press_calmly("a");
        pane.shows("add this to your settings?");
        pane.press_calmly("y");
        let screen = pane.shows("to take it back, remove the rule at");
        assert!(screen.replace('\n', "").contains("settings/shellgate/config.toml:1"), "{screen}");
        assert_eq!(asker.wait_with_output().unwrap().status.code(), Some(0));
        leave(&pane);
    });
}

#[test]
fn a_question_that_is_over_disappears_with_a_line() {
    for_each_user(|place| {
        let pane = Pane::new(place, 80, 24);
        start(&pane);
        for (how, told) in [("approve", "approved elsewhere: touch"), ("deny", "denied elsewhere: touch")] {
            let asker = asking(place, &[&format!("touch {how}")]);
            pane.shows(&format!("│ touch {how}"));
            let list = place.strictly(["approvals", "list", "--json"]).output().unwrap();
            let list: serde_json::Value = serde_json::from_slice(&list.stdout).unwrap();
            let id = list.pointer("/0/id").unwrap().to_string();
            assert!(place.strictly(["approvals", how, &id]).output().unwrap().status.success());
            let screen = pane.shows(told);
            assert!(!screen.contains("may this run?"), "{screen}");
            asker.wait_with_output().unwrap();
        }
        // The asker is killed, so no process waits for the answer.
        let mut asker = asking(place, &["touch c"]);
        pane.shows("│ touch c");
        asker.kill().unwrap();
        asker.wait().unwrap();
        pane.shows("the question was withdrawn: touch c");
        leave(&pane);
    });
}

#[test]
fn leaving_while_a_question_is_shown_leaves_it_to_others() {
    for_each_user(|place| {
        let pane = Pane::new(place, 80, 24);
        start(&pane);
        let asker = asking(place, &["touch a"]);
        pane.shows("may this run?");
        leave(&pane);
        let list = place.strictly(["approvals", "list", "--json"]).output().unwrap();
        let list: serde_json::Value = serde_json::from_slice(&list.stdout).unwrap();
        let id = list.pointer("/0/id").unwrap().to_string();
        assert!(place.strictly(["approvals", "approve", &id]).output().unwrap().status.success());
        assert_eq!(asker.wait_with_output().unwrap().status.code(), Some(0));
    });
}
