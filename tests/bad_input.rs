//! Invalid calls: each is refused with an error that says what to change, and runs nothing.
//!
//! Every invalid call has a command that would create the file `ran`. A valid call with the same command creates it.

mod directory;
mod fields;
mod json;

use std::fmt::Write as _;
use std::io::Write as _;
use std::process::{Output, Stdio};

use serde_json::{Value, json};

use crate::support::{Place, for_each_user};

/// The keys of a result, in the order of the contract.
const RESULT_KEYS: [&str; 27] = [
    "id",
    "status",
    "command",
    "directory",
    "exit_code",
    "signal",
    "error",
    "stdout",
    "stderr",
    "stdout_bytes",
    "stderr_bytes",
    "stdout_truncated",
    "stderr_truncated",
    "stdout_file",
    "stderr_file",
    "timed_out",
    "canceled",
    "duration_ms",
    "pid",
    "host_pid",
    "background",
    "job",
    "waiting_for_input",
    "verdict",
    "effects",
    "denials",
    "artifacts",
];

const ERROR_KEYS: [&str; 5] = ["code", "message", "token", "rule", "hint"];

/// `shellgate call FLAGS`, with `input` on standard input.
fn call(place: &Place, flags: &[&str], input: &[u8]) -> Output {
    let mut command = place.shellgate(["call"].iter().chain(flags));
    let command = command.stdin(Stdio::piped()).stdout(Stdio::piped()).stderr(Stdio::piped());
    let mut child = command.spawn().unwrap();
    let mut stdin = child.stdin.take().unwrap();
    std::thread::scope(|scope| {
        // shellgate may refuse and close the pipe before it has read all input; that is no failure.
        scope.spawn(move || drop(stdin.write_all(input)));
        child.wait_with_output().unwrap()
    })
}

fn keys(object: &Value) -> Vec<&str> {
    object.as_object().unwrap().keys().map(String::as_str).collect()
}

/// Asserts that the command has not run.
fn assert_nothing_ran(place: &Place, what: &str) {
    assert!(!place.root().join("ran").exists(), "it ran: {what}");
    let spool = std::fs::read_dir(place.state().join("spool"));
    let kept = spool.map_or(0, Iterator::count);
    assert_eq!(kept, 0, "it left output: {what}");
}

/// Asserts that the call is refused and leaves nothing behind. Returns the error.
fn assert_refused(place: &Place, output: &Output, what: &str) -> Value {
    assert_eq!(output.status.code(), Some(3), "{what}: {output:?}");
    assert_eq!(output.stderr, b"", "{what}");
    let answer: Value = serde_json::from_slice(&output.stdout).unwrap();
    assert_eq!(keys(&answer), RESULT_KEYS, "{what}");
    let error = &answer["error"];
    assert_eq!(keys(error), ERROR_KEYS, "{what}");
    assert_eq!(answer["status"], "failed", "{what}");
    for key in ["exit_code", "signal", "pid", "host_pid", "job", "stdout_file", "stderr_file"] {
        assert_eq!(answer[key], Value::Null, "{what}: {key}");
    }
    assert_eq!((&answer["stdout"], &answer["stderr"]), (&json!(""), &json!("")), "{what}");
    if error["code"] == "invalid_input" {
        assert!(error["message"].as_str().unwrap().starts_with("invalid input: "), "{what}: {error}");
    }
    assert_nothing_ran(place, what);
    error.clone()
}

/// Asserts that the call runs and creates its file, and removes the file. Returns the answer.
fn assert_runs(place: &Place, flags: &[&str], input: &[u8], what: &str) -> Value {
    let output = call(place, flags, input);
    let answer: Value = serde_json::from_slice(&output.stdout).unwrap();
    assert_eq!((output.status.code(), &answer["status"]), (Some(0), &json!("completed")), "{what}: {answer}");
    assert_eq!(keys(&answer), RESULT_KEYS, "{what}");
    let made = place.root().join(answer["directory"].as_str().unwrap()).join("ran");
    std::fs::remove_file(made).unwrap_or_else(|error| panic!("it did not run: {what}: {error}"));
    for stream in ["stdout_file", "stderr_file"] {
        std::fs::remove_file(answer[stream].as_str().unwrap()).unwrap();
    }
    answer
}

/// An error as a snapshot shows it.
fn shown(what: &str, error: &Value) -> String {
    let mut text = format!("{what}\n");
    for key in ERROR_KEYS {
        if let Some(value) = error[key].as_str() {
            writeln!(text, "  {key}: {}", value.replace('\0', "\\0")).unwrap();
        }
    }
    text
}

/// The text without blanks at the ends of lines, which snapshots must not have.
fn tidy(text: &str) -> String {
    text.lines().map(|line| format!("{}\n", line.trim_end())).collect()
}

/// Compares with the snapshot called `name`; places differ from run to run.
fn assert_errors(name: &str, errors: &[String]) {
    insta::with_settings!({ filters => vec![(r#"[^\s`"]*/shellgate-test-\w+"#, "[PLACE]")], omit_expression => true }, {
        insta::assert_snapshot!(name, tidy(&errors.join("\n")));
    });
}

#[test]
fn a_network_that_nothing_denies_is_refused_and_none_is_not() {
    for_each_user(|place| {
        let input = br#"{"command": "touch ran"}"#;
        let mut errors = Vec::new();
        for flags in [
            &["--sandbox", "off", "--network", "deny"][..],
            &["--sandbox", "off", "--network", "deny", "--on-missing", "refuse"],
        ] {
            let what = flags.join(" ");
            errors.push(shown(&what, &assert_refused(place, &call(place, flags, input), &what)));
        }
        assert_errors("sandbox", &errors);
        assert_runs(place, &[], input, "without flags");
        assert_runs(place, &["--sandbox", "off", "--network", "allow"], input, "off");
    });
}
