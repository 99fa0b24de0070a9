//! opencode's `permission`: a word for all commands, or a map from patterns to words. The last one that matches counts.

use serde_json::Value;

use super::pattern;
use super::rules::{Decision, Foreign};

/// Adds the rules about the tool `bash`.
pub(super) fn read(settings: &Value, foreign: &mut Foreign) {
    let Some(permission) = settings.get("permission") else { return };
    let Some(tools) = permission.as_object() else {
        return add("permission", "*", permission, -1, foreign);
    };
    // What is said about all tools holds for commands that no other rule is about.
    if let Some(all) = tools.get("*") {
        add("*", "*", all, -1, foreign);
    }
    for (tool, value) in tools.iter().filter(|(tool, _)| tool.as_str() != "*") {
        match (tool.as_str(), value.as_object()) {
            ("bash", Some(patterns)) => {
                for ((pattern, value), rank) in patterns.iter().zip(0..) {
                    add(pattern, pattern, value, rank, foreign);
                }
            }
            ("bash", None) => add("bash", "*", value, 0, foreign),
            (other, _) => {
                foreign.remark(other, "left out: about another tool; rules here are about shell commands");
            }
        }
    }
}

fn add(shown: &str, pattern: &str, value: &Value, rank: i64, foreign: &mut Foreign) {
    let shown = format!("{shown}: {}", value.as_str().unwrap_or("?"));
    let decision = match value.as_str() {
        Some("allow") => Decision::Allow,
        Some("ask") => Decision::Ask,
        Some("deny") => Decision::Deny,
        // A word that we don't know is the strictest.
        _ => {
            foreign.remark(shown.clone(), "stricter: an unknown word counts as deny");
            Decision::Deny
        }
    };
    // Home folders are written out by opencode.
    if pattern.starts_with('~') {
        return foreign.remark(shown, "left out: it begins with a home folder");
    }
    match pattern::read(pattern, decision) {
        Ok(words) => {
            if let Some(remark) = words.remark {
                foreign.remark(shown.clone(), remark);
            }
            for reach in words.reaches {
                foreign.rule(&shown, reach, decision, rank);
            }
        }
        Err(reason) => foreign.remark(shown, reason),
    }
}
