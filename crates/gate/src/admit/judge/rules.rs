//! Makes the judge's rules of settings.

use shellgate_policy::{Decision, Entry, Prefix, Redirects, Rule, Rules};

use crate::settings::{self, Origin, Policy, Sourced, Substitution};

/// The rules of one policy, each with the place where it is written.
pub(super) fn rules(policy: &Policy) -> Rules {
    let entries = |kind: &str, list: &[Sourced<settings::Prefix>]| {
        list.iter().map(|one| entry(kind, &one.value, &one.origin)).collect::<Vec<_>>()
    };
    let long = policy.rules.iter().map(|rule| Rule {
        entry: entry("rule", &rule.prefix, &rule.origin),
        decision: decision(rule.decision),
        reason: rule.reason.clone(),
    });
    Rules {
        core: policy.core.as_deref().map(|core| entries("core", core)),
        exclude: entries("exclude", &policy.exclude),
        default: decision(policy.default),
        substitution: match policy.substitution {
            Substitution::Check => Decision::Allow,
            Substitution::Ask => Decision::Ask,
            Substitution::Deny => Decision::Deny,
        },
        redirects: match policy.redirects {
            settings::Redirects::Ask => Redirects::Ask,
            settings::Redirects::Scope => Redirects::Scope,
            settings::Redirects::Allow => Redirects::Allow,
        },
        rules: long.collect(),
    }
}

fn entry(kind: &str, prefix: &settings::Prefix, origin: &Origin) -> Entry {
    let shown = match origin {
        Origin::BuiltIn => format!("{kind}: {prefix}"),
        Origin::File(_) | Origin::Flag(_) => format!("{kind}: {prefix} ({origin})"),
    };
    let prefix = match prefix {
        settings::Prefix::Everything => Prefix::Everything,
        settings::Prefix::Words(words) => Prefix::Words(words.clone()),
    };
    Entry { prefix, shown }
}

const fn decision(decision: settings::Decision) -> Decision {
    match decision {
        settings::Decision::Allow => Decision::Allow,
        settings::Decision::Ask => Decision::Ask,
        settings::Decision::Deny => Decision::Deny,
    }
}
