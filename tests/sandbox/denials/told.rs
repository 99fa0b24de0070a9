//! How people and models are told what the sandbox refused.

use std::path::Path;

use serde_json::{Value, json};

use super::super::{OUTSIDE, for_each_user};
use super::{denials, outside, write_outside, written};
use crate::mcp::talk::Talk;
use crate::support::terminal::Terminal;
use crate::support::{Place, wait_until};

#[test]
fn a_person_is_told_in_one_line_and_after_a_failure_in_a_block() {
    for_each_user(|place| {
        write_outside(place);
        let command = "for name in a b c d e; do touch ../outside/$name 2>&-; done; true";
        let output = place.output(["run", "--sandbox", "workspace", command]);
        assert!(output.status.success());
        let told = String::from_utf8(output.stderr).unwrap();
        let named = ["a", "b", "c"].map(|name| format!("write {}", outside(place, name))).join(", ");
        assert!(told.contains(&format!("refused by the sandbox: {named} and 2 more\n")), "{told}");
        // The command succeeded, so the answer proposes no grant.
        assert!(!told.contains("policy.rule") && !told.contains("rule: "), "{told}");
        let failing = format!("{command}; false");
        let told =
            String::from_utf8(place.output(["run", "--sandbox", "workspace", &failing]).stderr).unwrap();
        let block =
            format!("{named} and 2 more\nshellgate: rule: sandbox.workspace\nshellgate: to allow it, add");
        assert!(told.contains(&block) && told.contains("[[policy.rule]]\nprefix = [\"touch\"]\n"), "{told}");
        // Words are no refusals.
        let output = place.output([
            "run",
            "--sandbox",
            "workspace",
            "ls /sandbox; echo 'permission denied' >&2; false",
        ]);
        let told = String::from_utf8(output.stderr).unwrap();
        assert!(told.contains("permission denied\n") && !told.contains("shellgate: "), "{told}");
        let quiet = place.output(["run", "--sandbox", "workspace", "true"]);
        assert!(!String::from_utf8(quiet.stderr).unwrap().contains("refused"));
    });
}

#[test]
fn a_person_at_a_terminal_sees_rule_and_grant() {
    let place = Place::below(Path::new(OUTSIDE), None);
    write_outside(&place);
    let command = "touch ../outside/a ../outside/b";
    let terminal =
        Terminal::start(&place.shellgate(["run", "--color", "never", "--sandbox", "workspace", command]));
    let (shown, code) = terminal.end();
    assert_eq!(code, Some(1), "{shown}");
    let folder = place.root().with_file_name("outside").display().to_string();
    let grant = format!(
        "[[policy.rule]]\nprefix = [\"touch\"]\ndecision = \"ask\"\ngrants = {{ write = [\"{folder}\"] }}\n"
    );
    let told = format!(
        "shellgate: refused by the sandbox: write {folder}/a, write {folder}/b\n\
         shellgate: rule: sandbox.workspace\n\
         shellgate: to allow it, add this to your settings:\n{grant}"
    );
    assert!(shown.ends_with(&told), "{shown}");
    place.assert_nothing_is_left();
}

#[test]
fn models_are_told_over_mcp_and_dialects_keep_their_texts() {
    let place = Place::below(Path::new(OUTSIDE), None);
    write_outside(&place);
    let target = outside(&place, "new");
    let command = "touch ../outside/new 2>/dev/null; true";
    let line = format!("Refused by the sandbox: write {target}");
    for (dialect, tool, more) in [
        ("shellgate", "shell", json!({})),
        ("shellgate", "shell", json!({"format": "markdown"})),
        ("asimi", "run_shell_command", json!({"description": "x"})),
        ("gemini", "run_shell_command", json!({})),
        ("qwen", "run_shell_command", json!({"is_background": false})),
    ] {
        let mut arguments = json!({"command": command});
        arguments.as_object_mut().unwrap().extend(more.as_object().unwrap().clone());
        let flags = ["--sandbox", "workspace", "--dialect", dialect];
        let mut talk = Talk::begin(place.shellgate(["mcp"].iter().chain(&flags)), &json!({}));
        let answer = talk.ask("tools/call", json!({"name": tool, "arguments": arguments}));
        let result = &answer["result"];
        assert_eq!(denials(&result["structuredContent"]), [written(target.clone())], "{answer}");
        let text = result["content"][0]["text"].as_str().unwrap();
        match serde_json::from_str::<Value>(text) {
            Ok(object) => assert_eq!(denials(&object), [written(target.clone())], "{text}"),
            Err(_) if text.ends_with(']') => {
                let closing = format!(
                    "; refused by the sandbox: write {target}; by sandbox.workspace; to allow it: shellgate history show "
                );
                assert!(text.lines().last().unwrap().contains(&closing), "{text}");
                assert_eq!(text.lines().count(), 1, "{text}");
                let id = text.rsplit_once(' ').unwrap().1.trim_end_matches(']');
                // The end is recorded after the answer.
                wait_until("the record has the grant", || {
                    let shown = String::from_utf8(place.output(["history", "show", id]).stdout).unwrap();
                    shown.contains("prefix = [\"touch\"]") && shown.contains("rule: sandbox.workspace")
                });
            }
            Err(_) => {
                assert_eq!(text.lines().filter(|found| **found == line).count(), 1, "{dialect}: {text}")
            }
        }
        let quiet = talk.ask("tools/call", json!({"name": tool, "arguments": {"command": "true", "description": "x", "is_background": false}}));
        let text = quiet["result"]["content"][0]["text"].as_str().unwrap();
        assert!(!text.contains("Refused") && (dialect == "shellgate" || !text.contains("denials")), "{text}");
        talk.leave();
        // As text for another program, the other dialects are as their models know them.
        let output =
            place.output(["call"].iter().copied().chain(flags).chain([arguments.to_string().as_str()]));
        let text = String::from_utf8(output.stdout).unwrap();
        let is_told = text.contains("\"denials\":[{") || text.contains(&line);
        assert_eq!(is_told, dialect == "shellgate", "{text}");
    }
    place.assert_nothing_is_left();
}
