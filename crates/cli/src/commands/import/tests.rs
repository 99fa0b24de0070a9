//! Files of agents as they are written, and what they become.

use super::*;

/// The settings that a file becomes, and the remarks.
fn becomes(name: &str, text: &str) -> String {
    let imported = Imported::new(text, name, None).unwrap();
    let toml = imported.toml();
    toml.parse::<DocumentMut>().unwrap();
    format!("{}\n\n{toml}{}", imported.agent_name(), remarks(&imported.foreign.remarks))
}

#[test]
fn claude() {
    let text = r#"{
        "permissions": {
            "allow": ["Bash(npm run test:*)", "Bash(git diff:*)", "Bash(npm run build)", "Bash(ls *)", "WebFetch(domain:x.org)",
                      "Bash(git push*)", "Bash(npm test && npm run lint)"],
            "ask": ["Bash(git push:*)"],
            "deny": ["Bash(rm -rf *)", "Bash(curl:*)", "Read(./.env)"],
            "defaultMode": "acceptEdits",
            "additionalDirectories": ["../docs"]
        }
    }"#;
    insta::assert_snapshot!(becomes("settings.json", text));
}

#[test]
fn claude_with_all_commands() {
    let all = |list: &str| {
        becomes("settings.json", &format!(r#"{{"permissions": {{"allow": ["Bash(ls:*)"], {list}}}}}"#))
    };
    assert!(all(r#""deny": ["Bash"]"#).contains("exclude = [\"*\"]"));
    let asks = all(r#""ask": ["Bash(*)"]"#);
    assert!(asks.contains("preset = \"cautious\"") && !asks.contains("allow = "), "{asks}");
    let open = becomes("settings.json", r#"{"permissions": {"allow": ["Bash"], "deny": ["Bash(rm:*)"]}}"#);
    assert!(open.contains("preset = \"open\"\ndeny = [\"rm\"]"), "{open}");
}

#[test]
fn codex_rules() {
    let text = "prefix_rule(\n  pattern = [\"git\", [\"push\", \"fetch\"]],\n  decision = \"prompt\",\n  match = [\"git push\"],\n)\n\
        prefix_rule(pattern=[\"ls\"])\nprefix_rule(pattern=[\"rm\", \"-rf\"], decision=\"forbidden\", justification=\"no\")\n\
        prefix_rule(pattern=[\"x\"], decision=\"maybe\")\nhost_executable(name=\"git\", paths=[\"/usr/bin/git\"])\nrules = []\n";
    insta::assert_snapshot!(becomes("default.rules", text));
}

#[test]
fn codex_settings() {
    let text = "approval_policy = \"never\"\nsandbox_mode = \"workspace-write\"\nmodel = \"x\"\n\
        [sandbox_workspace_write]\nwritable_roots = [\"/srv\"]\n";
    insta::assert_snapshot!(becomes("config.toml", text));
    let open = becomes("config.toml", "sandbox_mode = \"danger-full-access\"\n");
    assert!(!open.contains("[sandbox]"), "the sandbox stays on: {open}");
}

#[test]
fn gemini_policy() {
    let text = "[[rule]]\ntoolName = \"run_shell_command\"\ncommandPrefix = \"git \"\ndecision = \"ask_user\"\npriority = 100\n\
        [[rule]]\ntoolName = \"run_shell_command\"\ncommandPrefix = [\"git status\", \"git log\"]\ndecision = \"allow\"\npriority = 200\n\
        [[rule]]\ntoolName = \"run_shell_command\"\ncommandRegex = \"^npm\"\ndecision = \"allow\"\npriority = 5\n\
        [[rule]]\ntoolName = \"run_shell_command\"\ncommandPrefix = \"rm\"\ndecision = \"deny\"\npriority = 300\n\
        [[rule]]\ntoolName = \"write_file\"\ndecision = \"allow\"\npriority = 1\n\
        [[rule]]\ntoolName = \"run_shell_command\"\ncommandPrefix = \"make\"\ndecision = \"allow\"\npriority = 9\nmodes = [\"yolo\"]\n\
        [[rule]]\ntoolName = \"run_shell_command\"\ndecision = \"deny\"\npriority = 1\n";
    insta::assert_snapshot!(becomes("rules.toml", text));
}

#[test]
fn gemini_settings() {
    let text = r#"{"tools": {"core": ["run_shell_command(git)", "ReadFileTool"], "exclude": ["run_shell_command(git push)"]}}"#;
    insta::assert_snapshot!(becomes("settings.json", text));
    let none = becomes("settings.json", r#"{"tools": {"core": ["ReadFileTool"]}}"#);
    assert!(none.contains("exclude = [\"*\"]"), "an allowlist without the shell denies all: {none}");
}

#[test]
fn qwen() {
    let text = r#"{"permissions": {"allow": ["Bash(git *)", "run_shell_command(ls)", "ReadFile"], "deny": ["ShellTool(rm *)"]}}"#;
    insta::assert_snapshot!(becomes("/home/me/.qwen/settings.json", text));
}

#[test]
fn opencode() {
    let text = r#"{"$schema": "x", "permission": {"edit": "deny",
        "bash": {"*": "ask", "git *": "allow", "git push*": "ask", "npm *": "allow", "rm *": "deny", "ls": "allow", "x": "perhaps"}}}"#;
    insta::assert_snapshot!(becomes("opencode.json", text));
}

#[test]
fn files_that_are_no_rules() {
    for (name, text, from) in [
        ("settings.json", "{\"theme\": 1}", None),
        ("x.toml", "a = 1\n", None),
        ("settings.json", "{\"permissions\": ", None),
        ("settings.json", "{}", Some(ForeignAgent::Codex)),
        ("config.toml", "sandbox_mode = \"read-only\"\n", Some(ForeignAgent::Claude)),
    ] {
        assert!(Imported::new(text, name, from).is_err(), "{text}");
    }
}
