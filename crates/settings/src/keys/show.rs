//! Values as they are written in a file.

use super::{Key, Kind};
use crate::{Origin, Prefix, Settings, Sourced, Word};

impl Key {
    /// The key's value as it is written in a file. `None`: it has no value. Rules are too long, so only their number is
    /// shown.
    pub fn show(&self, settings: &Settings) -> Option<String> {
        match &self.kind {
            Kind::Switch(slot) => Some((slot.get)(settings).to_string()),
            Kind::Whole { slot, .. } => Some((slot.get)(settings).to_string()),
            Kind::Word(word) => (word.get)(settings).map(quote),
            Kind::Folder(slot) => {
                let folder = (slot.get)(settings).as_ref();
                Some(quote(&folder.map(|folder| folder.display().to_string()).unwrap_or_default()))
            }
            Kind::Texts { slot, .. } => Some(list((slot.get)(settings).iter().map(|text| quote(text)))),
            Kind::Askers(slot) => Some(list((slot.get)(settings).iter().map(|asker| quote(asker.name())))),
            Kind::Variables(slot) => {
                let pairs = (slot.get)(settings)
                    .iter()
                    .map(|(name, value)| format!("{} = {}", quote(name), quote(value)));
                let pairs: Vec<_> = pairs.collect();
                Some(if pairs.is_empty() { "{}".to_owned() } else { format!("{{ {} }}", pairs.join(", ")) })
            }
            Kind::Core => Some(prefixes(settings.policy.core.as_deref().unwrap_or_default())),
            Kind::Exclude => Some(prefixes(&settings.policy.exclude)),
            Kind::Patterns(slot) => Some(prefixes((slot.get)(settings))),
            Kind::Rules => {
                let policy = &settings.policy;
                Some(format!("{} rules", policy.rules.len() + policy.effect_rules.len()))
            }
        }
    }

    /// The origins of a list's entries, in order. Empty for keys that are not lists.
    pub fn entries<'a>(&self, settings: &'a Settings) -> Vec<&'a Origin> {
        match &self.kind {
            Kind::Texts { slot, .. } => origins((slot.get)(settings)),
            Kind::Askers(slot) => origins((slot.get)(settings)),
            Kind::Variables(slot) => (slot.get)(settings).values().map(|value| &value.origin).collect(),
            Kind::Core => origins(settings.policy.core.as_deref().unwrap_or_default()),
            Kind::Exclude => origins(&settings.policy.exclude),
            Kind::Patterns(slot) => origins((slot.get)(settings)),
            Kind::Rules => {
                let rules = settings.policy.rules.iter().map(|rule| &rule.origin);
                rules.chain(settings.policy.effect_rules.iter().map(|rule| &rule.origin)).collect()
            }
            Kind::Switch(_) | Kind::Whole { .. } | Kind::Word(_) | Kind::Folder(_) => Vec::new(),
        }
    }
}

fn origins<T>(entries: &[Sourced<T>]) -> Vec<&Origin> {
    entries.iter().map(|entry| &entry.origin).collect()
}

fn prefixes(entries: &[Sourced<Prefix>]) -> String {
    list(entries.iter().map(|entry| quote(&entry.to_string())))
}

fn list(entries: impl Iterator<Item = String>) -> String {
    format!("[{}]", entries.collect::<Vec<_>>().join(", "))
}

fn quote(text: &str) -> String {
    toml_edit::Value::from(text).to_string()
}
