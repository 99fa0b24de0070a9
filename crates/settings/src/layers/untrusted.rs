//! Applies an untrusted project file. It can make settings stricter, never looser.
//!
//! The table of keys says what such a file may do to each key. If a row's right doesn't fit the key's type, the change is
//! ignored, so a mistake in the table can't loosen anything.

use super::{
    change::{Change, Layer, NewValue},
    merge,
};
use crate::{
    Asker, Decision, Grants, IgnoredReason, Notice, Policy, Prefix, Settings, Sourced, Word as _,
    keys::{Kind, Untrusted, WordSlot},
};

/// Applies the stricter changes, keeps the file's policy separate, and notes the ignored changes.
pub(super) fn apply_untrusted(settings: &mut Settings, layer: Layer) {
    // Changes of `policy` are applied to other settings, whose policy allows everything. Only that policy is kept.
    let mut apart: Option<Settings> = None;
    for change in layer {
        match change.key.untrusted {
            Untrusted::Ignored => ignore_without_trust(settings, change),
            Untrusted::Tightens => tighten(settings, change),
            Untrusted::Adds => add(settings, change),
            Untrusted::Apart => {
                note_if_looser(settings, &change);
                let change = without_grants(settings, change);
                let apart = apart
                    .get_or_insert_with(|| Settings { policy: Policy::neutral(), ..Settings::default() });
                merge::apply(apart, change);
            }
        }
    }
    settings.project_policy = apart.map(|apart| apart.policy);
}

fn ignore(settings: &mut Settings, change: &Change, why: IgnoredReason) {
    settings.notices.push(Notice { key: change.key.path, origin: change.origin.clone(), why });
}

/// Notes a change of the policy that would allow more if the file were trusted. One that only makes it stricter works as it is.
fn note_if_looser(settings: &mut Settings, change: &Change) {
    // What happens to commands that no rule covers.
    let policy = &settings.policy;
    let is_allowlist = policy.core.is_some() && !policy.default_is_set;
    let fallback = if is_allowlist { Decision::Deny } else { policy.default };
    let is_looser = |decision: Decision| decision.strictness() < fallback.strictness();
    let origin = match &change.value {
        NewValue::Core(core) => {
            let held = settings.policy.core.as_deref();
            let is_new = |entry: &&Sourced<Prefix>| {
                is_looser(Decision::Allow)
                    && held.into_iter().flatten().all(|known| known.value != entry.value)
            };
            match core {
                Some(core) => core.iter().find(is_new).map(|entry| &entry.origin),
                None => held.map(|_| &change.origin),
            }
        }
        NewValue::Rules(rules, by_effect) => {
            let prefixes = rules.iter().map(|rule| (rule.decision, &rule.origin));
            let effects = by_effect.iter().map(|rule| (rule.decision, &rule.origin));
            prefixes.chain(effects).find(|(decision, _)| is_looser(*decision)).map(|(_, origin)| origin)
        }
        // `ask` and `deny` only make the policy stricter.
        NewValue::Patterns(_, patterns)
            if change.key.path == "policy.allow" && is_looser(Decision::Allow) =>
        {
            patterns.first().map(|pattern| &pattern.origin)
        }
        NewValue::Word(slot, name) => {
            matches!(compare_words(settings, slot, name), Compared::Looser).then_some(&change.origin)
        }
        // Keys of these types are not judged apart.
        NewValue::Switch(..)
        | NewValue::Whole(..)
        | NewValue::Folder(..)
        | NewValue::Texts(..)
        | NewValue::Askers(..)
        | NewValue::Variables(..)
        | NewValue::Patterns(..)
        | NewValue::Exclude(_) => None,
    };
    if let Some(origin) = origin.cloned() {
        settings.notices.push(Notice { key: change.key.path, origin, why: IgnoredReason::JudgedApart });
    }
}

/// Ignores a change, and adds a notice if it would have changed anything.
fn ignore_without_trust(settings: &mut Settings, change: Change) {
    let (key, origin) = (change.key, change.origin.clone());
    let mut changed = settings.clone();
    merge::apply(&mut changed, change);
    if key.show(&changed) != key.show(settings) {
        settings.notices.push(Notice { key: key.path, origin, why: IgnoredReason::NeedsTrust });
    }
}

/// How a new value compares with the current one.
enum Compared {
    Stricter,
    Same,
    Looser,
}

fn tighten(settings: &mut Settings, change: Change) {
    let compared = match &change.value {
        NewValue::Switch(slot, value) => match ((slot.get)(settings), *value) {
            (false, true) => Compared::Stricter,
            (true, false) => Compared::Looser,
            _ => Compared::Same,
        },
        NewValue::Whole(slot, value) => {
            let zero_is_no_limit = matches!(change.key.kind, Kind::Whole { min: 0, .. });
            let limit = |number: u64| if zero_is_no_limit && number == 0 { u64::MAX } else { number };
            match limit(*value).cmp(&limit(*(slot.get)(settings))) {
                std::cmp::Ordering::Less => Compared::Stricter,
                std::cmp::Ordering::Equal => Compared::Same,
                std::cmp::Ordering::Greater => Compared::Looser,
            }
        }
        NewValue::Word(slot, name) => compare_words(settings, slot, name),
        NewValue::Askers(slot, askers) => {
            let held = (slot.get)(settings);
            let named = |asker: Asker| askers.iter().any(|named| named.value == asker);
            let more = askers.iter().any(|asker| held.iter().all(|held| held.value != asker.value));
            let fewer = held.iter().any(|held| !named(held.value));
            // A new asker makes the list looser, even if another one is left out.
            match (more, fewer) {
                (true, _) => Compared::Looser,
                (false, true) => Compared::Stricter,
                (false, false) => Compared::Same,
            }
        }
        _ => return ignore_without_trust(settings, change),
    };
    match compared {
        Compared::Stricter => merge::apply(settings, change),
        Compared::Same => {}
        Compared::Looser => {
            let stays = change.key.show(settings).unwrap_or_else(|| "what the dialect chooses".to_owned());
            ignore(settings, &change, IgnoredReason::NotStricter { stays });
        }
    }
}

fn compare_words(settings: &Settings, slot: &WordSlot, wanted: &str) -> Compared {
    let held = (slot.get)(settings);
    if held == Some(wanted) {
        return Compared::Same;
    }
    let holds = (slot.strictness)(held.unwrap_or(slot.unset));
    let wanted = (slot.strictness)(wanted);
    // If it is not set, a word as strict as the strictest choice of the dialects counts as stricter.
    match (wanted, holds) {
        (Some(wanted), Some(holds)) if wanted > holds || (held.is_none() && wanted == holds) => {
            Compared::Stricter
        }
        _ => Compared::Looser,
    }
}

fn add(settings: &mut Settings, mut change: Change) {
    match &mut change.value {
        NewValue::Exclude(_) => merge::apply(settings, change),
        NewValue::Texts(slot, entries) => {
            let mut all = (slot.get)(settings).clone();
            all.append(entries);
            *entries = all;
            merge::apply(settings, change);
        }
        _ => ignore_without_trust(settings, change),
    }
}

/// Removes the grants of an untrusted file's rules.
fn without_grants(settings: &mut Settings, mut change: Change) -> Change {
    if let NewValue::Rules(rules, _) = &mut change.value {
        for rule in rules.iter_mut().filter(|rule| !rule.grants.is_empty()) {
            rule.grants = Grants::default();
            let why = IgnoredReason::Grants;
            settings.notices.push(Notice { key: change.key.path, origin: rule.origin.clone(), why });
        }
    }
    change
}
