//! What a preset says about a call that no rule settles.
//!
//! | preset | free |
//! |---|---|
//! | `cautious` | reading |
//! | `balanced` | reading, fetching, and work inside the root: writing and deleting there, and running code and using the folder for temporary files where the sandbox holds it |
//! | `open` | everything but ruin and credentials |
//!
//! A preset allows as a rule does that names the program: strictly. So what else speaks against the call still counts: a write
//! outside the root, an option that isn't listed, a word that may be one.

use super::{Basis, Judge};
use crate::calls::Call;
use crate::effect::{CallEffect, EffectName};
use crate::matching::StrictMatch;
use crate::programs::base_name;
use crate::rules::Preset;

impl Judge<'_> {
    /// What the preset in force allows the call by.
    pub(super) fn preset_basis(&self, call: &Call, name: &str, effects: &[CallEffect]) -> Basis {
        let Some(preset) = self.rules.preset else { return Basis::None };
        if preset == Preset::Open {
            let shows_secret = effects.iter().any(|effect| effect.effect == EffectName::Secret);
            return if shows_secret { Basis::None } else { Basis::Everything };
        }
        let fills = |effect: &CallEffect| {
            let path = effect.target.as_deref().filter(|_| effect.effect == EffectName::Write);
            path.is_some_and(|path| self.fills_temporary(call, path))
        };
        let is_free = effects.iter().all(|effect| self.is_free(preset, effect) || fills(effect));
        let prefix = [base_name(name).to_owned()];
        let is_plain = call.candidate(self.machine).strict_match(&prefix) == StrictMatch::Yes;
        // A program of the project is code, and is free where code is.
        let is_project_code = effects.iter().any(|effect| {
            effect.effect == EffectName::Code && effect.known && effect.target.as_deref() == Some(name)
        });
        if is_free && (is_plain || is_project_code) { Basis::Named(1) } else { Basis::None }
    }

    /// Whether the preset in force lets a call have this effect.
    pub(super) fn preset_frees(&self, effect: &CallEffect) -> bool {
        self.rules.preset.is_some_and(|preset| self.is_free(preset, effect))
    }

    /// Whether a preset lets a call have this effect.
    fn is_free(&self, preset: Preset, effect: &CallEffect) -> bool {
        match (preset, effect.effect) {
            (Preset::Open, _) | (_, EffectName::Read) => true,
            (Preset::Cautious, _) => false,
            // The judge of files asks about those that words name; a row may name others, and so may a runner.
            (Preset::Balanced, EffectName::Write | EffectName::Delete) => {
                effect.target.as_deref().is_none_or(|path| self.is_inside(path) || self.is_temporary(path))
            }
            (Preset::Balanced, EffectName::Network) => !effect.sends,
            (Preset::Balanced, EffectName::Code) => self.rules.confined,
            (Preset::Balanced, EffectName::Machine) => effect.held && self.rules.confined,
            (Preset::Balanced, EffectName::Publish | EffectName::Secret | EffectName::Unknown) => false,
        }
    }
}
