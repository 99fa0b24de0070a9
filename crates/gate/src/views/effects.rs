//! What a call does, in a line for people: the worst first, repeats folded.

use crate::admit::judge::{CallEffect, EffectName};

/// How many targets of one kind are named. The rest is counted.
const MAX_TARGETS: usize = 3;

/// What a call does: `deletes build; sends to example.org; reads a, b`. `None`: nothing that matters.
#[must_use]
pub fn effects_text(effects: &[CallEffect]) -> Option<String> {
    let mut kinds: Vec<(EffectName, bool)> = Vec::new();
    for effect in effects {
        let kind = (effect.effect, effect.sends);
        if !kinds.contains(&kind) {
            kinds.push(kind);
        }
    }
    let parts: Vec<String> = kinds
        .into_iter()
        .map(|(name, sends)| {
            let same = effects.iter().filter(|effect| (effect.effect, effect.sends) == (name, sends));
            sentence(name, sends, same)
        })
        .collect();
    (!parts.is_empty()).then(|| parts.join("; "))
}

fn sentence<'a>(name: EffectName, sends: bool, effects: impl Iterator<Item = &'a CallEffect>) -> String {
    let (verb, with_target) = match (name, sends) {
        (EffectName::Machine, _) => ("changes the machine", "changes the machine:"),
        (EffectName::Publish, _) => ("publishes", "publishes to"),
        (EffectName::Delete, _) => ("deletes files", "deletes"),
        (EffectName::Secret, _) => ("uses a secret", "uses the secret"),
        (EffectName::Unknown, _) => ("may do anything", "may do anything:"),
        (EffectName::Network, true) => ("sends to the network", "sends to"),
        (EffectName::Network, false) => ("fetches from the network", "fetches from"),
        (EffectName::Code, _) => ("runs code", "runs code:"),
        (EffectName::Write, _) => ("writes files", "writes"),
        (EffectName::Read, _) => ("reads files", "reads"),
    };
    let mut targets: Vec<&str> = Vec::new();
    for target in effects.filter_map(|effect| effect.target.as_deref()) {
        if !targets.contains(&target) {
            targets.push(target);
        }
    }
    let named = targets.iter().take(MAX_TARGETS).copied().collect::<Vec<_>>().join(", ");
    match targets.len() {
        0 => verb.to_owned(),
        count if count <= MAX_TARGETS => format!("{with_target} {named}"),
        count => format!("{with_target} {named} and {} more", count - MAX_TARGETS),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn effect(effect: EffectName, target: Option<&str>, sends: bool) -> CallEffect {
        CallEffect { effect, target: target.map(str::to_owned), known: true, sends }
    }

    #[test]
    fn repeats_are_folded() {
        let reads = ["a", "b", "b", "c", "d", "e"].map(|path| effect(EffectName::Read, Some(path), false));
        assert_eq!(effects_text(&reads).as_deref(), Some("reads a, b, c and 2 more"));
        let mixed = [
            effect(EffectName::Delete, Some("build/"), false),
            effect(EffectName::Network, Some("example.org"), true),
            effect(EffectName::Network, None, false),
            effect(EffectName::Code, None, false),
        ];
        let expected = "deletes build/; sends to example.org; fetches from the network; runs code";
        assert_eq!(effects_text(&mixed).as_deref(), Some(expected));
        assert_eq!(effects_text(&[]), None);
    }
}
