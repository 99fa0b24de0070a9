//! What the judge foretold beside what happened: in `history show`, and for everyday commands that run for real.
//!
//! `scripts/foretold` does this with the whole corpus of the judge; here is a sample for every change.

use serde_json::{Value, json};

use super::for_each_user;
use crate::support::Place;

/// Commands whose every effect the judge foretells.
const EVERYDAY: &str = include_str!("foretold.txt");

/// Runs a command, and returns what the record has of it.
fn recorded(place: &Place, flags: &[&str], command: &str) -> (Value, String) {
    let flags = [&["--sandbox", "workspace"], flags].concat();
    let answer = place.call_with(&flags, &json!({"command": command}));
    let id = answer["id"].as_str().unwrap_or_else(|| panic!("{answer}"));
    let json = place.output(["history", "show", "--json", id]);
    let text = String::from_utf8(place.output(["history", "show", id]).stdout).unwrap();
    (serde_json::from_slice(&json.stdout).unwrap(), text)
}

/// How each observed effect is foretold: `named write out`.
fn compared(shown: &Value) -> Vec<String> {
    let rows = shown["compared"]["observed"].as_array().unwrap_or_else(|| panic!("{shown}"));
    let text = |row: &Value, name: &str| row[name].as_str().unwrap().to_owned();
    rows.iter()
        .map(|row| format!("{} {} {}", text(row, "foretold"), text(row, "effect"), text(row, "target")))
        .collect()
}

#[test]
fn what_nobody_foresaw_is_marked() {
    for_each_user(|place| {
        place.write("unsorted", "b\na\n");
        let listener = std::net::TcpListener::bind("127.0.0.1:0").unwrap();
        let port = listener.local_addr().unwrap().port();
        place.write(
            "code.py",
            &format!("import socket\nopen('made', 'w')\nsocket.create_connection(('127.0.0.1', {port}))\n"),
        );
        let command = "sort -o sorted unsorted && python3 code.py; rm -f sorted missing";
        for flags in [&[][..], &["--exclude", "nosuchprogram"]] {
            let (shown, text) = recorded(place, flags, command);
            assert_eq!(
                compared(&shown),
                [
                    format!("named run bash -c {command}"),
                    "named run sort -o sorted unsorted".to_owned(),
                    "named run python3 code.py".to_owned(),
                    "named run rm -f sorted missing".to_owned(),
                    "named write sorted".to_owned(),
                    "unnamed write made".to_owned(),
                    "named delete sorted".to_owned(),
                    format!("unnamed network 127.0.0.1:{port}"),
                ],
                "{shown}"
            );
            let calls = shown["foretold"]["calls"].as_array().unwrap();
            assert!(
                calls.contains(&json!({"program": "rm", "effects": [
                    {"effect": "delete", "target": "missing"}, {"effect": "delete", "target": "sorted"}]})),
                "{shown}"
            );
            assert!(text.contains("foretold, not observed: deletes `missing`\n"), "{text}");
            assert!(text.contains("runs code: `code.py`") && !text.contains("not foretold"), "{text}");
        }
        // Too much for its buffer: it writes temporary files, which no word of the call says.
        let numbers: String = (0..200_000).map(|number| format!("{number}\n")).collect();
        place.write("big", &numbers);
        let (shown, text) = recorded(place, &[], "sort -S 1M big > /dev/null && mkdir new");
        assert!(compared(&shown).contains(&"named write new".to_owned()), "{shown}");
        let unforeseen: Vec<&str> = text.lines().filter(|line| line.starts_with("  ! ")).collect();
        let is_marked = |words: &str| {
            unforeseen.iter().any(|line| line.contains(words) && line.ends_with("  not foretold"))
        };
        assert!(is_marked("! writes /tmp/sort") && is_marked("! deletes /tmp/sort"), "{text}");
        assert!(!text.contains("! runs") && !text.contains("! writes new"), "{text}");
        std::fs::remove_dir(place.root().join("new")).unwrap();
    });
}

#[test]
fn everyday_commands_do_what_was_foretold() {
    let place = &Place::below(std::path::Path::new(super::OUTSIDE), None);
    let fixture = include_str!("../../crates/policy/tests/vectors/presets-fixture.sh");
    let made = place.program("bash").args(["-c", fixture, "fixture"]).arg(place.root()).output().unwrap();
    assert!(made.status.success(), "{made:?}");
    let mut unforeseen = Vec::new();
    let commands = EVERYDAY.lines().filter(|line| !line.is_empty() && !line.starts_with('#'));
    for command in commands {
        let (shown, _) = recorded(place, &[], command);
        let rows = compared(&shown);
        assert!(rows.len() > 1, "{command}: nothing was observed: {shown}");
        unforeseen.extend(
            rows.into_iter().filter(|row| row.starts_with("no ")).map(|row| format!("{command}: {row}")),
        );
    }
    assert!(unforeseen.is_empty(), "{unforeseen:#?}");
    place.assert_nothing_is_left();
}
