//! Codex: `prefix_rule` in files of rules, and the keys of `config.toml` about sandbox and approval.

use serde_json::Value;

use super::rules::{Decision, Foreign, Reach};
use super::starlark::{Literal, Statement, statements};

/// As many commands a rule with alternatives may stand for.
const MAX_ALTERNATIVES: usize = 200;

/// Adds the rules of a file of rules. Of several rules the strictest counts, as here.
pub(super) fn read_rules(text: &str, foreign: &mut Foreign) {
    for statement in statements(text) {
        match statement {
            Statement::Call { name, arguments, line } if name == "prefix_rule" => {
                add(&arguments, line, foreign);
            }
            Statement::Call { name, line, .. } => {
                foreign.remark(format!("line {line}: {name}(…)"), "left out: it has no equal");
            }
            Statement::Other { text, line } => {
                foreign.remark(format!("line {line}: {text}"), "left out: only plain calls are read");
            }
        }
    }
}

fn add(arguments: &[(String, Literal)], line: usize, foreign: &mut Foreign) {
    let find = |key: &str| arguments.iter().find(|(name, _)| name == key).map(|(_, value)| value);
    let shown = format!("line {line}: prefix_rule");
    let decision = match find("decision") {
        None => Some(Decision::Allow),
        Some(Literal::Text(word)) => match word.as_str() {
            "allow" => Some(Decision::Allow),
            "prompt" => Some(Decision::Ask),
            "forbidden" => Some(Decision::Deny),
            _ => None,
        },
        Some(Literal::List(_)) => None,
    };
    let Some(decision) = decision else {
        return foreign.remark(shown, "left out: its decision is unknown");
    };
    let commands = match find("pattern") {
        Some(Literal::List(pattern)) => alternatives(pattern),
        _ => None,
    };
    let Some(commands) = commands.filter(|commands| commands.iter().all(|words| !words.is_empty())) else {
        return foreign.remark(shown, "left out: its pattern is no list of words");
    };
    for words in commands {
        let text = format!("{}: {}", decision.name(), words.join(" "));
        // A rule of Codex has the words as the program gets them, so each is taken as it is.
        let is_plain =
            |word: &String| word.chars().all(|c| c.is_ascii_alphanumeric() || "-_./:@,+=%".contains(c));
        let reach = if words.iter().all(is_plain) { Reach::Prefix(words) } else { Reach::Literal(words) };
        foreign.rule(&text, reach, decision, decision as i64);
    }
}

/// The commands that a pattern stands for: any of its words may be a list of alternatives.
fn alternatives(pattern: &[Literal]) -> Option<Vec<Vec<String>>> {
    let mut commands: Vec<Vec<String>> = vec![Vec::new()];
    for word in pattern {
        let words: Vec<&String> = match word {
            Literal::Text(word) => vec![word],
            Literal::List(words) => {
                let mut texts = Vec::new();
                for word in words {
                    let Literal::Text(word) = word else { return None };
                    texts.push(word);
                }
                texts
            }
        };
        let with =
            |command: &Vec<String>, word: &String| [command.as_slice(), std::slice::from_ref(word)].concat();
        commands =
            commands.iter().flat_map(|command| words.iter().map(move |word| with(command, word))).collect();
        if commands.len() > MAX_ALTERNATIVES {
            return None;
        }
    }
    Some(commands)
}

/// Adds the settings of `config.toml`.
pub(super) fn read_settings(settings: &Value, foreign: &mut Foreign) {
    let text = |key: &str| settings.get(key).and_then(Value::as_str);
    let workspace = settings.get("sandbox_workspace_write");
    if let Some(mode) = text("sandbox_mode") {
        let shown = format!("sandbox_mode: {mode}");
        match mode {
            "read-only" => foreign.values.push(("sandbox.mode", "read-only".into())),
            "workspace-write" => {
                foreign.values.push(("sandbox.mode", "workspace".into()));
                let network =
                    workspace.and_then(|table| table.get("network_access")).and_then(Value::as_bool);
                let network = if network == Some(true) { "allow" } else { "deny" };
                foreign.values.push(("sandbox.network", network.into()));
            }
            "danger-full-access" => {
                foreign.remark(shown, "left out: `sandbox.mode = \"off\"` is yours to choose")
            }
            _ => foreign.remark(shown, "left out: it has no equal"),
        }
    }
    let folders = workspace.and_then(|table| table.get("writable_roots")).and_then(Value::as_array);
    for folder in folders.into_iter().flatten() {
        let shown = format!("writable_roots: {}", folder.as_str().unwrap_or("?"));
        foreign.remark(shown, "left out: `sandbox.writable` lets commands write other folders");
    }
    if let Some(policy) = text("approval_policy") {
        let shown = format!("approval_policy: {policy}");
        match policy {
            "untrusted" => {
                foreign.values.push(("policy.preset", "cautious".into()));
                foreign.remark(shown, "nearest: with the preset `cautious` all but reads asks");
            }
            "never" => {
                foreign.values.push(("approval.mode", "deny".into()));
                foreign.remark(shown, "stricter: what would ask is refused");
            }
            _ => foreign.remark(shown, "left out: here rules decide when to ask, not the model"),
        }
    } else if settings.get("approval_policy").is_some() {
        foreign.remark("approval_policy", "left out: it has no equal");
    }
}
