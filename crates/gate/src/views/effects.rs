//! What a command does, as short phrases: "deletes `build`", "sends to `github.com`".

use std::collections::BTreeMap;

use shellgate_policy::{CallEffect, EffectName};

/// A phrase names at most this many targets.
const TARGETS_SHOWN: usize = 4;

/// Phrases for these effects, the worst first, each kind once.
#[must_use]
pub fn effect_phrases<'a>(effects: impl IntoIterator<Item = &'a CallEffect>) -> Vec<String> {
    // Sending is worse than fetching, so it comes first.
    let mut kinds: BTreeMap<(EffectName, bool), Targets<'_>> = BTreeMap::new();
    for effect in effects {
        let kind = kinds.entry((effect.effect, !effect.sends)).or_default();
        match &effect.target {
            Some(target) if !kind.named.contains(&target.as_str()) => kind.named.push(target),
            Some(_) => {}
            None => kind.unnamed |= !effect.known,
        }
    }
    kinds.into_iter().map(|((effect, fetches), targets)| targets.phrase(words(effect, !fetches))).collect()
}

/// The same on one line. `None`: nothing that matters.
#[must_use]
pub fn effects_text<'a>(effects: impl IntoIterator<Item = &'a CallEffect>) -> Option<String> {
    let phrases = effect_phrases(effects);
    (!phrases.is_empty()).then(|| phrases.join("; "))
}

/// What effects of one kind are done to.
#[derive(Default)]
struct Targets<'a> {
    named: Vec<&'a str>,
    /// Whether there is one that can't be known.
    unnamed: bool,
}

impl Targets<'_> {
    fn phrase(&self, (alone, with_target): (&str, &str)) -> String {
        let mut shown: Vec<String> =
            self.named.iter().take(TARGETS_SHOWN).map(|target| format!("`{target}`")).collect();
        let more = self.named.len().saturating_sub(TARGETS_SHOWN);
        if more > 0 {
            shown.push(format!("{more} more"));
        }
        if self.unnamed && !shown.is_empty() {
            shown.push("something that can't be known".to_owned());
        }
        match shown.split_last() {
            None => alone.to_owned(),
            Some((only, [])) => format!("{with_target} {only}"),
            Some((last, others)) => format!("{with_target} {} and {last}", others.join(", ")),
        }
    }
}

/// The words for an effect: alone, and before its targets.
fn words(effect: EffectName, sends: bool) -> (&'static str, &'static str) {
    match (effect, sends) {
        (EffectName::Machine, _) => ("changes the machine", "changes the machine:"),
        (EffectName::Publish, _) => ("publishes", "publishes to"),
        (EffectName::Delete, _) => ("deletes files", "deletes"),
        (EffectName::Secret, _) => ("reads credentials", "reads credentials:"),
        (EffectName::Unknown, _) => ("does something that can't be known", "runs an unknown program:"),
        (EffectName::Network, true) => ("sends over the network", "sends to"),
        (EffectName::Network, false) => ("fetches over the network", "fetches from"),
        (EffectName::Code, _) => ("runs code that the command doesn't show", "runs code:"),
        (EffectName::Write, _) => ("writes files", "writes"),
        (EffectName::Read, _) => ("reads files", "reads"),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn effect(effect: EffectName, target: Option<&str>, sends: bool) -> CallEffect {
        CallEffect { effect, target: target.map(str::to_owned), known: true, sends, held: false }
    }

    #[test]
    fn the_worst_comes_first_and_repeats_are_folded() {
        let network = |target, sends| effect(EffectName::Network, Some(target), sends);
        let reads =
            ["a", "b", "a", "c", "d", "e", "f"].map(|path| effect(EffectName::Read, Some(path), false));
        let others = [
            network("example.org", false),
            network("github.com", true),
            effect(EffectName::Delete, Some("build"), false),
            effect(EffectName::Code, None, false),
        ];
        assert_eq!(
            effect_phrases(reads.iter().chain(&others)),
            [
                "deletes `build`",
                "sends to `github.com`",
                "fetches from `example.org`",
                "runs code that the command doesn't show",
                "reads `a`, `b`, `c`, `d` and 2 more",
            ]
        );
    }

    #[test]
    fn a_target_that_cannot_be_known_is_said() {
        let unknown = CallEffect { known: false, ..effect(EffectName::Write, None, false) };
        let known = effect(EffectName::Write, Some("x"), false);
        assert_eq!(effect_phrases([&known, &unknown]), ["writes `x` and something that can't be known"]);
        assert_eq!(effect_phrases([&unknown]), ["writes files"]);
    }
}
