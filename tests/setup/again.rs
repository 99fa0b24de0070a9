//! Running `setup` again: the flags in the server's entry stay, because losing one could loosen the rules.

use serde_json::{Value, json};

use super::{CASES, Case, at, case, complaint, values};
use crate::support::{Place, shellgate};

/// The program and arguments with which the entry starts the server.
fn words(case: &Case, place: &Place) -> Vec<Value> {
    let entry = at(&values(case, &case.read(place)), case.entry).clone();
    let program = if entry["cmd"].is_null() { &entry["command"] } else { &entry["cmd"] };
    let program = program.as_array().cloned().unwrap_or_else(|| vec![program.clone()]);
    program.into_iter().chain(entry["args"].as_array().cloned().unwrap_or_default()).collect()
}

fn has(words: &[Value], two: [&str; 2]) -> bool {
    words.windows(2).any(|pair| pair == two)
}

const EXCLUDE: [&str; 2] = ["--exclude", "git push"];

/// Every way to run `setup` again without flags after `--`.
fn again(case: &Case) -> Vec<&'static [&'static str]> {
    let mut ways: Vec<&[&str]> = vec![&["--yes"]];
    if !["claude-desktop", "cursor", "vscode"].contains(&case.name) {
        ways.push(&["--yes", "--shell-off"]);
    }
    if ["gemini", "qwen", "claude", "codex"].contains(&case.name) {
        ways.push(&["--yes", "--trust"]);
    }
    ways
}

/// A place with other settings, where `setup` was run with `--exclude`.
fn set_up_with_flags(case: &Case) -> Place {
    let place = Place::new(None);
    case.write(&place, case.full);
    case.done(&place, &["--yes", "--", "--exclude", "git push"]);
    place
}

#[test]
fn flags_of_the_first_time_stay() {
    for case in CASES {
        let place = set_up_with_flags(case);
        let first = words(case, &place);
        assert!(has(&first, EXCLUDE), "{}: {first:?}", case.name);
        let text = case.read(&place);
        let shown = case.done(&place, &["--yes"]);
        assert!(shown.contains("nothing to do, it is already set up"), "{shown}");
        assert_eq!(case.read(&place), text, "{}", case.name);
        for flags in again(case) {
            case.done(&place, flags);
            assert_eq!(words(case, &place), first, "{} {flags:?}", case.name);
        }
        case.done(&place, &["--undo", "--yes"]);
        assert_eq!(case.read(&place), case.full, "{}: as before the first time", case.name);
    }
}

#[test]
fn flags_that_the_user_edited_stay() {
    for case in CASES {
        let place = set_up_with_flags(case);
        case.write(&place, &case.read(&place).replace("git push", "git fetch"));
        let edited = words(case, &place);
        assert!(has(&edited, ["--exclude", "git fetch"]), "{}: {edited:?}", case.name);
        for flags in again(case) {
            case.done(&place, flags);
            assert_eq!(words(case, &place), edited, "{} {flags:?}", case.name);
        }
        case.done(&place, &["--undo", "--yes"]);
        let after = case.read(&place);
        assert_eq!(values(case, &after), values(case, case.full), "{}: {after}", case.name);
    }
}

#[test]
fn an_entry_written_by_hand_keeps_its_flags() {
    for case in CASES {
        let elsewhere = Place::new(None);
        case.write(&elsewhere, case.full);
        case.done(&elsewhere, &["--yes", "--", "--exclude", "git push"]);
        let own = shellgate().canonicalize().unwrap().display().to_string();
        let by_hand = case.read(&elsewhere).replace(&own, "/old/bin/shellgate");
        for flags in again(case) {
            let place = Place::new(None);
            case.write(&place, &by_hand);
            case.done(&place, flags);
            let words = words(case, &place);
            assert_eq!(words[0], own.as_str(), "{}: the program is renewed", case.name);
            assert!(has(&words, EXCLUDE), "{} {flags:?}: {words:?}", case.name);
            case.done(&place, &["--undo", "--yes"]);
            assert_eq!(case.read(&place), by_hand, "{} {flags:?}: not ours to take out", case.name);
        }
    }
}

#[test]
fn new_flags_replace_the_old_ones_and_that_is_shown() {
    for case in CASES {
        let place = set_up_with_flags(case);
        let shown = case.done(&place, &["--yes", "--", "--exclude", "rm"]);
        let taken = shown.lines().any(|line| line.starts_with('-') && line.contains("git push"));
        assert!(taken, "{}: {shown}", case.name);
        let words = words(case, &place);
        assert!(has(&words, ["--exclude", "rm"]) && !has(&words, EXCLUDE), "{}: {words:?}", case.name);
        case.done(&place, &["--undo", "--yes"]);
        assert_eq!(case.read(&place), case.full, "{}", case.name);
    }
}

#[test]
fn a_root_or_dialect_changes_that_alone() {
    let place = Place::new(None);
    let root = place.root().canonicalize().unwrap().display().to_string();
    let gemini = case("gemini");
    for (before, after) in [
        (
            json!(["mcp", "--exclude", "a"]),
            json!(["mcp", "--exclude", "a", "--dialect", "qwen", "--root", root]),
        ),
        (
            json!(["mcp", "--root", "/old", "--exclude", "a", "--dialect=gemini"]),
            json!(["mcp", "--root", root, "--exclude", "a", "--dialect", "qwen"]),
        ),
    ] {
        let entry = json!({"mcpServers": {"shellgate": {"command": "shellgate", "args": before}}});
        gemini.write(&place, &entry.to_string());
        gemini.done(&place, &["--yes", "--dialect", "qwen", "--root", "."]);
        assert_eq!(Value::from(words(gemini, &place)[1..].to_vec()), after);
    }
    let desktop = case("claude-desktop");
    desktop.done(&place, &["--yes"]);
    let again = place.output(["setup", "claude-desktop", "--yes"]);
    assert_eq!(again.status.code(), Some(0), "its entry has the folder: {again:?}");
}

/// Entries that start shellgate through another program. `setup` without flags doesn't change them.
#[test]
fn what_starts_shellgate_in_another_way_is_left_as_it_is() {
    for (name, entry) in [
        ("gemini", json!({"command": "nice", "args": ["shellgate", "mcp", "--exclude", "git push"]})),
        ("gemini", json!({"command": "sh", "args": ["-c", "exec /opt/shellgate mcp --exclude 'git push'"]})),
        ("zed", json!({"command": {"path": "/opt/shellgate", "args": ["mcp", "--exclude", "git push"]}})),
        (
            "opencode",
            json!({"type": "local", "command": ["nice", "shellgate", "mcp", "--exclude", "x"], "enabled": true, "timeout": 5}),
        ),
    ] {
        let place = Place::new(None);
        let case = case(name);
        let text = json!({case.entry[0]: {"shellgate": entry}}).to_string();
        case.write(&place, &text);
        let shown = case.done(&place, &["--yes"]);
        assert!(shown.contains("nothing to do"), "{shown}");
        assert_eq!(case.read(&place), text);
        let output = case.setup(&place, &["--yes", "--root", "."]);
        assert_eq!(output.status.code(), Some(2), "{output:?}");
        assert!(complaint(&output).contains("starts shellgate through another program"), "{output:?}");
        assert_eq!(case.read(&place), text);
        case.done(&place, &["--yes", "--", "--exclude", "rm"]);
        let words = words(case, &place);
        assert_eq!(Value::from(words[1..].to_vec()), json!(["mcp", "--exclude", "rm"]), "asked for");
    }
}

#[test]
fn another_program_of_that_name_is_replaced() {
    let place = Place::new(None);
    let gemini = case("gemini");
    for entry in [
        json!({"command": "node", "args": ["other.js", "mcp"]}),
        json!({"command": "shellgate", "args": ["serve"]}),
        json!({"url": "http://127.0.0.1:1/mcp"}),
        json!("shellgate mcp"),
    ] {
        gemini.write(&place, &json!({"mcpServers": {"shellgate": entry}}).to_string());
        gemini.done(&place, &["--yes"]);
        assert_eq!(Value::from(words(gemini, &place)[1..].to_vec()), json!(["mcp"]), "{entry}");
    }
}
