//! The effect of flags on the agent's settings.

use serde_json::{Value, json};

use super::{CASES, at, case, complaint, text, values};
use crate::support::{Place, program_file, programs, shellgate};

fn entry(name: &str, place: &Place) -> Value {
    let case = case(name);
    at(&values(case, &case.read(place)), case.entry).clone()
}

#[test]
fn flags_of_the_server_are_passed_on() {
    let place = Place::new(None);
    let root = place.root().canonicalize().unwrap().display().to_string();
    case("gemini")
        .done(&place, &["--yes", "--dialect", "gemini", "--root", ".", "--", "--exclude", "git push"]);
    let wanted = json!(["mcp", "--dialect", "gemini", "--root", root, "--exclude", "git push"]);
    assert_eq!(entry("gemini", &place)["args"], wanted);
    case("gemini").done(&place, &["--yes", "--", "--exclude", "rm"]);
    assert_eq!(entry("gemini", &place)["args"], json!(["mcp", "--exclude", "rm"]), "the last word counts");
    case("gemini").done(&place, &["--yes", "--undo"]);
    assert!(!case("gemini").path(&place).exists(), "undo restores the state before the first set-up");

    for (flags, complaint_of) in [
        (vec!["--", "--no-such-flag"], "--no-such-flag"),
        (vec!["--", "--default", "perhaps"], "perhaps"),
        (vec!["--", "--config", "rules.toml"], "rules.toml"),
        (vec!["--", "--http", "8080"], "--http"),
        (vec!["--root", "nowhere"], "nowhere"),
        (vec!["--dialect", "latin"], "latin"),
    ] {
        let output = case("gemini").setup(&place, &[vec!["--yes"], flags].concat());
        assert_eq!(output.status.code(), Some(2), "{output:?}");
        assert!(complaint(&output).contains(complaint_of), "{output:?}");
        assert!(!case("gemini").path(&place).exists());
    }
}

#[test]
fn an_agent_without_a_project_must_be_told_where() {
    let place = Place::new(None);
    let output = place.output(["setup", "claude-desktop", "--yes"]);
    assert_eq!(output.status.code(), Some(2), "{output:?}");
    assert!(complaint(&output).contains("name the folder to work in with `--root`"), "{output:?}");
    case("vscode").done(&place, &["--yes"]);
    assert_eq!(entry("vscode", &place)["args"], json!(["mcp", "--root", "${workspaceFolder}"]));
}

#[test]
fn the_program_is_named_so_that_it_is_found() {
    let place = Place::new(None);
    let folder = place.root().join("bin");
    std::fs::create_dir(&folder).unwrap();
    std::os::unix::fs::symlink(shellgate(), folder.join("shellgate")).unwrap();
    let set_up = |agent: &str, path: &str| {
        let status = place.shellgate(["setup", agent, "--yes"]).env("PATH", path).status().unwrap();
        assert!(status.success());
        entry(agent, &place)["command"].clone()
    };
    let path = format!("{}:{}", programs(), folder.display());
    assert_eq!(set_up("gemini", &path), "shellgate", "PATH finds the program");
    let link = folder.join("shellgate").display().to_string();
    assert_eq!(set_up("cursor", &path), link.as_str(), "a desktop may have another PATH");
    std::fs::remove_file(folder.join("shellgate")).unwrap();
    std::fs::copy(program_file("true"), folder.join("shellgate")).unwrap();
    let own = shellgate().canonicalize().unwrap().display().to_string();
    assert_eq!(set_up("gemini", &path), own.as_str(), "another program of that name");
}

#[test]
fn the_agents_own_shell_is_switched_off_on_request() {
    for (name, file, path, off) in [
        ("gemini", ".gemini/settings.json", vec!["tools", "exclude"], json!(["run_shell_command"])),
        ("qwen", ".qwen/settings.json", vec!["permissions", "deny"], json!(["run_shell_command"])),
        ("claude", ".claude/settings.json", vec!["permissions", "deny"], json!(["Bash"])),
        ("codex", ".codex/config.toml", vec!["features", "shell_tool"], json!(false)),
        (
            "zed",
            ".config/zed/settings.json",
            vec!["agent", "tool_permissions", "tools", "terminal", "default"],
            json!("deny"),
        ),
        ("opencode", ".config/opencode/opencode.json", vec!["permission", "bash"], json!("deny")),
        ("goose", ".config/goose/config.yaml", vec!["extensions", "developer", "enabled"], json!(false)),
    ] {
        let place = Place::new(None);
        let case = case(name);
        case.write(&place, case.full);
        let read = || std::fs::read_to_string(place.home().join(file)).unwrap_or_default();
        let before = read();
        case.done(&place, &["--yes", "--shell-off"]);
        let of_file = super::Case { file, ..*case };
        assert_eq!(*at(&values(&of_file, &read()), &path), off, "{name}: {}", read());
        let again = case.done(&place, &["--yes", "--shell-off"]);
        assert!(again.contains("nothing to do"), "{again}");
        case.done(&place, &["--yes", "--undo"]);
        assert_eq!(read(), before, "{name}");
        assert_eq!(case.read(&place), case.full, "{name}");
    }
    for name in ["claude-desktop", "cursor", "vscode"] {
        let place = Place::new(None);
        let output = case(name).setup(&place, &["--yes", "--shell-off"]);
        assert_eq!(output.status.code(), Some(2), "{output:?}");
        assert!(complaint(&output).contains("`--shell-off` is not available for"), "{output:?}");
        assert!(!case(name).path(&place).exists());
    }
}

#[test]
fn what_a_list_had_before_stays_when_it_is_taken_back() {
    let place = Place::new(None);
    let gemini = case("gemini");
    let before = "{\"tools\": {\"exclude\": [\"web\", \"run_shell_command\"]}}";
    gemini.write(&place, before);
    gemini.done(&place, &["--yes", "--shell-off"]);
    gemini.write(&place, &format!("{}\n", gemini.read(&place)));
    gemini.done(&place, &["--yes", "--undo"]);
    assert_eq!(
        at(&values(gemini, &gemini.read(&place)), &["tools", "exclude"]),
        &json!(["web", "run_shell_command"])
    );
}

#[test]
fn an_agent_trusts_only_on_request() {
    let place = Place::new(None);
    for (name, key, wanted) in [
        ("gemini", "trust", json!(true)),
        ("qwen", "trust", json!(true)),
        ("codex", "default_tools_approval_mode", json!("approve")),
    ] {
        case(name).done(&place, &["--yes"]);
        assert_eq!(entry(name, &place)[key], Value::Null, "{name}");
        case(name).done(&place, &["--yes", "--trust"]);
        assert_eq!(entry(name, &place)[key], wanted, "{name}");
    }
    case("claude").done(&place, &["--yes", "--trust", "--shell-off"]);
    let settings = std::fs::read_to_string(place.home().join(".claude/settings.json")).unwrap();
    let settings: Value = serde_json::from_str(&settings).unwrap();
    assert_eq!(settings, json!({"permissions": {"allow": ["mcp__shellgate"], "deny": ["Bash"]}}));
}

#[test]
fn keys_that_the_user_added_to_our_entry_stay() {
    let place = Place::new(None);
    let opencode = case("opencode");
    opencode.write(&place, "{\"mcp\": {\"shellgate\": {\"command\": [\"old\"], \"timeout\": 5, \"environment\": {\"A\": \"b\"}}}}");
    opencode.done(&place, &["--yes"]);
    let entry = entry("opencode", &place);
    assert_eq!((&entry["timeout"], &entry["environment"]), (&json!(5), &json!({"A": "b"})), "{entry}");
    assert_eq!(entry["command"][1], "mcp");
}

#[test]
fn the_list_shows_the_state_of_each_agent() {
    let place = Place::new(None);
    let state = |name: &str| {
        let output = place.output(["setup", "--json"]);
        let list: Value = serde_json::from_slice(&output.stdout).unwrap();
        assert_eq!(list.as_array().unwrap().len(), CASES.len());
        let one = list.as_array().unwrap().iter().find(|one| one["agent"] == name).unwrap().clone();
        (one["installed"].clone(), one["files"][0]["state"].clone())
    };
    assert_eq!(state("qwen"), (json!(false), json!("absent")));
    case("qwen").done(&place, &["--yes"]);
    assert_eq!(state("qwen"), (json!(true), json!("set up")));
    case("qwen").write(&place, "{");
    assert_eq!(state("qwen"), (json!(true), json!("broken")));
    let shown = text(&place.output(["setup"]));
    assert!(shown.contains("settings.json can't be read"), "{shown}");
    let unknown = place.output(["setup", "emacs"]);
    assert_eq!(unknown.status.code(), Some(2));
    assert!(complaint(&unknown).contains("`gemini`, `qwen`"), "{unknown:?}");
}
