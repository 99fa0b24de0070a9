//! Applies a trusted layer. A later value replaces an earlier one, but exclusions, rules and the lists `allow`, `ask` and `deny`
//! add up.

use super::change::{Change, Layer, NewValue};
use crate::Settings;

/// Applies all changes of a trusted layer.
pub(super) fn apply_trusted(settings: &mut Settings, layer: Layer) {
    for change in layer {
        apply(settings, change);
    }
}

pub(super) fn apply(settings: &mut Settings, Change { key, origin, value }: Change) {
    match value {
        NewValue::Switch(slot, value) => *(slot.at)(settings) = value,
        NewValue::Whole(slot, value) => *(slot.at)(settings) = value,
        NewValue::Word(slot, name) => (slot.set)(settings, name),
        NewValue::Folder(slot, value) => *(slot.at)(settings) = value,
        NewValue::Texts(slot, value) => *(slot.at)(settings) = value,
        NewValue::Askers(slot, value) => *(slot.at)(settings) = value,
        NewValue::Variables(slot, value) => (slot.at)(settings).extend(value),
        NewValue::Core(value) => settings.policy.core = value,
        NewValue::Exclude(value) => settings.policy.exclude.extend(value),
        NewValue::Patterns(slot, value) => (slot.at)(settings).extend(value),
        NewValue::Rules(rules, by_effect) => {
            settings.policy.rules.extend(rules);
            settings.policy.effect_rules.extend(by_effect);
        }
    }
    settings.set_origin(key.path, origin);
}
