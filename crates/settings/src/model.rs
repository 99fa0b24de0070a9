//! The settings as types, with the built-in values.
//!
//! The built-in values are defined only here. The table of keys reads them from here.

use std::{collections::BTreeMap, path::PathBuf};

use super::{
    ApprovalMode, Asker, Condense, Decision, EffectRule, Inherit, LogLevel, Network, Notice, OnMissing,
    Origin, Prefix, PresetChoice, Redirects, Rule, SandboxMode, Sourced, Substitution, keys,
};

/// All settings, merged from all layers.
#[derive(Debug, Clone, Default)]
pub struct Settings {
    /// `[workspace]`
    pub workspace: Workspace,
    /// `[policy]`
    pub policy: Policy,
    /// `[approval]`
    pub approval: Approval,
    /// `[sandbox]`
    pub sandbox: Sandbox,
    /// `[limits]`
    pub limits: Limits,
    /// `[output]`
    pub output: OutputSettings,
    /// `[journal]`
    pub journal: JournalSettings,
    /// `[environment]`
    pub environment: Environment,
    /// `[log]`
    pub log: LogSettings,
    /// The policy of an untrusted project file. It is judged separately from `policy`, and the stricter verdict counts.
    /// It allows everything that the file doesn't mention, so it can only make the result stricter.
    pub project_policy: Option<Policy>,
    /// Settings that have no effect, such as those that an untrusted project file may not change.
    pub notices: Vec<Notice>,
    /// The origins of keys that a layer has set. All other keys have built-in values.
    pub(crate) origins: Vec<(&'static str, Origin)>,
}

impl Settings {
    /// The origin of a key's value, by the key's dotted path. For a list or table, the last layer that changed it. `None`:
    /// there is no such key.
    pub fn origin(&self, path: &str) -> Option<&Origin> {
        let key = keys::find(path)?;
        let set = self.origins.iter().rev().find(|(set, _)| *set == key.path);
        Some(set.map_or(&Origin::BuiltIn, |(_, origin)| origin))
    }

    /// The value of a key as it is written in a file. `None`: there is no such key, or it has no value.
    pub fn shown(&self, path: &str) -> Option<String> {
        keys::find(path)?.show(self)
    }

    pub(crate) fn set_origin(&mut self, path: &'static str, origin: Origin) {
        self.origins.retain(|(set, _)| *set != path);
        self.origins.push((path, origin));
    }
}

/// `[workspace]`
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct Workspace {
    /// The root if no other is given. An absolute path: `~/` is already replaced.
    pub working_directory: Option<PathBuf>,
}

/// `[policy]`
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Policy {
    /// What is allowed where no rule says anything. `None`: the dialect chooses.
    pub preset: Option<PresetChoice>,
    /// Commands that are allowed; without being an allowlist.
    pub allow: Vec<Sourced<Prefix>>,
    /// Commands that a person is asked about.
    pub ask: Vec<Sourced<Prefix>>,
    /// Commands that are denied.
    pub deny: Vec<Sourced<Prefix>>,
    /// The allowlist. `None`: there is no allowlist. `Some` and empty: there is one, and it allows nothing.
    pub core: Option<Vec<Sourced<Prefix>>>,
    /// Commands that are always denied.
    pub exclude: Vec<Sourced<Prefix>>,
    /// The decision for commands that no rule covers.
    pub default: Decision,
    /// Whether a layer has set `default`. If not, what a core list doesn't have is denied.
    pub default_is_set: bool,
    /// The decision for substitutions.
    pub substitution: Substitution,
    /// The decision for output to files.
    pub redirects: Redirects,
    /// The rules, in the order of the layers.
    pub rules: Vec<Rule>,
    /// The rules about what commands do.
    pub effect_rules: Vec<EffectRule>,
}

impl Policy {
    /// A policy that allows everything. Only what a file adds to it makes it stricter.
    pub(crate) fn neutral() -> Self {
        Self {
            default: Decision::Allow,
            substitution: Substitution::Check,
            redirects: Redirects::Allow,
            ..Self::default()
        }
    }
}

impl Default for Policy {
    fn default() -> Self {
        Self {
            preset: None,
            allow: Vec::new(),
            ask: Vec::new(),
            deny: Vec::new(),
            core: None,
            exclude: Vec::new(),
            default: Decision::Ask,
            default_is_set: false,
            substitution: Substitution::Check,
            redirects: Redirects::Ask,
            rules: Vec::new(),
            effect_rules: Vec::new(),
        }
    }
}

/// `[approval]`
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Approval {
    /// What happens when a verdict is `ask`. `None`: the dialect chooses.
    pub mode: Option<ApprovalMode>,
    /// Where questions may be answered.
    pub from: Vec<Sourced<Asker>>,
    /// How many seconds a question waits for an answer before it is denied.
    pub timeout_s: u64,
}

impl Default for Approval {
    fn default() -> Self {
        let from = Asker::ALL.iter().map(|asker| Sourced::new(*asker, Origin::BuiltIn)).collect();
        Self { mode: None, from, timeout_s: 300 }
    }
}

/// `[sandbox]`
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Sandbox {
    /// How commands are confined.
    pub mode: SandboxMode,
    /// Whether confined commands reach the network.
    pub network: Network,
    /// What to do when this machine lacks a mechanism.
    pub on_missing: OnMissing,
    /// Whether the files that commands use are recorded.
    pub observe: bool,
    /// Whether commands may trace each other.
    pub debug: bool,
    /// Paths that commands may write besides the root, as written in the file.
    pub writable: Vec<Sourced<String>>,
    /// Paths that commands may not read, besides the built-in list, as written in the file.
    pub unreadable: Vec<Sourced<String>>,
}

impl Default for Sandbox {
    fn default() -> Self {
        Self {
            mode: SandboxMode::Workspace,
            network: Network::Allow,
            on_missing: OnMissing::Refuse,
            observe: true,
            debug: false,
            writable: Vec::new(),
            unreadable: Vec::new(),
        }
    }
}

/// `[limits]`
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Limits {
    /// How long a foreground command may run. 0: no limit.
    pub timeout_ms: u64,
    /// How long a command may print nothing. 0: no limit.
    pub idle_timeout_ms: u64,
    /// How many commands of a session run at once. Others wait.
    pub max_running: u64,
    /// Characters of a stream that the model gets.
    pub answer_chars: u64,
    /// Tokens of both streams that the model gets over MCP, about.
    pub answer_tokens: u64,
    /// Bytes of a stream that the model gets if complete output was asked for.
    pub answer_bytes: u64,
    /// Bytes of a stream that are kept on disk.
    pub capture_bytes: u64,
    /// Memory of a command. 0: no limit.
    pub memory_mb: u64,
    /// Processes of a command. 0: no limit.
    pub processes: u64,
    /// CPU time of a command. 0: no limit.
    pub cpu_s: u64,
    /// How much a command may add to the disk. 0: no limit.
    pub disk_mb: u64,
    /// How many jobs a session may have.
    pub jobs_per_session: u64,
}

impl Default for Limits {
    fn default() -> Self {
        Self {
            timeout_ms: 600_000,
            idle_timeout_ms: 0,
            max_running: 1024,
            answer_chars: 30_000,
            answer_tokens: 8_000,
            answer_bytes: 8 << 20,
            capture_bytes: 256 << 20,
            memory_mb: 0,
            processes: 0,
            cpu_s: 0,
            disk_mb: 0,
            jobs_per_session: 64,
        }
    }
}

/// `[output]`
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct OutputSettings {
    /// Whether long output is condensed for models.
    pub condense: Condense,
}

impl Default for OutputSettings {
    fn default() -> Self {
        Self { condense: Condense::Auto }
    }
}

/// `[journal]`
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct JournalSettings {
    /// Whether commands are refused when the journal can't be written.
    pub required: bool,
    /// How long entries are kept. 0: for ever.
    pub keep_days: u64,
    /// How much output is kept. 0: all of it.
    pub keep_mb: u64,
}

impl Default for JournalSettings {
    fn default() -> Self {
        Self { required: true, keep_days: 30, keep_mb: 2048 }
    }
}

/// `[environment]`
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Environment {
    /// Which variables a command inherits.
    pub inherit: Inherit,
    /// Whether pagers and prompts are switched off.
    pub quiet: bool,
    /// Whether variables that look like secrets are hidden.
    pub hide_secrets: bool,
    /// Variables that are passed on even if they look like secrets.
    pub keep: Vec<Sourced<String>>,
    /// Variables that are set.
    pub set: BTreeMap<String, Sourced<String>>,
    /// Variables that are removed.
    pub remove: Vec<Sourced<String>>,
}

impl Default for Environment {
    fn default() -> Self {
        Self {
            inherit: Inherit::All,
            quiet: true,
            hide_secrets: true,
            keep: Vec::new(),
            set: BTreeMap::new(),
            remove: Vec::new(),
        }
    }
}

/// `[log]`
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct LogSettings {
    /// Which events are logged.
    pub level: LogLevel,
}

impl Default for LogSettings {
    fn default() -> Self {
        Self { level: LogLevel::Off }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn unset_keys_are_built_in_and_unknown_keys_have_no_origin() {
        let settings = Settings::default();
        assert_eq!(settings.origin("limits.timeout_ms"), Some(&Origin::BuiltIn));
        assert_eq!(settings.origin("limits.timeout"), None);
        assert_eq!(settings.shown("limits.timeout_ms").as_deref(), Some("600000"));
        assert_eq!(settings.shown("approval.mode"), None);
    }
}
