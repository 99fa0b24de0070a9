//! `call` prints the answer and nothing else; `--events` prints events as they happen.

use std::io::{BufRead as _, BufReader, Lines, Write as _};
use std::process::{Child, ChildStdout, Stdio};

use serde_json::{Value, json};

use super::text;
use crate::support::{Place, for_each_user};

#[test]
fn standard_output_is_exactly_the_answer_wherever_the_arguments_come_from() {
    for_each_user(|place| {
        let arguments = r#"{"command": "echo hi; echo err >&2"}"#;
        let fed = |words: &[&str]| {
            let mut command = place.shellgate(words);
            let mut child =
                command.stdin(Stdio::piped()).stdout(Stdio::piped()).stderr(Stdio::piped()).spawn().unwrap();
            child.stdin.take().unwrap().write_all(arguments.as_bytes()).unwrap();
            child.wait_with_output().unwrap()
        };
        let file = place.write("arguments", arguments);
        let from_file = place.shellgate(["call"]).stdin(std::fs::File::open(file).unwrap()).output().unwrap();
        let outputs = [place.output(["call", arguments]), fed(&["call", "-"]), fed(&["call"]), from_file];
        for output in outputs {
            assert_eq!((output.status.code(), text(&output.stderr)), (Some(0), ""));
            let answer = text(&output.stdout);
            assert!(answer.starts_with('{') && answer.ends_with('}'), "nothing around it: {answer:?}");
            let answer: Value = serde_json::from_str(answer).unwrap();
            assert_eq!((&answer["stdout"], &answer["stderr"]), (&json!("hi\n"), &json!("err\n")));
        }
    });
}

#[test]
fn a_command_that_fails_is_an_answer_and_a_refusal_is_not() {
    for_each_user(|place| {
        for (arguments, code) in [
            (json!({"command": "exit 7"}), 0),
            (json!({"command": "kill -KILL $$"}), 0),
            (json!({"command": "no-such-program"}), 0),
            (json!({"command": "no-such-program", "args": []}), 0),
            (json!({"command": "sleep 1000", "timeout_ms": 100}), 0),
            (json!({"command": " "}), 3),
            (json!({"command": "true", "directory": ".."}), 3),
        ] {
            let output = place.output(["call", &arguments.to_string()]);
            assert_eq!(output.status.code(), Some(code), "{arguments}: {output:?}");
        }
        let output =
            place.shellgate(["call", r#"{"command": "true"}"#]).env("PATH", "/nowhere").output().unwrap();
        let answer: Value = serde_json::from_slice(&output.stdout).unwrap();
        assert_eq!((output.status.code(), &answer["error"]["code"]), (Some(0), &json!("spawn_failed")));
        assert_eq!((&answer["pid"], &answer["exit_code"]), (&Value::Null, &Value::Null));
    });
}

/// A running `call --events`, and its events.
struct Events {
    child: Child,
    lines: Lines<BufReader<ChildStdout>>,
}

impl Events {
    fn start(place: &Place, arguments: &Value) -> Self {
        let mut child = place.start(["call", "--events", &arguments.to_string()]);
        let lines = BufReader::new(child.stdout.take().unwrap()).lines();
        Self { child, lines }
    }

    /// The next event, with its keys in the contract's order.
    fn next(&mut self) -> Option<Value> {
        let line = self.lines.next()?.unwrap();
        let event: Value = serde_json::from_str(&line).unwrap();
        let keys: Vec<&str> = event.as_object().unwrap().keys().map(String::as_str).collect();
        let wanted: &[&str] = match event["type"].as_str().unwrap() {
            "state" => &["type", "id", "status"],
            "tool-stream" => &["type", "id", "stream", "offset", "text"],
            "result" => &["type", "json"],
            other => panic!("there is no event {other}"),
        };
        assert_eq!(keys, wanted, "{line}");
        Some(event)
    }

    /// Reads on until `text` has come on `stream`. Returns everything read.
    fn until(&mut self, stream: &str, text: &str) -> Vec<Value> {
        let mut seen = Vec::new();
        while let Some(event) = self.next() {
            seen.push(event);
            if joined(&seen, stream).contains(text) {
                return seen;
            }
        }
        panic!("{text:?} never came: {seen:?}");
    }

    /// The remaining events, and the exit code.
    fn rest(mut self) -> (Vec<Value>, Option<i32>) {
        let events = std::iter::from_fn(|| self.next()).collect();
        (events, self.child.wait().unwrap().code())
    }
}

fn of_stream<'a>(events: &'a [Value], stream: &str) -> Vec<&'a Value> {
    events.iter().filter(|event| event["type"] == "tool-stream" && event["stream"] == stream).collect()
}

fn joined(events: &[Value], stream: &str) -> String {
    of_stream(events, stream).iter().map(|event| event["text"].as_str().unwrap()).collect()
}

fn states(events: &[Value]) -> Vec<&str> {
    events
        .iter()
        .filter(|event| event["type"] == "state")
        .map(|event| event["status"].as_str().unwrap())
        .collect()
}

/// Asserts that the last event is the only result, and that all events are of one execution.
fn assert_one_story(events: &[Value]) -> &Value {
    let (result, before) = events.split_last().unwrap();
    assert_eq!(result["type"], "result");
    let result = &result["json"];
    for event in before {
        assert_ne!(event["type"], "result");
        assert_eq!(event["id"], result["id"], "{event}");
    }
    if let Some(last) = before.last().filter(|_| result["status"] != "running") {
        assert_eq!((&last["type"], &last["status"]), (&json!("state"), &result["status"]));
    }
    result
}

#[test]
fn states_come_in_order_and_the_result_last() {
    for_each_user(|place| {
        for (arguments, last, code) in [
            (json!({"command": "echo hi"}), "completed", 0),
            (json!({"command": "echo hi; exit 3"}), "failed", 0),
            (json!({"command": "echo hi; kill -KILL $$"}), "failed", 0),
            (json!({"command": "echo hi; sleep 1000", "timeout_ms": 300}), "timed_out", 0),
        ] {
            let (events, exit) = Events::start(place, &arguments).rest();
            assert_eq!(states(&events), ["queued", "starting", "running", last], "{arguments}");
            assert_eq!((joined(&events, "stdout").as_str(), exit), ("hi\n", Some(code)));
            assert_eq!(assert_one_story(&events)["stdout"], "hi\n");
        }
        let (events, exit) = Events::start(place, &json!({"command": "x", "nope": 1})).rest();
        assert_eq!((states(&events), exit), (vec!["failed"], Some(3)));
        assert_eq!(assert_one_story(&events)["error"]["code"], "invalid_input");
        let (events, exit) = Events::start(place, &json!({"command": "no-such-program", "args": []})).rest();
        assert_eq!((states(&events).last(), exit), (Some(&"failed"), Some(0)));
        assert_eq!(assert_one_story(&events)["error"]["code"], "spawn_failed");
    });
}

/// Makes a named pipe `gate` in the root, from which a command reads to wait for the test.
fn make_gate(place: &Place) {
    assert!(place.program("mkfifo").arg("gate").status().unwrap().success());
}

/// Shell code that waits for the gate. It skips an end of file that comes from the previous writer.
const WAIT: &str = "until read x < gate; do :; done";

fn release(place: &Place) {
    std::fs::write(place.root().join("gate"), "go\n").unwrap();
}

#[test]
fn output_comes_while_the_command_still_runs() {
    for_each_user(|place| {
        make_gate(place);
        let command = format!("echo one; {WAIT}; echo two; {WAIT}; echo three >&2");
        let mut events = Events::start(place, &json!({"command": command}));
        let mut seen = events.until("stdout", "one\n");
        release(place);
        seen.extend(events.until("stdout", "two\n"));
        release(place);
        let (rest, exit) = events.rest();
        seen.extend(rest);
        let pieces = seen.iter().filter(|event| event["type"] == "tool-stream");
        let pieces: Vec<String> = pieces
            .map(|event| format!("{} {} {}", event["stream"], event["offset"], event["text"]))
            .collect();
        assert_eq!(
            pieces,
            [r#""stdout" 0 "one\n""#, r#""stdout" 4 "two\n""#, r#""stderr" 0 "three\n""#],
            "each as it came"
        );
        assert_eq!(exit, Some(0));
        assert_one_story(&seen);
    });
}

#[test]
fn a_character_is_never_split_however_its_bytes_come() {
    for_each_user(|place| {
        make_gate(place);
        // After each byte the command prints to the other stream, and the test waits for that before the next byte.
        let bytes: Vec<u8> = "aéz€😀\n".bytes().collect();
        let steps: String = bytes
            .iter()
            .enumerate()
            .map(|(nth, byte)| format!("printf '\\x{byte:02x}'; echo step{nth}. >&2; {WAIT}; "))
            .collect();
        let mut events = Events::start(place, &json!({"command": steps}));
        let mut seen = Vec::new();
        for nth in 0..bytes.len() {
            seen.extend(events.until("stderr", &format!("step{nth}.")));
            release(place);
        }
        let (rest, _) = events.rest();
        seen.extend(rest);
        assert_eq!(joined(&seen, "stdout"), "aéz€😀\n");
        assert!(!joined(&seen, "stdout").contains('\u{fffd}'));
        assert_offsets_add_up(&seen, "stdout");
        assert_offsets_add_up(&seen, "stderr");
        assert_one_story(&seen);
    });
}

/// Asserts for UTF-8 output that each piece begins where the previous one ended.
fn assert_offsets_add_up(events: &[Value], stream: &str) {
    let mut offset = 0;
    for event in of_stream(events, stream) {
        assert_eq!(event["offset"], offset, "{event}");
        offset += event["text"].as_str().unwrap().len() as u64;
    }
}

#[test]
fn bytes_that_are_no_text_are_replaced_and_counted() {
    for_each_user(|place| {
        let (events, _) = Events::start(place, &json!({"command": "printf 'a\\xffb\\xc3'"})).rest();
        assert_eq!(joined(&events, "stdout"), "a\u{fffd}b\u{fffd}");
        let last = *of_stream(&events, "stdout").last().unwrap();
        assert_eq!(
            (&last["offset"], &last["text"]),
            (&json!(3), &json!("\u{fffd}")),
            "an end without its rest"
        );
        assert_eq!(assert_one_story(&events)["stdout_bytes"], 4);
    });
}

#[test]
fn a_lot_of_output_comes_whole() {
    for_each_user(|place| {
        let (events, _) = Events::start(place, &json!({"command": "seq 200000; seq 100000 >&2"})).rest();
        let numbers = |to: u32| (1..=to).map(|number| format!("{number}\n")).collect::<String>();
        assert!(joined(&events, "stdout") == numbers(200_000));
        assert!(joined(&events, "stderr") == numbers(100_000));
        assert_offsets_add_up(&events, "stdout");
        assert_offsets_add_up(&events, "stderr");
        let result = assert_one_story(&events);
        assert_eq!((&result["stdout_truncated"], &result["stderr_truncated"]), (&json!(true), &json!(true)));
    });
}
