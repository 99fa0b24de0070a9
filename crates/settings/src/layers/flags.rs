//! Settings from the command line.

use crate::pattern;
use crate::{
    ApprovalMode, Asker, At, Decision, MAX_DURATION_MS, Network, OnMissing, Origin, PatternError, Prefix,
    PresetChoice, Problem, SandboxMode, Settings, SettingsError, Sourced,
};

/// The flags that change settings.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct Flags {
    /// `--core PREFIX`, each adding to the core list.
    pub core: Vec<String>,
    /// `--exclude PREFIX`, each adding to the exclusions.
    pub exclude: Vec<String>,
    /// `--preset`
    pub preset: Option<PresetChoice>,
    /// `--allow PATTERN`, each adding to the commands that are allowed.
    pub allow: Vec<String>,
    /// `--deny PATTERN`, each adding to the commands that are denied.
    pub deny: Vec<String>,
    /// `--default`
    pub default: Option<Decision>,
    /// `--approve`
    pub approve: Option<ApprovalMode>,
    /// `--ask`: the only place where questions may be answered.
    pub ask: Option<Asker>,
    /// `--sandbox`
    pub sandbox: Option<SandboxMode>,
    /// `--network`
    pub network: Option<Network>,
    /// `--on-missing`
    pub on_missing: Option<OnMissing>,
    /// `--timeout`, in milliseconds; see [`parse_duration`](crate::parse_duration).
    pub timeout_ms: Option<u64>,
}

impl Flags {
    /// Applies the flags, after all files.
    pub(super) fn apply(&self, settings: &mut Settings) -> Result<(), SettingsError> {
        if !self.core.is_empty() {
            settings.policy.core.get_or_insert_default().extend(read(
                "--core",
                &self.core,
                pattern::parse_prefix,
            )?);
            settings.set_origin("policy.core", Origin::Flag("--core"));
        }
        if !self.exclude.is_empty() {
            settings.policy.exclude.extend(read("--exclude", &self.exclude, pattern::parse_prefix)?);
            settings.set_origin("policy.exclude", Origin::Flag("--exclude"));
        }
        if let Some(preset) = self.preset {
            settings.policy.preset = Some(preset);
            settings.set_origin("policy.preset", Origin::Flag("--preset"));
        }
        if !self.allow.is_empty() {
            settings.policy.allow.extend(read("--allow", &self.allow, pattern::parse)?);
            settings.set_origin("policy.allow", Origin::Flag("--allow"));
        }
        if !self.deny.is_empty() {
            settings.policy.deny.extend(read("--deny", &self.deny, pattern::parse)?);
            settings.set_origin("policy.deny", Origin::Flag("--deny"));
        }
        if let Some(decision) = self.default {
            (settings.policy.default, settings.policy.default_is_set) = (decision, true);
            settings.set_origin("policy.default", Origin::Flag("--default"));
        }
        if let Some(mode) = self.approve {
            settings.approval.mode = Some(mode);
            settings.set_origin("approval.mode", Origin::Flag("--approve"));
        }
        if let Some(asker) = self.ask {
            settings.approval.from = vec![Sourced::new(asker, Origin::Flag("--ask"))];
            settings.set_origin("approval.from", Origin::Flag("--ask"));
        }
        if let Some(mode) = self.sandbox {
            settings.sandbox.mode = mode;
            settings.set_origin("sandbox.mode", Origin::Flag("--sandbox"));
        }
        if let Some(network) = self.network {
            settings.sandbox.network = network;
            settings.set_origin("sandbox.network", Origin::Flag("--network"));
        }
        if let Some(on_missing) = self.on_missing {
            settings.sandbox.on_missing = on_missing;
            settings.set_origin("sandbox.on_missing", Origin::Flag("--on-missing"));
        }
        if let Some(ms) = self.timeout_ms {
            if !(1..=MAX_DURATION_MS).contains(&ms) {
                let problem = Problem::Timeout { found: ms, most: MAX_DURATION_MS };
                return Err(SettingsError::new(At::Flag("--timeout"), problem));
            }
            settings.limits.timeout_ms = ms;
            settings.set_origin("limits.timeout_ms", Origin::Flag("--timeout"));
        }
        Ok(())
    }
}

fn read(
    flag: &'static str,
    texts: &[String],
    parse: fn(&str) -> Result<Prefix, PatternError>,
) -> Result<Vec<Sourced<Prefix>>, SettingsError> {
    let read = |text: &String| match parse(text) {
        Ok(prefix) => Ok(Sourced::new(prefix, Origin::Flag(flag))),
        Err(error) => Err(SettingsError::new(At::Flag(flag), error.into())),
    };
    texts.iter().map(read).collect()
}
