//! Permissions of Claude Code and Qwen Code: lists of entries `Bash(git diff:*)`. Deny counts before ask before allow.

use serde_json::Value;

use super::pattern;
use super::rules::{Decision, Foreign};

/// The names of the shell tool.
const SHELL_TOOLS: [&str; 4] = ["Bash", "Shell", "ShellTool", "run_shell_command"];

const LISTS: [(&str, Decision); 3] =
    [("deny", Decision::Deny), ("ask", Decision::Ask), ("allow", Decision::Allow)];

/// Adds the rules of `permissions`.
pub(super) fn read(settings: &Value, foreign: &mut Foreign) {
    let Some(permissions) = settings.get("permissions") else { return };
    for (list, decision) in LISTS {
        let entries = permissions.get(list).and_then(Value::as_array).into_iter().flatten();
        for entry in entries {
            match entry.as_str() {
                Some(entry) => add(entry, decision, foreign),
                None => foreign.remark(entry.to_string(), "left out: it is no text"),
            }
        }
    }
    let mode = permissions.get("defaultMode").and_then(Value::as_str);
    let shown = |mode: &str| format!("defaultMode: {mode}");
    match mode {
        None | Some("default") => {}
        Some(mode @ "dontAsk") => {
            foreign.values.push(("approval.mode", "deny".into()));
            foreign.remark(shown(mode), "nearest: what would ask is refused");
        }
        Some(mode) => {
            foreign.remark(shown(mode), "left out: choose `policy.preset` and `approval.mode` yourself")
        }
    }
    for folder in permissions.get("additionalDirectories").and_then(Value::as_array).into_iter().flatten() {
        let folder = folder.as_str().unwrap_or_default();
        let reason = "left out: `sandbox.writable` lets commands write other folders";
        foreign.remark(format!("additionalDirectories: {folder}"), reason);
    }
}

fn add(entry: &str, decision: Decision, foreign: &mut Foreign) {
    let (tool, pattern) = match entry.split_once('(') {
        Some((tool, rest)) => (tool.trim(), rest.trim_end().strip_suffix(')')),
        None => (entry.trim(), Some("*")),
    };
    let shown = format!("{}: {entry}", decision.name());
    if !SHELL_TOOLS.contains(&tool) {
        let reason = match tool {
            "Read" if decision == Decision::Deny => {
                "left out: about another tool; `sandbox.unreadable` hides files from commands"
            }
            _ => "left out: about another tool; rules here are about shell commands",
        };
        return foreign.remark(shown, reason);
    }
    let Some(pattern) = pattern else { return foreign.remark(shown, "left out: its `)` is missing") };
    match pattern::read(pattern, decision) {
        Ok(words) => {
            if let Some(remark) = words.remark {
                foreign.remark(shown.clone(), remark);
            }
            for reach in words.reaches {
                foreign.rule(&shown, reach, decision, decision as i64);
            }
        }
        Err(reason) => foreign.remark(shown, reason),
    }
}
