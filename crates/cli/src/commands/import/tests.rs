//! Files of agents as they are written, and what they become.

use super::*;

/// The settings that a file becomes, and the remarks.
fn becomes(name: &str, text: &str) -> String {
    let imported = Imported::new(text, name, None).unwrap();
    let toml = imported.toml();
    shellgate::settings::Settings::of_text(std::path::Path::new("config.toml"), &toml, None).unwrap();
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

/// Texts that are no plain words in settings, or mean something else there.
const ODD: [&str; 31] = [
    "~/bin/tool",
    "~",
    "$HOME/bin/tool",
    "ls ${x}",
    "[ -f x ]",
    "ls [a-z]*",
    "git {log,diff}",
    "shell",
    "run_shell_command",
    "Bash",
    "Shell",
    "^git",
    "git .*",
    "/usr/bin/",
    "prefix:git",
    "regex:git",
    "ls:*",
    "ls\u{0}x",
    "",
    " ",
    "**",
    "* *",
    "*x",
    "a\tb",
    "echo 'a b'",
    "echo \"x",
    "a\\b",
    "a;b",
    "A=1 make",
    "=",
    "git\ncommit",
];

#[test]
fn odd_entries_load_or_are_named() {
    let json = |text: &str| serde_json::to_string(text).unwrap();
    for odd in ODD {
        let in_json = |before: &str, after: &str| format!("{before}{}{after}", json(&format!("Bash({odd})")));
        let tool = |tool: &str| json(&format!("{tool}({odd})"));
        // JSON's strings are also TOML's and Starlark's, but for NUL.
        let text = json(odd);
        let mut files = Vec::new();
        for list in ["allow", "ask", "deny"] {
            let claude = in_json(&format!("{{\"permissions\": {{\"{list}\": ["), "]}}");
            files.push(("settings.json", claude.replace("\"]}}", "\", \"Bash(true:*)\"]}}")));
            let qwen = format!("{{\"permissions\": {{\"{list}\": [{}]}}}}", tool("run_shell_command"));
            files.push(("/home/me/.qwen/settings.json", qwen));
            let opencode =
                format!("{{\"permission\": {{\"bash\": {{\"*\": \"deny\", {text}: \"{list}\"}}}}}}");
            files.push(("opencode.json", opencode));
        }
        for decision in ["allow", "ask_user", "deny"] {
            let rule = format!(
                "[[rule]]\ntoolName = \"run_shell_command\"\ncommandPrefix = [{text}, \"true\"]\ndecision = \"{decision}\"\n"
            );
            files.push(("rules.toml", rule));
        }
        for decision in ["allow", "prompt", "forbidden"] {
            let rule = |pattern: &str| format!("prefix_rule(pattern=[{pattern}], decision=\"{decision}\")\n");
            let rules = format!("{}{}", rule(&text), rule(&format!("\"git\", {text}")));
            files.push(("default.rules", rules));
        }
        for list in ["core", "exclude", "allowed"] {
            let gemini = format!("{{\"tools\": {{\"{list}\": [{}]}}}}", tool("ShellTool"));
            files.push(("settings.json", gemini));
        }
        for (name, file) in files {
            // `becomes` loads it.
            let made = becomes(name, &file);
            let is_mentioned = made.contains("left out") || made.lines().count() > 3;
            // The whole tool in this list restricts nothing.
            let is_nothing = file.contains("\"core\": [\"ShellTool()\"]");
            assert!(is_mentioned || is_nothing, "{file}: {made}");
        }
    }
}

#[test]
fn an_odd_entry_never_allows_everything() {
    for (name, file) in [
        (
            "settings.json",
            r#"{"permissions": {"allow": ["Bash(shell)", "Bash(shell:*)", "Bash(run_shell_command)"]}}"#,
        ),
        ("default.rules", "prefix_rule(pattern=[\"shell\"])\nprefix_rule(pattern=[\"*\"])\n"),
        ("settings.json", r#"{"tools": {"core": ["run_shell_command(~/x)"]}}"#),
        ("opencode.json", r#"{"permission": {"bash": {"*": "deny", "shell": "allow"}}}"#),
    ] {
        let toml = Imported::new(file, name, None).unwrap().toml();
        let settings =
            shellgate::settings::Settings::of_text(std::path::Path::new("c"), &toml, None).unwrap();
        let policy = &settings.policy;
        use shellgate::settings::Prefix;
        let allows = policy.core.iter().flatten().chain(&policy.allow).map(|entry| &entry.value);
        let all: Vec<&Prefix> = allows.chain(policy.rules.iter().map(|rule| &rule.prefix)).collect();
        assert!(!all.contains(&&Prefix::Everything), "{file}: {toml}");
        assert_ne!(policy.preset, Some(shellgate::settings::PresetChoice::Open), "{file}: {toml}");
        let denies_all = policy.exclude.iter().any(|entry| entry.value == Prefix::Everything);
        assert_eq!(denies_all, file.contains("core") || file.contains("deny"), "{file}: {toml}");
    }
}

#[test]
fn words_of_codex_are_taken_as_they_are() {
    let text = "prefix_rule(pattern=[\"git\", \"commit\", \"-m\", \"a b; c*\"], decision=\"forbidden\")\n\
        prefix_rule(pattern=[\"~/bin/tool\"])\nprefix_rule(pattern=[\"shell\"])\nprefix_rule(pattern=[\"x\", \"\"])\n";
    insta::assert_snapshot!(becomes("default.rules", text));
}
