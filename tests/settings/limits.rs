//! How much output is shown and kept.

use serde_json::{Value, json};

use super::{assert_texts, call, user_file, write_file};
use crate::support::{Place, for_each_user};

fn set(place: &Place, settings: &str) {
    write_file(place, &user_file(place), format!("[limits]\n{settings}\n"));
}

fn numbers(to: u32) -> String {
    (1..=to).map(|number| format!("{number}\n")).collect()
}

/// The line that replaces omitted output, with the text before and after it.
fn parts(text: &str) -> (&str, &str, &str) {
    let start = text.find("[… ").unwrap();
    let (head, rest) = text.split_at(start);
    let (line, tail) = rest.split_once('\n').unwrap();
    (head, line, tail)
}

#[test]
fn a_long_answer_is_cut_and_says_how_to_read_the_rest() {
    for_each_user(|place| {
        let whole = numbers(10_000);
        set(place, "answer_chars = 30000");
        let (answer, _) = call(place, &[], &json!({"command": "seq 10000; seq 10 >&2"}));
        assert_eq!(answer["stdout_bytes"], whole.len());
        assert_eq!((&answer["stdout_truncated"], &answer["stderr_truncated"]), (&json!(true), &json!(false)));
        assert_eq!(answer["stderr"], numbers(10));
        let (head, line, tail) = parts(answer["stdout"].as_str().unwrap());
        assert!(head.len() + tail.len() <= 30_000 && whole.starts_with(head) && whole.ends_with(tail));
        assert_texts("cut", &[line.to_owned()]);
        // The line names a command that prints the omitted part.
        let offered = line.split('`').nth(1).unwrap();
        let (rest, _) = call(place, &[], &json!({"command": offered, "detail": "full"}));
        assert_eq!(format!("{head}{}{tail}", rest["stdout"].as_str().unwrap()), whole);
        // `stdout_file` has the whole output.
        let file = std::fs::read_to_string(answer["stdout_file"].as_str().unwrap()).unwrap();
        assert_eq!(file, whole);
        let (full, _) = call(place, &[], &json!({"command": "seq 10000", "detail": "full"}));
        assert_eq!((&full["stdout"], &full["stdout_truncated"]), (&json!(whole), &json!(false)));
    });
}

#[test]
fn the_limits_of_an_answer_are_exact() {
    for_each_user(|place| {
        let shown = |length: usize, detail: &str| -> Value {
            let command = format!("printf 'é%.0s' {{1..{length}}}");
            call(place, &[], &json!({"command": command, "detail": detail})).0
        };
        set(place, "answer_chars = 100\nanswer_bytes = 400");
        for (detail, fits) in [("minimal", 100), ("full", 200)] {
            let answer = shown(fits, detail);
            assert_eq!(
                (&answer["stdout"], &answer["stdout_truncated"]),
                (&json!("é".repeat(fits)), &json!(false))
            );
            let answer = shown(fits + 1, detail);
            assert_eq!(answer["stdout_truncated"], true, "{detail}");
            let (head, _, tail) = parts(answer["stdout"].as_str().unwrap());
            assert!(head.trim_end_matches('\n').chars().all(|c| c == 'é'), "whole characters: {head}");
            assert!(tail.chars().all(|c| c == 'é'), "whole characters: {tail}");
        }
        set(place, "answer_chars = 1");
        let (answer, _) = call(place, &[], &json!({"command": "echo abc"}));
        assert_eq!((&answer["stdout_truncated"], &answer["stdout_bytes"]), (&json!(true), &json!(4)));
    });
}

#[test]
fn what_is_kept_has_its_limit_and_the_end_is_remembered() {
    for_each_user(|place| {
        set(place, "capture_bytes = 1000\nanswer_chars = 600");
        let whole = numbers(10_000);
        let (answer, _) = call(place, &[], &json!({"command": "seq 10000; echo err >&2"}));
        assert_eq!(answer["status"], "completed", "the command is not disturbed: {answer}");
        assert_eq!((&answer["stdout_bytes"], &answer["stderr_bytes"]), (&json!(whole.len()), &json!(4)));
        let kept = std::fs::read_to_string(answer["stdout_file"].as_str().unwrap()).unwrap();
        assert_eq!(Some(kept.as_str()), whole.get(..1000));
        let (head, line, tail) = parts(answer["stdout"].as_str().unwrap());
        assert!(whole.starts_with(head) && whole.ends_with(tail) && tail.ends_with("10000\n"));
        assert_texts("capture", &[line.to_owned()]);
        assert_eq!((&answer["stderr"], &answer["stderr_truncated"]), (&json!("err\n"), &json!(false)));
        // Events have no such limit, because they are not stored.
        let arguments = json!({"command": "seq 10000"}).to_string();
        let output = super::shellgate(place, ["call", "--events", &arguments]).output().unwrap();
        let events =
            super::text(&output.stdout).lines().map(|line| serde_json::from_str::<Value>(line).unwrap());
        let pieces = events.filter(|event| event["type"] == "tool-stream");
        let live: String = pieces.map(|event| event["text"].as_str().unwrap().to_owned()).collect();
        assert!(live == whole, "{} bytes came", live.len());
    });
}

#[test]
fn the_timeout_can_be_switched_off_by_zero() {
    for_each_user(|place| {
        set(place, "timeout_ms = 0\nidle_timeout_ms = 300");
        let (answer, _) = call(place, &[], &json!({"command": "echo x; sleep 1000"}));
        assert_eq!((&answer["status"], &answer["stdout"]), (&json!("timed_out"), &json!("x\n")));
        assert!(answer["error"]["message"].as_str().unwrap().contains("printed nothing for 300 ms"));
        set(place, "timeout_ms = 300");
        let (answer, _) = call(place, &[], &json!({"command": "while :; do echo; sleep 0.01; done"}));
        assert!(answer["error"]["message"].as_str().unwrap().contains("ran longer than 300 ms"));
    });
}
