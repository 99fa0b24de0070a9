//! Applying a project file that nobody trusts: it can make things stricter, never looser.
//!
//! What a file may do to a key is in the table of keys. A row that doesn't fit its kind ends in "ignored" here, so
//! a mistake in the table can't loosen anything.

use super::{
    change::{Change, Layer, To},
    merge,
};
use crate::{
    Asker, Grants, Ignored, Notice, Policy, Settings,
    keys::{Kind, Untrusted, WordSlot},
};

/// Applies what is stricter, keeps the policy apart, and notes what was ignored.
pub(super) fn untrusted(settings: &mut Settings, layer: Layer) {
    // A change of `policy` goes to a copy with a policy that objects to nothing; only that policy is kept.
    let mut apart: Option<Settings> = None;
    for change in layer {
        match change.key.untrusted {
            Untrusted::Ignored => needs_trust(settings, change),
            Untrusted::Tightens => tighten(settings, change),
            Untrusted::Adds => add(settings, change),
            Untrusted::Apart => {
                let change = without_grants(settings, change);
                let apart = apart
                    .get_or_insert_with(|| Settings { policy: Policy::neutral(), ..Settings::default() });
                merge::apply(apart, change);
            }
        }
    }
    settings.project_policy = apart.map(|apart| apart.policy);
}

fn ignore(settings: &mut Settings, change: &Change, why: Ignored) {
    settings.notices.push(Notice { key: change.key.path, origin: change.origin.clone(), why });
}

/// Ignores a change, and says so if it would have changed anything.
fn needs_trust(settings: &mut Settings, change: Change) {
    let (key, origin) = (change.key, change.origin.clone());
    let mut changed = settings.clone();
    merge::apply(&mut changed, change);
    if key.show(&changed) != key.show(settings) {
        settings.notices.push(Notice { key: key.path, origin, why: Ignored::NeedsTrust });
    }
}

/// How a wanted value compares with the one that holds.
enum Compared {
    Stricter,
    Same,
    Looser,
}

fn tighten(settings: &mut Settings, change: Change) {
    let compared = match &change.to {
        To::Switch(slot, value) => match ((slot.get)(settings), *value) {
            (false, true) => Compared::Stricter,
            (true, false) => Compared::Looser,
            _ => Compared::Same,
        },
        To::Whole(slot, value) => {
            let zero_is_no_limit = matches!(change.key.kind, Kind::Whole { min: 0, .. });
            let limit = |number: u64| if zero_is_no_limit && number == 0 { u64::MAX } else { number };
            match limit(*value).cmp(&limit(*(slot.get)(settings))) {
                std::cmp::Ordering::Less => Compared::Stricter,
                std::cmp::Ordering::Equal => Compared::Same,
                std::cmp::Ordering::Greater => Compared::Looser,
            }
        }
        To::Word(slot, name) => word(settings, slot, name),
        To::Askers(slot, askers) => {
            let held = (slot.get)(settings);
            let named = |asker: Asker| askers.iter().any(|named| named.value == asker);
            let more = askers.iter().any(|asker| held.iter().all(|held| held.value != asker.value));
            let fewer = held.iter().any(|held| !named(held.value));
            // Someone new is looser, even if someone else goes.
            match (more, fewer) {
                (true, _) => Compared::Looser,
                (false, true) => Compared::Stricter,
                (false, false) => Compared::Same,
            }
        }
        _ => return needs_trust(settings, change),
    };
    match compared {
        Compared::Stricter => merge::apply(settings, change),
        Compared::Same => {}
        Compared::Looser => {
            let stays = change.key.show(settings).unwrap_or_else(|| "what the dialect chooses".to_owned());
            ignore(settings, &change, Ignored::NotStricter { stays });
        }
    }
}

fn word(settings: &Settings, slot: &WordSlot, wanted: &str) -> Compared {
    let held = (slot.get)(settings);
    if held == Some(wanted) {
        return Compared::Same;
    }
    let holds = (slot.strictness)(held.unwrap_or(slot.unset));
    let wanted = (slot.strictness)(wanted);
    // Without a value, one that is as strict as the strictest choice of the dialects counts as stricter.
    match (wanted, holds) {
        (Some(wanted), Some(holds)) if wanted > holds || (held.is_none() && wanted == holds) => {
            Compared::Stricter
        }
        _ => Compared::Looser,
    }
}

fn add(settings: &mut Settings, mut change: Change) {
    match &mut change.to {
        To::Exclude(_) => merge::apply(settings, change),
        To::Texts(slot, entries) => {
            let mut all = (slot.get)(settings).clone();
            all.append(entries);
            *entries = all;
            merge::apply(settings, change);
        }
        _ => needs_trust(settings, change),
    }
}

/// Takes away what the rules of an untrusted file would give to commands.
fn without_grants(settings: &mut Settings, mut change: Change) -> Change {
    if let To::Rules(rules) = &mut change.to {
        for rule in rules.iter_mut().filter(|rule| !rule.grants.is_empty()) {
            rule.grants = Grants::default();
            let why = Ignored::Grants;
            settings.notices.push(Notice { key: change.key.path, origin: rule.origin.clone(), why });
        }
    }
    change
}
