//! The settings in force: the files, the values that differ from the built-in ones, the rules in order.

use std::path::Path;

use serde::Serialize;

use crate::admit::judge::{Decision, Preset};
use crate::settings::{
    LayerFile, LayerState, Notice, Origin, Policy, Prefix, RootSource, Settings, Sourced, Word as _, keys,
};

/// The settings in force, and where each comes from.
#[derive(Clone, Debug, Serialize)]
pub struct SettingsView {
    /// The root.
    pub root: String,
    /// What named it.
    pub root_from: &'static str,
    /// The files that were looked for, in the order in which they count.
    pub files: Vec<FileView>,
    /// Settings that have no effect.
    pub unused: Vec<UnusedView>,
    /// The values that a file or flag set, without rules.
    pub settings: Vec<ValueView>,
    /// The rules, in the order in which they count. The last one is for all other commands.
    pub rules: Vec<RuleView>,
    /// The rules of an untrusted project file. They are judged apart, and the stricter verdict counts.
    pub untrusted_rules: Vec<RuleView>,
}

/// A place where a settings file was looked for.
#[derive(Clone, Debug, Serialize)]
pub struct FileView {
    /// `machine`, `user`, `project` or `--config`.
    pub layer: &'static str,
    /// The place.
    pub path: String,
    /// `absent`, `read` or `untrusted`.
    pub state: &'static str,
}

/// A setting that has no effect.
#[derive(Clone, Debug, Serialize)]
pub struct UnusedView {
    /// Its key.
    pub key: &'static str,
    /// Where it is written.
    pub from: String,
    /// Why it has none.
    pub message: String,
    /// Whether `shellgate trust` would put it in force.
    pub needs_trust: bool,
}

/// A value that is not the built-in one.
#[derive(Clone, Debug, Serialize)]
pub struct ValueView {
    /// The key.
    pub key: &'static str,
    /// The value as it is written in a file. Of variables only the names.
    pub value: String,
    /// Where it comes from.
    pub from: String,
}

/// A rule.
#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
pub struct RuleView {
    /// `allow`, `ask` or `deny`.
    pub decision: &'static str,
    /// The commands that it covers.
    pub commands: String,
    /// The key that it is written under.
    pub key: &'static str,
    /// Where it comes from.
    pub from: String,
}

/// Keys whose values are listed as rules.
const SHOWN_AS_RULES: [&str; 8] = [
    "policy.preset",
    "policy.allow",
    "policy.ask",
    "policy.deny",
    "policy.core",
    "policy.exclude",
    "policy.rule",
    "policy.default",
];

impl SettingsView {
    pub(crate) fn new(
        settings: &Settings,
        preset: Option<Preset>,
        files: &[LayerFile],
        root: &Path,
        source: RootSource,
    ) -> Self {
        let file = |file: &LayerFile| FileView {
            layer: file.layer.name(),
            path: file.path.display().to_string(),
            state: file.state.name(),
        };
        let unused = |notice: &Notice| {
            let (from, text) = (notice.origin.to_string(), notice.to_string());
            let message = text.strip_prefix(&format!("{from}: ")).unwrap_or(&text).to_owned();
            UnusedView { key: notice.key, from, message, needs_trust: notice.is_for_want_of_trust() }
        };
        Self {
            root: root.display().to_string(),
            root_from: match source {
                RootSource::Caller => "--root",
                RootSource::Settings => "workspace.working_directory",
                RootSource::Project => "workspace.working_directory of the project",
                RootSource::Default => "the current folder",
            },
            files: files.iter().map(file).collect(),
            unused: settings.notices.iter().map(unused).collect(),
            settings: keys::all().iter().filter_map(|key| value(key, settings)).collect(),
            rules: rules(&settings.policy, preset, |key| {
                settings.origin(key).map(ToString::to_string).unwrap_or_default()
            }),
            untrusted_rules: project_rules(settings, files),
        }
    }

    /// Whether a file was found that is not trusted.
    #[must_use]
    pub fn has_untrusted_file(&self) -> bool {
        self.files.iter().any(|file| file.state == LayerState::Untrusted.name())
    }
}

/// A key that a layer has set to something else than the built-in value.
fn value(key: &keys::Key, settings: &Settings) -> Option<ValueView> {
    let origin = settings.origin(key.path).filter(|origin| **origin != Origin::BuiltIn)?;
    let value = key.show(settings).filter(|value| Some(value) != key.show(&Settings::default()).as_ref())?;
    // The values of variables may be secrets.
    let value = match key.path {
        "environment.set" => {
            let names: Vec<&str> = settings.environment.set.keys().map(String::as_str).collect();
            format!("{{ {} }}", names.iter().map(|name| format!("{name} = …")).collect::<Vec<_>>().join(", "))
        }
        _ => value,
    };
    let shown = !SHOWN_AS_RULES.contains(&key.path);
    shown.then(|| ValueView { key: key.path, value, from: origin.to_string() })
}

/// The rules of an untrusted project file. What it doesn't cover, the other rules decide.
fn project_rules(settings: &Settings, files: &[LayerFile]) -> Vec<RuleView> {
    let Some(policy) = &settings.project_policy else { return Vec::new() };
    let file = files.iter().find(|file| file.state == LayerState::Untrusted);
    let file = file.map(|file| file.path.display().to_string()).unwrap_or_default();
    let mut rules = rules(policy, None, |_| file.clone());
    // Without a core list or a default of its own, the last one allows all and means nothing.
    if rules.last().is_some_and(|last| last.decision == Decision::Allow.name()) {
        rules.pop();
    }
    rules
}

/// The rules in the order in which they count: deny, ask, allow, then what decides about all other commands.
fn rules(policy: &Policy, preset: Option<Preset>, origin: impl Fn(&str) -> String) -> Vec<RuleView> {
    let entries = |key: &'static str, decision: Decision, list: &[Sourced<Prefix>]| {
        let view = |entry: &Sourced<Prefix>| (decision, entry.value.to_string(), key, entry.origin.clone());
        list.iter().map(view).collect::<Vec<_>>()
    };
    let mut all = entries("policy.exclude", Decision::Deny, &policy.exclude);
    all.extend(entries("policy.deny", Decision::Deny, &policy.deny));
    all.extend(entries("policy.ask", Decision::Ask, &policy.ask));
    let long = policy.rules.iter();
    all.extend(long.map(|rule| (rule.decision, rule.prefix.to_string(), "policy.rule", rule.origin.clone())));
    all.extend(policy.effect_rules.iter().map(|rule| {
        let targets: String = rule.targets.iter().map(|target| format!(" {target}")).collect();
        (rule.decision, format!("effect {}{targets}", rule.effect), "policy.rule", rule.origin.clone())
    }));
    all.extend(entries("policy.allow", Decision::Allow, &policy.allow));
    all.extend(entries("policy.core", Decision::Allow, policy.core.as_deref().unwrap_or_default()));
    all.sort_by_key(|(decision, ..)| std::cmp::Reverse(decision.strictness()));
    let (decision, key) = match policy.core {
        Some(_) if !policy.default_is_set => (Decision::Deny, "policy.core"),
        _ => (policy.default, "policy.default"),
    };
    let view = |(decision, commands, key, origin): (Decision, String, &'static str, Origin)| RuleView {
        decision: decision.name(),
        commands,
        key,
        from: origin.to_string(),
    };
    let rest = RuleView {
        decision: decision.name(),
        commands: "all other commands".to_owned(),
        key,
        from: origin(key),
    };
    let by_preset = preset.map(|preset| RuleView {
        decision: Decision::Allow.name(),
        commands: format!("what the preset `{preset}` frees"),
        key: "policy.preset",
        from: origin("policy.preset"),
    });
    all.into_iter().map(view).chain(by_preset).chain([rest]).collect()
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::settings::Sources;

    fn view(text: &str) -> SettingsView {
        let folder = tempfile::tempdir().unwrap();
        let user = folder.path().join("config.toml");
        std::fs::write(&user, text).unwrap();
        let sources = Sources { user: Some(user), ..Sources::default() };
        let settings = Settings::load(&sources).unwrap();
        SettingsView::new(&settings, None, &[], Path::new("/r"), RootSource::Default)
    }

    fn decisions(view: &SettingsView) -> Vec<String> {
        view.rules.iter().map(|rule| format!("{} {}", rule.decision, rule.commands)).collect()
    }

    #[test]
    fn rules_are_in_the_order_in_which_they_count() {
        let text = "[policy]\ncore = [\"git\"]\nexclude = [\"rm\"]\n\
                    [[policy.rule]]\nprefix = [\"git\", \"push\"]\ndecision = \"ask\"\n\
                    [[policy.rule]]\nprefix = [\"dd\"]\ndecision = \"deny\"\n";
        let view = view(text);
        assert_eq!(
            decisions(&view),
            ["deny rm", "deny dd", "ask git push", "allow git", "deny all other commands"]
        );
        assert!(view.rules[0].from.ends_with("config.toml:3:12"), "{:?}", view.rules);
    }

    #[test]
    fn without_files_there_is_the_built_in_default_alone() {
        let view = view("");
        assert_eq!(decisions(&view), ["ask all other commands"]);
        assert!(view.settings.is_empty() && view.rules[0].from == "built in");
    }

    #[test]
    fn values_have_their_places_and_variables_only_names() {
        let view =
            view("[limits]\ntimeout_ms = 5\nmax_running = 1024\n[environment]\nset = { A = \"hunter2\" }\n");
        let shown: Vec<String> =
            view.settings.iter().map(|set| format!("{} = {}", set.key, set.value)).collect();
        assert_eq!(shown, ["limits.timeout_ms = 5", "environment.set = { A = … }"]);
        assert!(!serde_json::to_string(&view).unwrap().contains("hunter2"));
    }
}
