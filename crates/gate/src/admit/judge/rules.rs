//! Makes the judge's rules of settings.

use shellgate_policy::{Decision, Entry, Prefix, Rule, Rules};

use crate::settings::{Origin, Policy, Sourced, Substitution};

/// The rules of one policy, each with the place where it is written.
pub(super) fn rules(policy: &Policy) -> Rules {
    let entries = |kind: &str, list: &[Sourced<Prefix>]| {
        list.iter().map(|one| entry(kind, &one.value, &one.origin)).collect::<Vec<_>>()
    };
    let long = policy.rules.iter().map(|rule| Rule {
        entry: entry("rule", &rule.prefix, &rule.origin),
        decision: rule.decision,
        reason: rule.reason.clone(),
    });
    Rules {
        core: policy.core.as_deref().map(|core| entries("core", core)),
        exclude: entries("exclude", &policy.exclude),
        default: policy.default,
        substitution: match policy.substitution {
            Substitution::Check => Decision::Allow,
            Substitution::Ask => Decision::Ask,
            Substitution::Deny => Decision::Deny,
        },
        redirects: policy.redirects,
        rules: long.collect(),
        preset: None,
        confined: false,
    }
}

fn entry(kind: &str, prefix: &Prefix, origin: &Origin) -> Entry {
    let shown = match origin {
        Origin::BuiltIn => format!("{kind}: {prefix}"),
        Origin::File(_) | Origin::Flag(_) => format!("{kind}: {prefix} ({origin})"),
    };
    Entry { prefix: prefix.clone(), shown }
}
