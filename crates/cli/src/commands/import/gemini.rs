//! Gemini CLI: `[[rule]]` of a policy, and the lists of tools in `settings.json` (also of Qwen Code). Of several rules the one
//! with the highest priority counts.

use serde_json::Value;

use super::rules::{Decision, Foreign, Reach};

const SHELL_TOOL: &str = "run_shell_command";

/// The names of the shell tool in lists of tools.
const SHELL_TOOLS: [&str; 2] = [SHELL_TOOL, "ShellTool"];

const OTHER_TOOL: &str = "left out: about another tool; rules here are about shell commands";

/// Conditions of a rule that have no equal.
const CONDITIONS: [&str; 3] = ["commandRegex", "argsPattern", "toolAnnotations"];

/// Adds the rules of a policy.
pub(super) fn read_policy(policy: &Value, foreign: &mut Foreign) {
    for (rule, number) in policy.get("rule").and_then(Value::as_array).into_iter().flatten().zip(1..) {
        add(rule, number, foreign);
    }
}

fn add(rule: &Value, number: usize, foreign: &mut Foreign) {
    let text = |key: &str| rule.get(key).and_then(Value::as_str);
    let shown = format!("rule {number}: {}", text("decision").unwrap_or("?"));
    let tools = texts(rule.get("toolName"));
    let is_shell = |tool: &String| tool == SHELL_TOOL || tool == "*";
    // A rule without a tool is about all of them.
    if !tools.is_empty() && !tools.iter().any(is_shell) || rule.get("mcpName").is_some() {
        return foreign.remark(format!("{shown} {}", tools.join(", ")), OTHER_TOOL);
    }
    let decision = match text("decision") {
        Some("allow") => Decision::Allow,
        Some("ask_user") => Decision::Ask,
        Some("deny") => Decision::Deny,
        _ => return foreign.remark(shown, "left out: its decision is unknown"),
    };
    if let Some(condition) = CONDITIONS.iter().find(|condition| rule.get(**condition).is_some()) {
        return foreign.remark(shown, format!("left out: `{condition}` has no equal"));
    }
    // A rule for some modes that holds in all is stricter if it asks or denies.
    for key in ["modes", "interactive", "subagent"] {
        if rule.get(key).is_some() {
            let allows = decision == Decision::Allow;
            let what = if allows { "left out" } else { "stricter, it always holds here" };
            foreign.remark(shown.clone(), format!("{what}: `{key}` has no equal"));
            if allows {
                return;
            }
        }
    }
    let rank = rule.get("priority").and_then(Value::as_i64).unwrap_or(0);
    let prefixes = texts(rule.get("commandPrefix"));
    if prefixes.is_empty() {
        if rule.get("commandPrefix").is_some() {
            return foreign.remark(shown, "left out: its prefix is no text");
        }
        return foreign.rule(&shown, Reach::Everything, decision, rank);
    }
    for prefix in prefixes {
        prefix_rule(&format!("{}: {prefix}", decision.name()), &prefix, decision, rank, foreign);
    }
}

/// Adds a rule about commands that begin with a text, of whole words.
fn prefix_rule(shown: &str, prefix: &str, decision: Decision, rank: i64, foreign: &mut Foreign) {
    match words(prefix) {
        Ok(words) => foreign.rule(shown, Reach::Prefix(words), decision, rank),
        Err(reason) => foreign.remark(shown, reason),
    }
}

fn words(prefix: &str) -> Result<Vec<String>, &'static str> {
    if prefix.contains(|c| "|&;<>()$`\"'\\*\n".contains(c)) {
        return Err("left out: an entry here is the words of one command, without quotes or operators");
    }
    let words: Vec<String> = prefix.split_ascii_whitespace().map(str::to_owned).collect();
    if words.is_empty() { Err("left out: it has no word") } else { Ok(words) }
}

fn texts(value: Option<&Value>) -> Vec<String> {
    match value {
        Some(Value::String(text)) => vec![text.clone()],
        Some(Value::Array(list)) => list.iter().filter_map(Value::as_str).map(str::to_owned).collect(),
        _ => Vec::new(),
    }
}

/// Adds the lists of tools of `settings.json`: `core`, `exclude` and `allowed`.
pub(super) fn read_settings(settings: &Value, foreign: &mut Foreign) {
    let tools = settings.get("tools");
    let list = |new: &str, old: &str| tools.and_then(|tools| tools.get(new)).or_else(|| settings.get(old));
    if let Some(core) = list("core", "coreTools").and_then(Value::as_array).filter(|core| !core.is_empty()) {
        let entries = shell_entries(core, "core", foreign);
        // `run_shell_command` alone in the list restricts nothing.
        foreign.core = (!entries.contains(&"*".to_owned())).then_some(entries);
    }
    if let Some(exclude) = list("exclude", "excludeTools").and_then(Value::as_array) {
        foreign.exclude = shell_entries(exclude, "exclude", foreign);
    }
    if let Some(allowed) = list("allowed", "allowedTools").and_then(Value::as_array) {
        for entry in shell_entries(allowed, "allowed", foreign) {
            let shown = format!("allowed: {entry}");
            match entry.as_str() {
                "*" => foreign.rule(&shown, Reach::Everything, Decision::Allow, 0),
                _ => prefix_rule(&shown, &entry, Decision::Allow, 0, foreign),
            }
        }
    }
}

/// The entries of a list that are about the shell tool. `*`: the tool without a prefix.
fn shell_entries(list: &[Value], name: &str, foreign: &mut Foreign) -> Vec<String> {
    let mut entries = Vec::new();
    for entry in list.iter().filter_map(Value::as_str) {
        let (tool, prefix) = match entry.split_once('(') {
            Some((tool, rest)) => (tool.trim(), rest.trim_end().strip_suffix(')')),
            None => (entry.trim(), Some("*")),
        };
        match prefix {
            _ if !SHELL_TOOLS.contains(&tool) => foreign.remark(format!("{name}: {entry}"), OTHER_TOOL),
            Some("*" | "") => entries.push("*".to_owned()),
            Some(prefix) => match words(prefix) {
                Ok(words) => entries.push(words.join(" ")),
                Err(reason) => foreign.remark(format!("{name}: {entry}"), reason),
            },
            None => foreign.remark(format!("{name}: {entry}"), "left out: its `)` is missing"),
        }
    }
    entries
}
