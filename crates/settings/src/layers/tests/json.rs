//! Tests of other agents' files.

use super::{Folder, prefixes};
use crate::Settings;

fn load(text: &str) -> (Folder, Settings) {
    let folder = Folder::new().extra("settings.json", text);
    let settings = folder.load().unwrap();
    (folder, settings)
}

#[test]
fn tool_lists() {
    let text = r#"{
  // Gemini CLI
  "theme": "dark",
  "tools": {
    "core": ["run_shell_command(git status)", "ReadFileTool", "ShellTool(ls)",],
    "exclude": ["run_shell_command(rm -rf)", "shell_cmd"],
    "allowed": ["run_shell_command(anything)"],
    "sandbox": true
  },
  "coreTools": ["run_shell_command"],
  "excludeTools": ["ShellTool(git push)", "web_fetch"]
}"#;
    let (folder, settings) = load(text);
    let mut core = prefixes(&folder, settings.policy.core.as_ref().unwrap());
    core.sort();
    assert_eq!(
        core,
        ["* (settings.json:10:17)", "git status (settings.json:5:14)", "ls (settings.json:5:63)"]
    );
    let mut exclude = prefixes(&folder, &settings.policy.exclude);
    exclude.sort();
    assert_eq!(
        exclude,
        ["* (settings.json:6:46)", "git push (settings.json:11:20)", "rm -rf (settings.json:6:17)"]
    );
}

#[test]
fn a_core_list_of_other_tools_allows_no_command() {
    // The file, and the number of entries in the core list. `None`: there is no core list.
    let cases = [
        (r#"{}"#, None),
        (r#"{"tools": {}}"#, None),
        (r#"{"tools": {"core": []}}"#, None),
        (r#"{"tools": {"core": ["ReadFileTool"]}}"#, Some(0)),
        (r#"{"coreTools": ["*"]}"#, Some(0)),
        (r#"{"coreTools": ["ReadFileTool", "ShellTool(ls)"]}"#, Some(1)),
        (r#"{"tools": {"core": ["ReadFileTool"]}, "coreTools": []}"#, Some(0)),
    ];
    for (text, expected) in cases {
        let (_, settings) = load(text);
        assert_eq!(settings.policy.core.map(|core| core.len()), expected, "{text}");
    }
}

#[test]
fn other_agents_files_are_layers_like_others() {
    let folder = Folder::new()
        .user("[policy]\ncore = [\"git\"]\nexclude = [\"rm\"]\n")
        .extra("settings.JSON", r#"{"coreTools": ["ShellTool(ls)"], "excludeTools": ["ShellTool(dd)"]}"#);
    let settings = folder.load().unwrap();
    assert_eq!(settings.shown("policy.core").unwrap(), "[\"ls\"]");
    assert_eq!(settings.shown("policy.exclude").unwrap(), "[\"rm\", \"dd\"]");
    assert_eq!(folder.origin(&settings, "policy.core"), "settings.JSON:1:2");
}

#[test]
fn errors() {
    let texts = [
        "",
        "// nothing",
        "[]",
        r#"{"tools": }"#,
        r#"{"tools": {"core": ["a" "b"]}}"#,
        r#"{tools: {}}"#,
        r#"{"tools": ["run_shell_command"]}"#,
        r#"{"tools": {"core": "run_shell_command"}}"#,
        r#"{"tools": {"exclude": null}}"#,
        "{\n  \"excludeTools\": [\"a\", 5]\n}",
        r#"{"excludeTools": ["run_shell_command()"]}"#,
        r#"{"excludeTools": ["ShellTool(rm"]}"#,
        r#"{"excludeTools": [], "excludeTools": ["ShellTool(rm)"]}"#,
    ];
    let error = |text: &&str| {
        format!(
            "{}\n{}",
            format!("| {text}").replace('\n', "\n| ").trim_end(),
            Folder::new().extra("settings.json", text).error()
        )
    };
    let all: Vec<_> = texts.iter().map(error).collect();
    insta::assert_snapshot!(all.join("\n\n"), @r#"
    |
    settings.json:1:1: this is not JSON: it is empty

    | // nothing
    settings.json:1:1: this is not JSON: it is empty

    | []
    settings.json:1:1: the whole file must be an object, found a list

    | {"tools": }
    settings.json:1:11: this is not JSON: unexpected close brace

    | {"tools": {"core": ["a" "b"]}}
    settings.json:1:24: this is not JSON: expected comma

    | {tools: {}}
    settings.json:1:2: this is not JSON: expected string for object property

    | {"tools": ["run_shell_command"]}
    settings.json:1:11: tools must be an object, found a list

    | {"tools": {"core": "run_shell_command"}}
    settings.json:1:20: tools.core must be a list of strings, found the string "run_shell_command"

    | {"tools": {"exclude": null}}
    settings.json:1:23: tools.exclude must be a list of strings, found `null`

    | {
    |   "excludeTools": ["a", 5]
    | }
    settings.json:2:25: excludeTools must be a list of strings, found the number 5 in it

    | {"excludeTools": ["run_shell_command()"]}
    settings.json:1:19: a command prefix must have at least one word, this one is empty
      name a command like `git status`, or `*` for every command

    | {"excludeTools": ["ShellTool(rm"]}
    settings.json:1:19: a tool name followed by `(` must end with `)`
      write it like `run_shell_command(git status)`

    | {"excludeTools": [], "excludeTools": ["ShellTool(rm)"]}
    settings.json:1:22: excludeTools is given twice
      keep one of them
    "#);
}
