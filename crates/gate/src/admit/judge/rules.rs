//! Makes the judge's rules of settings.

use shellgate_policy::{Decision, EffectRule, Entry, Prefix, Preset, Redirects, Rule, Rules};

use crate::intake::dialect::DefaultPreset;
use crate::settings::{Origin, Policy, PresetChoice, Sourced, Substitution};

/// The preset that is in force: what is set; else none beside an allowlist or a default, which keep their meaning; else what the
/// dialect chooses.
pub(super) fn preset(policy: &Policy, chosen: DefaultPreset, confined: bool) -> Option<Preset> {
    match (policy.preset, chosen) {
        (Some(PresetChoice::None), _) => None,
        (Some(PresetChoice::Cautious), _) => Some(Preset::Cautious),
        (Some(PresetChoice::Balanced), _) => Some(Preset::Balanced),
        (Some(PresetChoice::Open), _) => Some(Preset::Open),
        (None, _) if policy.core.is_some() || policy.default_is_set => None,
        (None, DefaultPreset::None) => None,
        (None, DefaultPreset::ByConfinement) if confined => Some(Preset::Balanced),
        (None, DefaultPreset::ByConfinement) => Some(Preset::Cautious),
    }
}

/// The rules of one policy, each with the place where it is written.
pub(super) fn rules(policy: &Policy, preset: Option<Preset>, confined: bool) -> Rules {
    let entries = |kind: &str, list: &[Sourced<Prefix>]| {
        list.iter().map(|one| entry(kind, &one.value, &one.origin)).collect::<Vec<_>>()
    };
    let long = policy.rules.iter().map(|rule| Rule {
        entry: entry("rule", &rule.prefix, &rule.origin),
        decision: rule.decision,
        reason: rule.reason.clone(),
        except: rule.except.clone(),
    });
    let listed = |kind: &str, list: &[Sourced<Prefix>], decision: Decision| {
        let rule = |entry: Entry| Rule { entry, decision, reason: None, except: Vec::new() };
        entries(kind, list).into_iter().map(rule).collect::<Vec<_>>()
    };
    // Grants are found by the place of a rule among those of the settings, so these stay first.
    let mut all: Vec<Rule> = long.collect();
    all.extend(listed("ask", &policy.ask, Decision::Ask));
    all.extend(listed("allow", &policy.allow, Decision::Allow));
    let mut exclude = entries("exclude", &policy.exclude);
    exclude.extend(entries("deny", &policy.deny));
    Rules {
        core: policy.core.as_deref().map(|core| entries("core", core)),
        exclude,
        default: policy.default,
        beyond_core: if policy.default_is_set { policy.default } else { Decision::Deny },
        substitution: match policy.substitution {
            Substitution::Check => Decision::Allow,
            Substitution::Ask => Decision::Ask,
            Substitution::Deny => Decision::Deny,
        },
        redirects: policy.redirects,
        rules: all,
        effects: policy.effect_rules.iter().map(by_effect).collect(),
        preset,
        confined,
    }
}

/// The rules of an untrusted project file, whose policy allows whatever the file doesn't mention. A preset asks about the rest.
pub(super) fn project_rules(policy: &Policy, confined: bool) -> Rules {
    let preset = preset(policy, DefaultPreset::None, confined);
    let rules = rules(policy, preset, confined);
    match policy.preset {
        None => rules,
        Some(_) => Rules {
            default: if policy.default_is_set { policy.default } else { Decision::Ask },
            redirects: Redirects::Ask,
            ..rules
        },
    }
}

fn by_effect(rule: &crate::settings::EffectRule) -> EffectRule {
    let targets = rule.targets.iter().map(|target| format!(" {target}")).collect::<String>();
    EffectRule {
        shown: placed(&format!("rule: {}{targets}", rule.effect), &rule.origin),
        effect: rule.effect,
        targets: rule.targets.clone(),
        except: rule.except.clone(),
        decision: rule.decision,
        reason: rule.reason.clone(),
    }
}

fn entry(kind: &str, prefix: &Prefix, origin: &Origin) -> Entry {
    Entry { prefix: prefix.clone(), shown: placed(&format!("{kind}: {prefix}"), origin) }
}

/// A rule with the place where it is written.
fn placed(rule: &str, origin: &Origin) -> String {
    match origin {
        Origin::BuiltIn => rule.to_owned(),
        Origin::File(_) | Origin::Flag(_) => format!("{rule} ({origin})"),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn policy(change: impl Fn(&mut Policy)) -> Policy {
        let mut policy = Policy::default();
        change(&mut policy);
        policy
    }

    #[test]
    fn the_preset_in_force() {
        use DefaultPreset::{ByConfinement, None as Nothing};
        let unset = Policy::default();
        assert_eq!(preset(&unset, ByConfinement, true), Some(Preset::Balanced));
        assert_eq!(preset(&unset, ByConfinement, false), Some(Preset::Cautious));
        assert_eq!(preset(&unset, Nothing, true), None);
        let core = policy(|policy| policy.core = Some(Vec::new()));
        assert_eq!(preset(&core, ByConfinement, true), None);
        let default = policy(|policy| policy.default_is_set = true);
        assert_eq!(preset(&default, ByConfinement, true), None);
        let open = policy(|policy| policy.preset = Some(PresetChoice::Open));
        assert_eq!(preset(&open, Nothing, false), Some(Preset::Open));
        let both = policy(|policy| {
            policy.preset = Some(PresetChoice::Cautious);
            policy.core = Some(Vec::new());
        });
        assert_eq!(preset(&both, ByConfinement, true), Some(Preset::Cautious));
        let none = policy(|policy| policy.preset = Some(PresetChoice::None));
        assert_eq!(preset(&none, ByConfinement, true), None);
    }

    #[test]
    fn beyond_an_allowlist_an_explicit_default_decides() {
        let core = policy(|policy| policy.core = Some(Vec::new()));
        assert_eq!(rules(&core, None, true).beyond_core, Decision::Deny);
        let asks = policy(|policy| policy.default_is_set = true);
        assert_eq!(rules(&asks, None, true).beyond_core, Decision::Ask);
    }

    #[test]
    fn a_preset_of_an_untrusted_file_asks_about_the_rest() {
        let cautious = policy(|policy| {
            policy.preset = Some(PresetChoice::Cautious);
            policy.default = Decision::Allow;
        });
        let rules = project_rules(&cautious, true);
        assert_eq!((rules.preset, rules.default), (Some(Preset::Cautious), Decision::Ask));
    }
}
