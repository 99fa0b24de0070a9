//! Settings files that are refused: broken files, and files that another user may have written.

use std::os::unix::fs::{PermissionsExt as _, chown};
use std::path::Path;

use serde_json::json;

use super::{assert_texts, call, project_file, shellgate, text, user_file, write_file};
use crate::support::{ORDINARY, Place, for_each_user, is_root};

/// Asserts that `run` and `call` run nothing and print the same error. Returns the error.
fn refused(place: &Place, flags: &[&str]) -> String {
    let (answer, code) = call(place, flags, &json!({"command": "touch ran"}));
    assert_eq!((&answer["error"]["code"], code), (&json!("config"), Some(3)), "{answer}");
    assert_eq!((&answer["pid"], &answer["status"]), (&json!(null), &json!("failed")));
    let output = shellgate(place, ["run"].iter().chain(flags).chain(&["touch ran"])).output().unwrap();
    assert_eq!((output.status.code(), text(&output.stdout)), (Some(125), ""));
    let (message, hint) = (answer["error"]["message"].as_str().unwrap(), answer["error"]["hint"].as_str());
    let said =
        hint.map_or(format!("config: {message}\n"), |hint| format!("config: {message}\n  hint: {hint}\n"));
    assert_eq!(text(&output.stderr), said);
    assert!(!place.root().join("ran").exists(), "{said}");
    said
}

fn assert_runs(place: &Place, flags: &[&str]) {
    let (answer, code) = call(place, flags, &json!({"command": "touch ran"}));
    assert_eq!((&answer["status"], code), (&json!("completed"), Some(0)), "{answer}");
    std::fs::remove_file(place.root().join("ran")).unwrap();
}

#[test]
fn a_broken_file_stops_everything_and_says_where() {
    let broken: &[&[u8]] = &[
        b"[limits\n",
        b"[limits]\ntimeout_ms = 5 6\n",
        b"[limits]\n\n  timeout = 5\n",
        b"[limit]\ntimeout_ms = 5\n",
        b"[limits]\ntimeout_ms = \"5s\"\n",
        b"[limits]\ntimeout_ms = -1\n",
        b"[limits]\ntimeout_ms = 86400001\n",
        b"[limits]\ntimeout_ms = 1\ntimeout_ms = 1\n",
        b"[limits]\nmax_running = 0\n",
        b"[sandbox]\nmode = \"of\"\n",
        b"[environment]\nhide_secrets = \"false\"\n",
        b"[environment]\nset = { A = 5 }\n",
        b"[policy]\ncore = \"git\"\n",
        b"[policy]\nexclude = [\"git\", \"\"]\n",
        b"[[policy.rule]]\ndecision = \"ask\"\n",
        b"timeout_ms = 5\n",
        b"[limits]\n# caf\xe9\n",
    ];
    for_each_user(|place| {
        let extra = place.home().join("extra.toml");
        let flags = ["--config", extra.to_str().unwrap()];
        let mut said = Vec::new();
        for content in broken {
            for (layer, path) in [("user", user_file(place)), ("project", project_file(place))] {
                write_file(place, &path, content);
                let message = refused(place, &[]);
                assert!(message.starts_with(&format!("config: {}:", path.display())), "{layer}: {message}");
                std::fs::remove_file(path).unwrap();
            }
            write_file(place, &extra, content);
            said.push(refused(place, &flags));
        }
        assert_texts("broken", &said);
        write_file(place, &extra, "[limits]\ntimeout_ms = 60000\n");
        assert_runs(place, &flags);
    });
}

#[test]
fn something_else_in_the_place_of_a_file_is_refused() {
    for_each_user(|place| {
        let path = place.home().join("extra.toml");
        let flags = ["--config", path.to_str().unwrap()];
        let mut said = vec![refused(place, &flags)];
        std::fs::create_dir(&path).unwrap();
        said.push(refused(place, &flags));
        std::fs::remove_dir(&path).unwrap();
        assert!(place.program("mkfifo").arg(&path).status().unwrap().success());
        said.push(refused(place, &flags));
        std::fs::remove_file(&path).unwrap();
        write_file(place, &path, "#".repeat((1 << 20) + 1));
        said.push(refused(place, &flags));
        assert_texts("no_file", &said);
        write_file(place, &path, "#".repeat(1 << 20));
        assert_runs(place, &flags);
        // In the standard places a file may be missing, but a folder of that name is an error.
        std::fs::create_dir(project_file(place)).unwrap();
        refused(place, &[]);
        std::fs::remove_dir(project_file(place)).unwrap();
        assert_runs(place, &[]);
    });
}

fn set_mode(path: &Path, mode: u32) {
    std::fs::set_permissions(path, std::fs::Permissions::from_mode(mode)).unwrap();
}

#[test]
fn a_file_that_others_may_write_is_refused() {
    for_each_user(|place| {
        let extra = place.home().join("extra.toml");
        let named = ["--config", extra.to_str().unwrap()];
        for path in [user_file(place), project_file(place), extra.clone()] {
            let flags: &[&str] = if path == extra { &named } else { &[] };
            write_file(place, &path, "[limits]\ntimeout_ms = 60000\n");
            // The user's own group may be private, and then 0664 is fine.
            if is_root() {
                chown(&path, None, Some(ORDINARY + 1)).unwrap();
            }
            let mut said = Vec::new();
            for mode in [0o664, 0o646, 0o666, 0o620, 0o602] {
                set_mode(&path, mode);
                said.push(refused(place, flags).replace(path.to_str().unwrap(), "FILE"));
            }
            assert_texts("others_may_write", &said);
            for mode in [0o644, 0o600, 0o444, 0o755] {
                set_mode(&path, mode);
                assert_runs(place, flags);
            }
            std::fs::remove_file(path).unwrap();
        }
    });
}

#[test]
fn a_file_of_another_user_is_refused_unless_it_is_the_project_file() {
    assert!(is_root(), "only root can give a file away: run this test as root");
    for_each_user(|place| {
        let stranger = ORDINARY + 1;
        let extra = place.home().join("extra.toml");
        let named = ["--config", extra.to_str().unwrap()];
        let mut said = Vec::new();
        for (path, flags) in [(user_file(place), &[][..]), (extra.clone(), &named)] {
            write_file(place, &path, "[limits]\ntimeout_ms = 60000\n");
            chown(&path, Some(stranger), Some(stranger)).unwrap();
            said.push(refused(place, flags));
            chown(&path, Some(0), Some(0)).unwrap();
            assert_runs(place, flags);
            std::fs::remove_file(path).unwrap();
        }
        assert_texts("file_of_another_user", &said);
        write_file(place, &project_file(place), "[limits]\ntimeout_ms = 60000\n");
        chown(project_file(place), Some(stranger), Some(stranger)).unwrap();
        assert_runs(place, &[]);
    });
}

#[test]
fn an_unreadable_file_is_not_passed_over() {
    for_each_user(|place| {
        for path in [user_file(place), project_file(place)] {
            write_file(place, &path, "[policy]\nexclude = [\"touch\"]\n");
            set_mode(&path, 0o000);
            let (answer, code) = call(place, &[], &json!({"command": "touch ran"}));
            // Root can read the file, so its settings count.
            let wanted = if place.user.is_none() && is_root() { "denied_by_policy" } else { "config" };
            assert_eq!((&answer["error"]["code"], code), (&json!(wanted), Some(3)), "{answer}");
            assert!(!place.root().join("ran").exists());
            std::fs::remove_file(path).unwrap();
        }
        assert_runs(place, &[]);
    });
}

#[test]
fn other_agents_files_are_read_as_they_are() {
    for_each_user(|place| {
        let settings = place.home().join("settings.json");
        let flags = ["--config", settings.to_str().unwrap()];
        for content in [
            r#"{"tools": {"core": ["run_shell_command(git)", "ReadFileTool", "run_shell_command(touch)"], "exclude": ["ShellTool(rm)"]}}"#,
            r#"{"coreTools": ["run_shell_command"], "excludeTools": ["run_shell_command(git push)"], "theme": "x"}"#,
            "{\n  // with a comment\n  \"tools\": {\"core\": [\"run_shell_command(touch)\"],},\n}\n",
            r#"{"model": {"name": "any"}, "mcpServers": {}}"#,
            "{}",
        ] {
            write_file(place, &settings, content);
            assert_runs(place, &flags);
        }
        let mut said = Vec::new();
        for content in [
            "",
            "{",
            "[]",
            r#"{"tools": {"core": "run_shell_command"}}"#,
            "{\n  \"excludeTools\": [\"run_shell_command(rm)\", 5]\n}\n",
            r#"{"coreTools": [], "coreTools": []}"#,
            r#"{"excludeTools": ["run_shell_command("]}"#,
        ] {
            write_file(place, &settings, content);
            said.push(refused(place, &flags));
        }
        assert_texts("other_agents", &said);
        // Such files are read only if a flag names them; a file in the project is ignored.
        write_file(place, &place.root().join("settings.json"), "{");
        assert_runs(place, &[]);
    });
}
