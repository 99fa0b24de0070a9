//! `check --json`, for programs.

use serde_json::{Value, json};

use super::{check, text};
use crate::support::{Place, for_each_user};

/// The answer, on one line.
fn answer(place: &Place, words: &[&str]) -> Value {
    let output = place.strictly(["check", "--json"]).args(words).output().unwrap();
    let line = text(&output.stdout).strip_suffix('\n').unwrap();
    assert!(!line.contains('\n') && output.stderr.is_empty(), "{output:?}");
    let answer: Value = serde_json::from_str(line).unwrap();
    let code = match answer["verdict"].as_str().unwrap() {
        "allow" => 0,
        "ask" => 10,
        "deny" => 20,
        other => panic!("{other}"),
    };
    assert_eq!(output.status.code(), Some(code), "{words:?}");
    answer
}

fn keys(value: &Value) -> Vec<&str> {
    value.as_object().unwrap().keys().map(String::as_str).collect()
}

/// The bytes of `command` that a span means.
fn slice<'a>(command: &'a str, span: &Value) -> &'a str {
    let at = |index: usize| usize::try_from(span[index].as_u64().unwrap()).unwrap();
    assert_eq!(span.as_array().unwrap().len(), 2);
    command.get(at(0)..at(1)).unwrap_or_else(|| panic!("{span} of {command:?}"))
}

#[test]
fn the_shape_is_the_promised_one() {
    for_each_user(|place| {
        let answer = answer(place, &["--core", "git", "--exclude", "git push", "git -C . push && $x"]);
        assert_eq!(keys(&answer), ["verdict", "commands", "reasons"]);
        assert_eq!(
            answer["commands"][0],
            json!({
                "text": "git -C . push", "argv": ["git", "-C", ".", "push"], "span": [0, 13], "verdict": "deny",
                "rule": "exclude: git push (`--exclude`)", "reason": "`git push` is excluded",
                "effects": [{"effect": "publish", "target": null, "known": true}],
            })
        );
        assert_eq!(
            keys(&answer["commands"][0]),
            ["text", "argv", "span", "verdict", "rule", "reason", "effects"]
        );
        assert_eq!(answer["commands"][1]["argv"], json!([null]));
        assert_eq!(answer["commands"][1]["rule"], Value::Null);
        assert_eq!(keys(&answer["reasons"][0]), ["code", "message", "span", "rule", "hint"]);
        assert_eq!(
            answer["reasons"][0],
            json!({
                "code": "excluded", "message": "`git push` is excluded", "span": [0, 13],
                "rule": "exclude: git push (`--exclude`)",
                "hint": "do it without this command, or ask the user to change the rule",
            })
        );
        let allowed = self::answer(place, &["--core", "git", "git status"]);
        assert_eq!(allowed["reasons"], json!([]));
        assert_eq!(allowed["commands"][0]["rule"], "core: git (`--core`)");
    });
}

#[test]
fn words_that_cannot_be_known_are_null() {
    for_each_user(|place| {
        let cases = [
            ("ls -l 'a b' \"c\"\\ d", json!(["ls", "-l", "a b", "c d"])),
            ("ls $x", json!(["ls", null])),
            ("ls \"$(id)\"", json!(["ls", null])),
            ("ls *.rs", json!(["ls", null])),
            ("ls '*.rs' $'a\\tb'", json!(["ls", "*.rs", "a\tb"])),
            ("'l's", json!(["ls"])),
            ("A=1 ls >out 2>&1", json!(["ls"])),
        ];
        for (command, argv) in cases {
            assert_eq!(answer(place, &[command])["commands"][0]["argv"], argv, "{command}");
        }
        let words = ["--", "ls", "$x", "a b", "*"];
        assert_eq!(answer(place, &words)["commands"][0]["argv"], json!(["ls", "$x", "a b", "*"]));
    });
}

#[test]
fn spans_are_bytes_of_the_command() {
    for_each_user(|place| {
        let commands = [
            "git status && rm -rf build",
            "echo \"日本語 $(rm 日本)\" && ls é | wc -l",
            "cat <<E\n🦀 $(id ü)\nE\nls\n",
            "if true; then (cd ß; ls); fi; for x in $(seq 3); do echo \"$x\"; done",
            "  \t ls  ;  ls -l  # 日本",
            "f() { ls; }; f; ! time ls <(echo ö)",
            "A=$(date) B=`id` ls",
            "[[ -n $(ls) ]] && echo $(( $(wc -l <x) + 1 ))",
        ];
        for command in commands {
            let answer = answer(place, &[command]);
            let parts = answer["commands"].as_array().unwrap();
            assert!(parts.len() > 1, "{command}");
            for part in parts {
                assert_eq!(slice(command, &part["span"]), part["text"], "{command}");
            }
            for reason in answer["reasons"].as_array().unwrap() {
                slice(command, &reason["span"]);
            }
        }
        // A command inside a quoted text is where that text is.
        let command = "ls é; bash -c 'rm ü; ls'";
        let answer = answer(place, &[command]);
        let parts: Vec<(&str, &str)> = answer["commands"]
            .as_array()
            .unwrap()
            .iter()
            .map(|part| (part["text"].as_str().unwrap(), slice(command, &part["span"])))
            .collect();
        let all = "bash -c 'rm ü; ls'";
        assert_eq!(parts, [("ls é", "ls é"), (all, all), ("rm ü", "'rm ü; ls'"), ("ls", "'rm ü; ls'")]);
    });
}

#[test]
fn reasons_have_codes() {
    for_each_user(|place| {
        let cases: &[(&[&str], &str)] = &[
            (&["ls"], "uncovered"),
            (&["--core", "git", "ls"], "not_in_core"),
            (&["--exclude", "ls", "ls"], "excluded"),
            (&["if"], "parse_error"),
            (&["--core", "*", "--exclude", "rm", "$x"], "unknown"),
            (&["--core", "ls", "ls > x"], "write"),
            (&["--core", "ls", "ls > /x"], "outside"),
            (&["--core", "ls", "ls < /etc/passwd"], "outside"),
            (&["--core", "ls", "LD_PRELOAD=x ls"], "assignment"),
            (&["--core", "ls", "ls \u{202e}x"], "characters"),
            (&["--core", "ls", "ls a\u{a0}b"], "characters"),
            (&["--dialect", "asimi", "ls $(ls)"], "substitution"),
            (&["--dialect", "agent-world", "--", "ls", "/etc"], "out_of_scope"),
            (&["--dialect", "agent-world", "--", "sh", "-c", "ls"], "inline_eval"),
            (&["--dialect", "agent-world", "--", "ls", "|", "wc"], "shell_syntax"),
            (&["--dialect", "agent-world", "ls | wc"], "shell_syntax"),
            (&["--dialect", "agent-world", "ls -la"], "invalid_input"),
            (&[" "], "invalid_input"),
        ];
        for (words, code) in cases {
            let answer = answer(place, words);
            assert_eq!(answer["reasons"][0]["code"], **code, "{words:?}: {answer}");
            assert!(!answer["reasons"][0]["message"].as_str().unwrap().is_empty());
        }
        let scope = answer(place, &["--dialect", "agent-world", "--", "ls", "a", "/etc"]);
        assert_eq!(scope["reasons"][0]["span"], json!([5, 9]), "where the word is: {scope}");
    });
}

#[test]
fn the_decision_of_the_approval_mode_is_reported() {
    for_each_user(|place| {
        let answer = answer(place, &["--approve", "allow", "ls"]);
        assert_eq!((&answer["verdict"], &answer["commands"][0]["verdict"]), (&json!("allow"), &json!("ask")));
        assert_eq!(answer["by"], "approval.mode = allow (`--approve`)");
        let output = check(place, &["--approve", "deny", "ls"]);
        let said = "deny: decided without asking, by approval.mode = deny (`--approve`)";
        assert!(text(&output.stdout).contains(said), "{output:?}");
    });
}
