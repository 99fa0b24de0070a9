//! Undoing a set-up without its notes: which settings stay changed.

use serde_json::Value;

use super::{at, case, text, values};
use crate::support::Place;

/// The agents whose own shell can be switched off, and where.
const SWITCHES: &[(&str, &str, &[&str])] = &[
    ("gemini", ".gemini/settings.json", &["tools", "exclude"]),
    ("qwen", ".qwen/settings.json", &["permissions", "deny"]),
    ("claude", ".claude/settings.json", &["permissions", "deny"]),
    ("codex", ".codex/config.toml", &["features", "shell_tool"]),
    ("zed", ".config/zed/settings.json", &["agent", "tool_permissions", "tools", "terminal", "default"]),
    ("opencode", ".config/opencode/opencode.json", &["permission", "bash"]),
    ("goose", ".config/goose/config.yaml", &["extensions", "developer", "enabled"]),
];

#[test]
fn a_shell_that_stays_off_is_named() {
    for (name, file, path) in SWITCHES {
        let place = Place::new(None);
        let case = case(name);
        case.done(&place, &["--yes", "--shell-off"]);
        std::fs::remove_dir_all(place.state().join("setup")).unwrap();
        let full = place.home().join(file);
        let key = path.join(".");
        let wanted =
            [full.display().to_string(), format!("`{key}`"), "own shell tool is still disabled".to_owned()];
        for flags in [["--undo", "--print"].as_slice(), &["--undo", "--yes"], &["--undo", "--yes"]] {
            let shown = case.done(&place, flags);
            assert!(wanted.iter().all(|part| shown.contains(part)), "{name} {flags:?}: {shown}");
        }
        let entry = at(&values(case, &case.read(&place)), case.entry).clone();
        assert_eq!(entry, Value::Null, "{name}: the server is out");
        let of_file = super::Case { file, ..*case };
        assert_ne!(*at(&values(&of_file, &of_file.read(&place)), path), Value::Null, "{name}: it is so");
        let output = case.setup(&place, &["--undo", "--yes", "--json"]);
        let said: Value = serde_json::from_str(&text(&output)).unwrap();
        assert!(said["left"][0].as_str().unwrap().contains(&key), "{said}");
    }
}

#[test]
fn nothing_is_said_where_nothing_is_left() {
    for (name, _, _) in SWITCHES {
        let place = Place::new(None);
        let case = case(name);
        case.write(&place, case.full);
        case.done(&place, &["--yes", "--shell-off"]);
        let shown = case.done(&place, &["--undo", "--yes"]);
        assert!(!shown.contains("still"), "{name}: {shown}");
    }
}

#[test]
fn a_permission_that_stays_is_named() {
    let place = Place::new(None);
    let claude = case("claude");
    claude.done(&place, &["--yes", "--trust"]);
    std::fs::remove_dir_all(place.state().join("setup")).unwrap();
    let shown = claude.done(&place, &["--undo", "--yes"]);
    assert!(shown.contains("`permissions.allow`") && shown.contains("still calls shellgate"), "{shown}");
}
