//! Fields that are missing, unknown, repeated, of the wrong type or out of range.

use serde_json::{Value, json};

use super::{assert_errors, assert_refused, assert_runs, call, shown};
use crate::support::{Place, for_each_user};

/// Asserts that `input`, a JSON text, is refused as `invalid_input`.
fn refused(place: &Place, input: &str) -> Value {
    let error = assert_refused(place, &call(place, &[], input.as_bytes()), input);
    assert_eq!(error["code"], "invalid_input", "{input}");
    error
}

/// `field` beside a command that would run.
fn beside_command(field: &str, value: &Value) -> String {
    let mut call = json!({"command": "touch ran"});
    call[field] = value.clone();
    call.to_string()
}

/// Asserts that every input of a table is refused, and compares the errors with a snapshot.
fn refuse_all(place: &Place, snapshot: &str, inputs: &[&str]) {
    let errors: Vec<String> = inputs.iter().map(|input| shown(input, &refused(place, input))).collect();
    assert_errors(snapshot, &errors);
}

/// Every field with the type that it wants, in the words of the message, and a value of that type that runs.
fn fields() -> Vec<(&'static str, &'static str, Value)> {
    vec![
        ("command", "a string", json!("touch ran")),
        ("args", "a list of strings", Value::Null),
        ("description", "a string", json!("makes a file")),
        ("directory", "a string", json!(".")),
        ("background", "a boolean", json!(false)),
        ("pty", "a boolean", json!(false)),
        ("stdin", "a string", json!("some text")),
        ("timeout_ms", "a whole number", json!(60_000)),
        ("idle_timeout_ms", "a whole number", json!(60_000)),
        ("wait_ms", "a whole number", Value::Null),
        ("env", "an object of strings", json!({"A": "b"})),
        ("artifacts", "a list of strings", json!([])),
        ("format", "a string", json!("json")),
        ("detail", "a string", json!("full")),
        ("session", "a string", Value::Null),
    ]
}

#[test]
fn a_wrong_type_names_the_field_the_type_wanted_and_the_type_seen() {
    let samples = [
        ("a boolean", json!(true)),
        ("a number", json!(5)),
        ("a fraction", json!(1.5)),
        ("a string", json!("5")),
        ("a list", json!([])),
        ("an object", json!({})),
    ];
    let fits = |wanted: &str, seen: &str| {
        wanted == seen
            || wanted == "a list of strings" && seen == "a list"
            // A list of names and values is accepted too.
            || wanted == "an object of strings" && (seen == "an object" || seen == "a list")
            || wanted == "a whole number" && seen == "a number"
    };
    for_each_user(|place| {
        for (field, wanted, good) in fields() {
            for (seen, value) in samples.iter().filter(|(seen, _)| !fits(wanted, seen)) {
                let error = refused(place, &beside_command(field, value));
                let message = format!("invalid input: `{field}` must be {wanted}, not {seen}");
                assert_eq!((&error["message"], &error["token"]), (&json!(message), &json!(field)));
            }
            // `null` counts as absent for every type.
            let null = if field == "command" {
                json!({"command": "touch ran", "args": null}).to_string()
            } else {
                beside_command(field, &Value::Null)
            };
            assert_runs(place, &[], null.as_bytes(), &null);
            assert_runs(place, &[], beside_command(field, &good).as_bytes(), field);
        }
        let nulls = fields().into_iter().skip(1).map(|(field, ..)| (field.to_owned(), Value::Null));
        let mut all = json!({"command": "touch ran"});
        all.as_object_mut().unwrap().extend(nulls);
        assert_runs(place, &[], all.to_string().as_bytes(), "all of them");
    });
}

#[test]
fn what_is_in_a_list_or_an_object_has_a_type_too() {
    for_each_user(|place| {
        let inputs = [
            r#"{"command": "touch", "args": ["ran", 5]}"#,
            r#"{"command": "touch", "args": ["ran", null]}"#,
            r#"{"command": "touch", "args": ["ran", ["x"]]}"#,
            r#"{"command": "touch ran", "artifacts": [1.5]}"#,
            r#"{"command": "touch ran", "env": {"A": 5}}"#,
            r#"{"command": "touch ran", "env": {"A": null}}"#,
            r#"{"command": "touch ran", "env": {"A": {"B": "c"}}}"#,
            r#"{"command": "touch ran", "env": ["A=b"]}"#,
            r#"{"command": "touch ran", "env": [{"name": "A"}]}"#,
            r#"{"command": "touch ran", "env": [{"name": "A", "value": 5}]}"#,
            r#"{"command": "touch ran", "env": [{"name": 5, "value": "b"}]}"#,
            r#"{"command": "touch ran", "env": [{"name": "A", "value": "b", "export": "yes"}]}"#,
            r#"{"command": "touch ran", "env": [{"name": "A", "value": "b"}, {"name": "A", "value": "c"}]}"#,
        ];
        refuse_all(place, "inner_types", &inputs);
        assert_runs(place, &[], br#"{"command": "touch", "args": ["ran"]}"#, "strings");
        assert_runs(place, &[], br#"{"command": "touch $A", "env": {"A": "ran"}}"#, "a variable");
        let pairs = br#"{"command": "touch $A$B", "env": [{"name": "A", "value": "r"}, {"value": "an", "name": "B"}]}"#;
        assert_runs(place, &[], pairs, "variables in a list");
    });
}

#[test]
fn missing_unknown_and_repeated_fields_are_refused() {
    for_each_user(|place| {
        let inputs = [
            "{}",
            r#"{"command": null}"#,
            r#"{"cmd": null}"#,
            r#"{"description": "touch ran"}"#,
            r#"{"kommand": "touch ran"}"#,
            r#"{"Command": "touch ran"}"#,
            r#"{"command": "touch ran", "timeout": 5}"#,
            r#"{"command": "touch ran", "timeout-ms": 5}"#,
            r#"{"command": "touch ran", "is_background": true}"#,
            r#"{"command": "touch ran", "directories": "."}"#,
            r#"{"command": "touch ran", "arguments": []}"#,
            r#"{"command": "touch ran", "": 1}"#,
            r#"{"command": "touch ran", "sandbox": "off"}"#,
            r#"{"command": "touch ran", "approve": "allow"}"#,
            r#"{"command": "touch ran", "command": "touch ran"}"#,
            r#"{"command": "touch ran", "command": null}"#,
            r#"{"command": "touch ran", "c\u006fmmand": "touch ran"}"#,
            r#"{"command": "touch ran", "cmd": "touch ran"}"#,
            r#"{"cmd": "touch ran", "command": "touch ran"}"#,
            r#"{"cmd": "touch ran", "cmd": "touch ran"}"#,
            r#"{"command": "touch ran", "cwd": ".", "directory": "."}"#,
            r#"{"command": "touch ran", "workdir": ".", "dir_path": "."}"#,
            r#"{"command": "touch ran", "timeout_ms": 5, "timeout_ms": 5}"#,
            r#"{"command": "touch ran", "env": {"A": "1", "A": "2"}}"#,
            r#"{"command": "touch ran", "env": {}, "env": {}}"#,
        ];
        refuse_all(place, "names", &inputs);
        let long = beside_command(&"x".repeat(50_000), &json!(1));
        assert!(refused(place, &long)["hint"].as_str().unwrap().contains("the fields are `command`"));
    });
}

#[test]
fn aliases_run_and_what_clients_add_is_ignored() {
    for_each_user(|place| {
        std::fs::create_dir(place.root().join("sub")).unwrap();
        std::os::unix::fs::chown(place.root().join("sub"), place.user, place.user).unwrap();
        for (input, directory) in [
            (r#"{"cmd": "touch ran"}"#, "."),
            (r#"{"command": "touch ran", "cwd": "sub"}"#, "sub"),
            (r#"{"command": "touch ran", "workdir": "sub"}"#, "sub"),
            (r#"{"command": "touch ran", "dir_path": "sub"}"#, "sub"),
            (r#"{"command": "touch ran", "wait_for_previous": true}"#, "."),
            (r#"{"wait_for_previous": {"any": "thing"}, "command": "touch ran"}"#, "."),
            (r#"{"wait_for_previous": 1, "command": "touch ran", "wait_for_previous": 2}"#, "."),
        ] {
            assert_eq!(assert_runs(place, &[], input.as_bytes(), input)["directory"], directory, "{input}");
        }
    });
}

#[test]
fn what_no_system_can_run_is_refused() {
    for_each_user(|place| {
        let inputs = [
            r#"{"command": ""}"#,
            r#"{"command": " \n\t "}"#,
            r#"{"command": "", "args": ["ran"]}"#,
            r#"{"command": "  ", "args": []}"#,
            r#"{"command": "touch ran\u0000"}"#,
            r#"{"command": "touch\u0000", "args": ["ran"]}"#,
            r#"{"command": "touch", "args": ["ran", "a\u0000b"]}"#,
            r#"{"command": "touch ran", "env": {"": "x"}}"#,
            r#"{"command": "touch ran", "env": {"A=B": "x"}}"#,
            r#"{"command": "touch ran", "env": {"=": "x"}}"#,
            r#"{"command": "touch ran", "env": {"A\u0000": "x"}}"#,
            r#"{"command": "touch ran", "env": {"A": "x\u0000y"}}"#,
            r#"{"command": "touch ran", "format": "xml"}"#,
            r#"{"command": "touch ran", "format": ""}"#,
            r#"{"command": "touch ran", "detail": "FULL"}"#,
        ];
        refuse_all(place, "impossible", &inputs);
        assert_runs(
            place,
            &[],
            br#"{"command": "touch ran", "env": {"a-b.c": "", "1": "x"}}"#,
            "names that bash can't use, but programs can",
        );
    });
}

#[test]
fn the_longest_word_runs_and_one_byte_more_is_refused() {
    const LONGEST: usize = 131_071;
    let cases = |more: usize| {
        let padding = |taken: usize| "#".repeat(LONGEST - taken + more);
        [
            ("command", json!({"command": format!("touch ran {}", padding(10))})),
            ("args", json!({"command": "bash", "args": ["-c", "touch ran", padding(0)]})),
            // The kernel's limit includes the `A=`.
            ("env", json!({"command": "touch ran", "env": {"A": padding(2)}})),
        ]
    };
    for_each_user(|place| {
        for (field, longest) in cases(0) {
            assert_runs(place, &[], longest.to_string().as_bytes(), field);
        }
        let errors = cases(1).map(|(field, longer)| shown(field, &refused(place, &longer.to_string())));
        assert_errors("too_long", &errors);
    });
}

#[test]
fn times_are_whole_milliseconds_up_to_a_day() {
    let values =
        ["0", "-0", "-1", "1.5", "86400001", "\"5\"", "1e20", "-1e300", "18446744073709551616", "true"];
    for_each_user(|place| {
        for field in ["timeout_ms", "idle_timeout_ms", "wait_ms"] {
            let refusals = values.map(|value| {
                let input = format!(r#"{{"command": "touch ran", "{field}": {value}}}"#);
                shown(&input, &refused(place, &input)).replace(field, "FIELD")
            });
            assert_errors("times", &refusals);
        }
        for field in ["timeout_ms", "idle_timeout_ms"] {
            for value in ["86400000", "60000", "60000.0", "6e4"] {
                let input = format!(r#"{{"command": "touch ran", "{field}": {value}}}"#);
                assert_runs(place, &[], input.as_bytes(), &input);
            }
        }
    });
}

#[test]
fn a_name_that_no_file_or_session_can_have_is_refused_before_anything_runs() {
    for_each_user(|place| {
        let inputs = [
            r#"{"command": "touch ran", "artifacts": [""]}"#,
            r#"{"command": "touch ran", "artifacts": ["ran", "a\u0000b"]}"#,
            r#"{"command": "touch ran", "artifacts": ["ran/"]}"#,
            r#"{"command": "touch ran", "session": ""}"#,
            r#"{"command": "touch ran", "session": "a\nb"}"#,
            r#"{"command": "touch ran", "session": "a/b/c/d/e/f/g/h/i"}"#,
            r#"{"command": "touch ran", "session": 1}"#,
        ];
        refuse_all(place, "names_of_things", &inputs);
        let with = br#"{"command": "touch ran", "artifacts": ["ran"], "session": "work/chat"}"#;
        assert_runs(place, &[], with, "with names that can be");
    });
}
