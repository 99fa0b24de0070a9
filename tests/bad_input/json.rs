//! Input that is not a JSON object.

use std::os::unix::ffi::OsStrExt as _;

use serde_json::json;

use super::{assert_errors, assert_refused, assert_runs, call, shown};
use crate::support::{Place, for_each_user};

/// A description of the input, and its bytes.
fn broken() -> Vec<(&'static str, Vec<u8>)> {
    let text = |text: &str| text.as_bytes().to_vec();
    let nested = |depth: usize| {
        format!(r#"{{"command": "touch ran", "env": {}{}}}"#, "[".repeat(depth), "]".repeat(depth))
    };
    vec![
        ("nothing", text("")),
        ("blanks", text(" \n\t ")),
        ("no end", text(r#"{"command": "touch ran""#)),
        ("no end of a string", text(r#"{"command": "touch ran"#)),
        ("only a start", text("{")),
        ("a list", text(r#"["touch ran"]"#)),
        ("a string", text(r#""touch ran""#)),
        ("a number", text("5")),
        ("a fraction", text("1.5")),
        ("a boolean", text("true")),
        ("null", text("null")),
        ("no JSON at all", text("touch ran")),
        ("single quotes", text("{'command': 'touch ran'}")),
        ("a comment", text(r#"{"command": "touch ran" /* now */}"#)),
        ("a comma too many", text(r#"{"command": "touch ran",}"#)),
        ("something behind it", text(r#"{"command": "touch ran"} ; touch ran"#)),
        ("two of them", text(r#"{"command": "touch ran"}{"command": "touch ran"}"#)),
        ("a line end in a string", text("{\"command\": \"touch ran\n\"}")),
        ("NaN", text(r#"{"command": "touch ran", "timeout_ms": NaN}"#)),
        ("Infinity", text(r#"{"command": "touch ran", "timeout_ms": -Infinity}"#)),
        ("a number beyond numbers", text(r#"{"command": "touch ran", "timeout_ms": 1e999}"#)),
        ("half a surrogate pair", text(r#"{"command": "touch ran \ud83d"}"#)),
        ("the other half", text(r#"{"command": "touch ran \ude00"}"#)),
        ("two first halves", text(r#"{"command": "touch ran \ud83d\ud83d"}"#)),
        ("half a pair in a name", text(r#"{"command": "touch ran", "\ud83d": 1}"#)),
        ("bytes that are no text", b"{\"command\": \"touch ran \xff\"}".to_vec()),
        ("Latin-1", b"{\"command\": \"touch ran; echo caf\xe9\"}".to_vec()),
        (
            "UTF-16",
            r#"{"command": "touch ran"}"#.encode_utf16().flat_map(u16::to_le_bytes).collect::<Vec<u8>>(),
        ),
        ("a deep nest", text(&nested(1_000))),
        ("a very deep nest", text(&nested(1_000_000))),
    ]
}

#[test]
fn what_is_no_json_object_is_refused() {
    for_each_user(|place| {
        let mut errors = Vec::new();
        for (what, input) in broken() {
            let error = assert_refused(place, &call(place, &[], &input), what);
            assert_eq!(error["code"], "invalid_input", "{what}");
            let again = assert_refused(place, &call(place, &["-"], &input), what);
            assert_eq!(again, error, "{what}: `-` is standard input too");
            errors.push(shown(what, &error));
        }
        assert_errors("json", &errors);
        assert_runs(place, &[], br#"{"command": "touch ran"}"#, "a good one");
        assert_runs(place, &["-"], b" {\n\"command\"\t: \"touch \\u0072an\"}\n", "spelled in other ways");
        assert_runs(place, &[], r#"{"command": "touch ran; : \ud83d\ude00 é"}"#.as_bytes(), "a whole pair");
    });
}

#[test]
fn an_argument_is_read_like_standard_input() {
    for_each_user(|place| {
        for (what, input) in broken() {
            // An argument has no NUL, no more than 128 KiB, and "" is an argument like any other.
            if input.contains(&0) || input.len() > 100_000 {
                continue;
            }
            let argument = std::ffi::OsStr::from_bytes(&input);
            let output = place.shellgate(["call"]).arg(argument).output().unwrap();
            let error = assert_refused(place, &output, what);
            assert_eq!(error, assert_refused(place, &call(place, &[], &input), what), "{what}");
        }
        let output = place.output(["call", r#"{"command": "touch ran"}"#]);
        assert_eq!(output.status.code(), Some(0));
        assert!(place.root().join("ran").exists());
    });
}

#[test]
fn arguments_beyond_measure_are_refused_unread() {
    let place = Place::new(None);
    let call_with = |length: usize, command: &str| {
        json!({"command": command, "stdin": "x".repeat(length)}).to_string().into_bytes()
    };
    let error = assert_refused(&place, &call(&place, &[], &call_with(70_000_000, "touch ran")), "70 MB");
    assert_eq!(error["code"], "invalid_input");
    assert_errors("beyond_measure", &[shown("70 MB", &error)]);
    let answer = assert_runs(&place, &[], &call_with(3_000_000, "touch ran; wc -c"), "3 MB");
    assert_eq!(answer["stdout"], "3000000\n");
    place.assert_nothing_is_left();
}
