//! Applying a trusted layer: later wins, but exclusions and rules add up.

use super::change::{Change, Layer, To};
use crate::Settings;

/// Applies every change of a layer that may change anything.
pub(super) fn trusted(settings: &mut Settings, layer: Layer) {
    for change in layer {
        apply(settings, change);
    }
}

pub(super) fn apply(settings: &mut Settings, Change { key, origin, to }: Change) {
    match to {
        To::Switch(slot, value) => *(slot.at)(settings) = value,
        To::Whole(slot, value) => *(slot.at)(settings) = value,
        To::Word(slot, name) => (slot.set)(settings, name),
        To::Folder(slot, value) => *(slot.at)(settings) = value,
        To::Texts(slot, value) => *(slot.at)(settings) = value,
        To::Askers(slot, value) => *(slot.at)(settings) = value,
        To::Variables(slot, value) => (slot.at)(settings).extend(value),
        To::Core(value) => settings.policy.core = value,
        To::Exclude(value) => settings.policy.exclude.extend(value),
        To::Rules(value) => settings.policy.rules.extend(value),
    }
    settings.set_origin(key.path, origin);
}
