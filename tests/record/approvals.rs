//! Questions that are answered from another terminal.

use std::process::{Child, Stdio};
use std::time::{Duration, Instant};

use rustix::process::{Pid, Signal, kill_process};
use serde_json::Value;

use super::{complaint, json, newest, text};
use crate::support::{Place, for_each_user, wait_until};

/// Starts `shellgate WORDS`, which asks in the queue. Returns it with its question.
pub(super) fn asking(place: &Place, words: &[&str]) -> (Child, Value) {
    let mut command = place.strictly(words);
    let child = command.stdout(Stdio::piped()).stderr(Stdio::piped()).spawn().unwrap();
    wait_until("the question waits", || !waiting(place).is_empty());
    (child, waiting(place).remove(0))
}

fn waiting(place: &Place) -> Vec<Value> {
    json(place, &["approvals", "list"]).as_array().unwrap().clone()
}

pub(super) fn number(question: &Value) -> String {
    question["id"].to_string()
}

#[test]
fn the_asker_waits_for_an_answer_from_elsewhere() {
    for_each_user(|place| {
        let (child, question) = asking(place, &["run", "--ask", "queue", "--timeout", "1s", "touch made"]);
        for (field, value) in [("command", "touch made"), ("directory", "."), ("dialect", "shellgate")] {
            assert_eq!(question[field], value);
        }
        assert_eq!(question["parts"][0]["argv"], serde_json::json!(["touch", "made"]));
        assert_eq!(
            question["choices"],
            serde_json::json!(["once", "session", "prefix", "always", "always_exact"])
        );
        let page = text(&place.output(["approvals", "list"]));
        for words in
            ["│ touch made", "│ no rule covers `touch`", " --session\n", "deny", "reason = \"approved"]
        {
            assert!(page.contains(words), "{words}: {page}");
        }
        // Longer than the command's timeout, which doesn't run while a person is asked.
        std::thread::sleep(Duration::from_millis(1100));
        assert!(!place.root().join("made").exists(), "nothing runs before the answer");
        let answered = place.output(["approvals", "approve", &number(&question)]);
        assert_eq!(answered.status.code(), Some(0), "{answered:?}");
        let output = child.wait_with_output().unwrap();
        assert_eq!(output.status.code(), Some(0), "{output:?}");
        assert!(place.root().join("made").exists());
        let story = json(place, &["history", "show", &newest(place)]);
        assert_eq!(story["approved_by"]["channel"], "queue");
        // The approval covers one call.
        let (child, question) = asking(place, &["run", "--ask", "queue", "touch made"]);
        place.output(["approvals", "deny", &number(&question), "--reason", "not again"]);
        let output = child.wait_with_output().unwrap();
        assert_eq!(output.status.code(), Some(125));
        assert!(complaint(&output).contains("denied_by_user: ") && complaint(&output).contains("not again"));
    });
}

#[test]
fn a_call_asks_the_queue_only_when_told() {
    let place = Place::new(None);
    let refused = place.strictly(["call", r#"{"command": "touch made"}"#]).output().unwrap();
    assert_eq!(refused.status.code(), Some(3));
    assert!(text(&refused).contains("approval_unavailable"));
    let (child, question) = asking(&place, &["call", "--ask", "queue", r#"{"command": "touch made"}"#]);
    place.output(["approvals", "approve", &number(&question)]);
    let output = child.wait_with_output().unwrap();
    let answer: Value = serde_json::from_slice(&output.stdout).unwrap();
    assert_eq!(answer["status"], "completed", "{answer}");
    assert!(answer["verdict"]["approved_by"].as_str().unwrap().contains("queue"), "{answer}");
    // The settings alone choose the queue.
    let settings = place.home().join("queue.toml");
    std::fs::write(&settings, "[approval]\nfrom = [\"queue\"]\n").unwrap();
    let words = ["call", "--config", settings.to_str().unwrap(), r#"{"command": "touch made"}"#];
    let (child, question) = asking(&place, &words);
    place.output(["approvals", "deny", &number(&question)]);
    assert_eq!(child.wait_with_output().unwrap().status.code(), Some(3));
    place.assert_nothing_is_left();
}

#[test]
fn of_two_answers_the_first_counts_and_the_second_is_told() {
    let place = Place::new(None);
    for round in 0..5 {
        let (child, question) = asking(&place, &["run", "--ask", "queue", &format!("touch made-{round}")]);
        let id = number(&question);
        let start = |words: &[&str]| place.start(words.iter().copied());
        let answers = [start(&["approvals", "approve", &id]), start(&["approvals", "deny", &id])];
        let [yes, no] = answers.map(|answer| answer.wait_with_output().unwrap());
        let (said_yes, loser) = if yes.status.success() { (true, no) } else { (false, yes) };
        assert_eq!(loser.status.code(), Some(6), "{loser:?}");
        let told = if said_yes { "answered before: yes, once" } else { "answered before: no" };
        assert!(complaint(&loser).contains(told), "{loser:?}");
        assert_eq!(child.wait_with_output().unwrap().status.success(), said_yes);
        assert_eq!(place.root().join(format!("made-{round}")).exists(), said_yes);
    }
    let unknown = place.output(["approvals", "approve", "4711"]);
    assert_eq!(unknown.status.code(), Some(4), "{unknown:?}");
    place.assert_nothing_is_left();
}

#[test]
fn an_approval_covers_only_the_chosen_scope() {
    let place = Place::new(None);
    let ask = |command: &str, flag: &str| {
        let (child, question) = asking(&place, &["run", "--ask", "queue", command]);
        let answered = place.output(["approvals", "approve", &number(&question), flag]);
        assert_eq!(answered.status.code(), Some(0), "{answered:?}");
        assert_eq!(child.wait_with_output().unwrap().status.code(), Some(0));
    };
    let runs = |command: &str| place.strictly(["run", command]).output().unwrap().status.code() == Some(0);
    ask("touch a", "--session");
    assert!(runs("touch a"));
    assert!(!runs("touch a b") && !runs("touch b"));
    ask("mkdir -p c", "--prefix");
    assert!(runs("mkdir -p d"));
    assert!(!runs("touch b"));
    assert!(!place.strictly(["run", "--session", "other", "touch a"]).output().unwrap().status.success());
    let file = place.home().join("nothing/shellgate/config.toml");
    assert!(!file.exists());
    ask("touch b", "--always");
    let written = std::fs::read_to_string(file).unwrap();
    assert!(written.contains("prefix = [\"touch\"]"), "{written}");
    assert!(runs("touch e"));

    let (child, question) = asking(&place, &["run", "--ask", "queue", "$(echo echo) hi"]);
    let refused = place.output(["approvals", "approve", &number(&question), "--prefix"]);
    assert_eq!(refused.status.code(), Some(2), "no prefix is offered: {refused:?}");
    place.output(["approvals", "deny", &number(&question)]);
    child.wait_with_output().unwrap();
    place.assert_nothing_is_left();
}

#[test]
fn the_question_of_a_canceled_stopped_or_dead_command_leaves_the_queue() {
    for_each_user(|place| {
        for command in ["run", "call"] {
            let arguments = if command == "run" { "touch made" } else { r#"{"command": "touch made"}"# };
            let (child, _) = asking(place, &[command, "--ask", "queue", arguments]);
            kill_process(Pid::from_child(&child), Signal::INT).unwrap();
            let output = child.wait_with_output().unwrap();
            assert_eq!(output.status.code(), Some(130), "{output:?}");
            assert_eq!(waiting(place), [Value::Null; 0]);
            assert_eq!(json(place, &["history", "show", &newest(place)])["status"], "canceled");
        }
        let (mut child, question) = asking(place, &["run", "--ask", "queue", "touch made"]);
        child.kill().unwrap();
        child.wait().unwrap();
        assert_eq!(waiting(place), [Value::Null; 0], "its asker is dead");
        let late = place.output(["approvals", "approve", &number(&question)]);
        assert_eq!(late.status.code(), Some(6), "{late:?}");
        let (child, question) = asking(place, &["run", "--ask", "queue", "touch made"]);
        let stopped = place.output(["stop", question["exec_id"].as_str().unwrap()]);
        assert_eq!(stopped.status.code(), Some(0), "{stopped:?}");
        assert_eq!(child.wait_with_output().unwrap().status.code(), Some(130));
        assert!(!place.root().join("made").exists());
        assert_eq!(json(place, &["audit", "verify"])["intact"], true);
    });
}

#[test]
fn no_answer_in_time_is_a_no() {
    let place = Place::new(None);
    let settings = place.home().join("quick.toml");
    std::fs::write(&settings, "[approval]\ntimeout_s = 1\n").unwrap();
    let before = Instant::now();
    let words = ["run", "--config", settings.to_str().unwrap(), "--ask", "queue", "touch made"];
    let output = place.strictly(words).output().unwrap();
    assert!(before.elapsed() >= Duration::from_secs(1));
    assert_eq!(output.status.code(), Some(125));
    assert!(complaint(&output).contains("approval_timeout: "), "{output:?}");
    assert_eq!(waiting(&place), [Value::Null; 0]);
    assert!(!place.root().join("made").exists());
    let story = text(&place.output(["audit", "export"]));
    assert!(story.contains(r#""settled":"timed_out""#) && !story.contains("canceled"), "{story}");
    let answer = r#"{"command": "touch made"}"#;
    let words = ["call", "--config", settings.to_str().unwrap(), "--ask", "queue", answer];
    let output = place.strictly(words).output().unwrap();
    assert_eq!(output.status.code(), Some(3));
    assert!(text(&output).contains(r#""code":"approval_timeout""#), "{output:?}");
    place.assert_nothing_is_left();
}

#[test]
fn what_is_asked_does_not_act_on_a_terminal() {
    let place = Place::new(None);
    let (child, question) = asking(
        &place,
        &["call", "--ask", "queue", r#"{"command": "echo \u001b[2J", "description": "\u001b[8m\u202eok"}"#],
    );
    let page = text(&place.output(["approvals", "list", "--color", "always"]));
    assert!(
        !page.contains("\u{1b}[2J") && !page.contains("\u{1b}[8m") && !page.contains('\u{202e}'),
        "{page:?}"
    );
    for shown in ["‹ESC›[2J", "‹ESC›[8m‹U+202E›ok"] {
        assert!(page.contains(shown), "{shown}: {page}");
    }
    let one = text(&place.output(["approvals", "list", &number(&question), "--color", "always"]));
    assert_eq!(one.lines().skip(1).collect::<Vec<_>>(), page.lines().skip(1).collect::<Vec<_>>());
    assert_eq!(place.output(["approvals", "list", "4711"]).status.code(), Some(4));
    place.output(["approvals", "deny", &number(&question)]);
    child.wait_with_output().unwrap();
    place.assert_nothing_is_left();
}
