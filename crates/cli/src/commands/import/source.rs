//! Which agent a file is from, and what is in it.

use serde_json::Value;
use shellgate::{Code, ErrorObject};

use super::rules::Foreign;
use super::{codex, gemini, opencode, permissions};
use crate::args::ForeignAgent;
use crate::commands::setup::format::{Broken, Format};

/// A file that was read: the agent, and its rules.
pub(super) struct Source {
    pub(super) agent: ForeignAgent,
    pub(super) foreign: Foreign,
}

/// What a text is written in.
enum Content {
    Json(Value),
    Toml(Value),
    Rules,
}

impl Source {
    /// Reads the text of a file. `name`: its path, for messages and as a help to tell agents apart.
    pub(super) fn read(text: &str, name: &str, agent: Option<ForeignAgent>) -> Result<Self, ErrorObject> {
        let text = text.trim_start_matches('\u{feff}');
        let content = content(text, name, agent)?;
        let agent = agent.or_else(|| guess(&content, name)).ok_or_else(|| {
            ErrorObject::invalid(format!("`{name}` has no rules of an agent that is known here"))
                .token(name)
                .hint("name the agent with `--from claude`, `codex`, `gemini`, `qwen` or `opencode`")
        })?;
        let mut foreign = Foreign::default();
        match (agent, &content) {
            (ForeignAgent::Claude, Content::Json(settings)) => permissions::read(settings, &mut foreign),
            (ForeignAgent::Qwen, Content::Json(settings)) => {
                permissions::read(settings, &mut foreign);
                gemini::read_settings(settings, &mut foreign);
            }
            (ForeignAgent::Gemini, Content::Json(settings)) => gemini::read_settings(settings, &mut foreign),
            (ForeignAgent::Gemini, Content::Toml(policy)) => gemini::read_policy(policy, &mut foreign),
            (ForeignAgent::Opencode, Content::Json(settings)) => opencode::read(settings, &mut foreign),
            (ForeignAgent::Codex, Content::Toml(settings)) => codex::read_settings(settings, &mut foreign),
            (ForeignAgent::Codex, Content::Rules) => codex::read_rules(text, &mut foreign),
            _ => {
                let error = ErrorObject::invalid(format!("`{name}` is no file of that agent")).token(name);
                return Err(error.hint("leave `--from` out, or name another agent"));
            }
        }
        Ok(Self { agent, foreign })
    }
}

fn content(text: &str, name: &str, agent: Option<ForeignAgent>) -> Result<Content, ErrorObject> {
    if text.trim_start().starts_with('{') {
        return Format::Json.read(text).map(Content::Json).map_err(|broken| error(name, &broken));
    }
    let is_rules = name.ends_with(".rules") || text.lines().any(|line| line.starts_with("prefix_rule("));
    if is_rules && agent.is_none_or(|agent| agent == ForeignAgent::Codex) {
        return Ok(Content::Rules);
    }
    Format::Toml.read(text).map(Content::Toml).map_err(|broken| error(name, &broken))
}

fn error(name: &str, Broken { line, column, message }: &Broken) -> ErrorObject {
    ErrorObject::new(Code::Config, format!("`{name}` can't be read: line {line}, column {column}: {message}"))
        .token(name)
}

fn guess(content: &Content, name: &str) -> Option<ForeignAgent> {
    match content {
        Content::Rules => Some(ForeignAgent::Codex),
        Content::Toml(values) => {
            let has = |keys: &[&str]| keys.iter().any(|key| values.get(key).is_some());
            if has(&["rule"]) {
                Some(ForeignAgent::Gemini)
            } else {
                has(&["approval_policy", "sandbox_mode", "sandbox_workspace_write"])
                    .then_some(ForeignAgent::Codex)
            }
        }
        Content::Json(values) => {
            let has = |key: &str| values.get(key).is_some();
            let of_qwen = || {
                let text = values.get("permissions").map(Value::to_string).unwrap_or_default();
                name.contains(".qwen") || text.contains("run_shell_command(") || text.contains("ShellTool(")
            };
            match () {
                () if has("permission") => Some(ForeignAgent::Opencode),
                () if has("permissions") && of_qwen() => Some(ForeignAgent::Qwen),
                () if has("permissions") => Some(ForeignAgent::Claude),
                () if has("tools") || has("coreTools") || has("excludeTools") => match name.contains(".qwen")
                {
                    true => Some(ForeignAgent::Qwen),
                    false => Some(ForeignAgent::Gemini),
                },
                () => None,
            }
        }
    }
}
