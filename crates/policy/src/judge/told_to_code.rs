//! What a call tells to code, compared with rules by effect. Code may do anything with a path or a host that it is told: in its
//! text, by an option, as an argument.

use super::Judge;
use super::effect_rules::{Place, PreparedRule, any_fits, names_path};
use crate::calls::Call;
use crate::effect::{CallEffect, EffectName};
use crate::hosts::{self, Fit};
use crate::path_patterns::Strictness;

/// What separates words in code and in options.
const CODE_SEPARATORS: [char; 16] =
    [' ', '\t', '\n', ';', '|', '&', '<', '>', '(', ')', '=', ',', '`', '"', '\'', '@'];

/// How many words that are told to code are looked at.
const MAX_TOLD: usize = 200;

impl Judge<'_> {
    /// A place of a rule that a call tells to code, which may do anything there: `python3 -c 'open(".env")'`, `tsc --outDir x`,
    /// and what git keeps of it: `git show HEAD:.env`.
    pub(super) fn named_to_code(
        &self,
        prepared: &PreparedRule<'_>,
        call: &Call,
        effects: &[CallEffect],
    ) -> Option<String> {
        let rule = prepared.rule;
        if rule.targets.is_empty() {
            return None;
        }
        let is_code = |effect: &&CallEffect| effect.effect == EffectName::Code;
        let runs: Vec<&str> =
            effects.iter().filter(is_code).filter_map(|one| one.target.as_deref()).collect();
        let runs_code = effects.iter().any(|one| one.effect == EffectName::Code);
        let known = || call.words.iter().skip(1).map(|word| word.value.lead());
        // A bare word in code is rarely a file; one that is an argument may be.
        let in_code = |text: &&str| text.contains(['.', '/']);
        let is_argument = |text: &str| !text.contains([' ', '(', '\n']);
        let texts = known().filter(|_| runs_code).flat_map(|text| {
            text.split(CODE_SEPARATORS).filter(move |part| is_argument(text) || in_code(part))
        });
        let texts = texts.filter(|text| rule.effect == EffectName::Read || !runs.contains(text));
        let is_git = call.name() == Some("git") && rule.effect == EffectName::Read;
        let kept = known().filter(|_| is_git).filter_map(|text| Some(text.split_once(':')?.1));
        let mut all =
            texts.chain(kept).filter(|text| !text.is_empty() && !text.starts_with('-')).take(MAX_TOLD);
        let is_one = |text: &&str| {
            if !names_path(rule.effect) {
                let host = super::foretold::host_of(text);
                let host = host.as_deref().unwrap_or(text);
                return rule.effect == EffectName::Network
                    && hosts::any_fits(&rule.targets, host) == Fit::Yes
                    && hosts::any_fits(&rule.except, host) != Fit::Yes;
            }
            let fits = |place: &Place| {
                any_fits(&prepared.targets, &place.real, Strictness::Loose)
                    && !any_fits(&prepared.except, &place.real, Strictness::Strict)
            };
            self.resolved_places(text).is_some_and(|places| places.iter().any(fits))
        };
        all.find(is_one).map(str::to_owned)
    }
}
