//! Launchers whose command follows other words: `mise x TOOL -- CMD`, `nix run PACKAGE`.

use super::super::collector::Collector;
use super::super::entry::Entry;
use super::super::{EffectKind, read};
use shellgate_syntax::Word;

/// Reads `mise x TOOL… -- CMD`.
pub(crate) fn mise_exec(entry: &'static Entry, words: &[Word], collector: &mut Collector) {
    let dashes = words.iter().position(|word| word.value.known() == Some("--")).unwrap_or(words.len());
    let (before, command) = words.split_at_checked(dashes).unwrap_or((words, &[]));
    read::by_table(entry, before, collector);
    let command = command.get(1..).unwrap_or_default();
    command.iter().for_each(|word| collector.word(word.value.clone()));
    collector.runs(command, false);
}

/// Reads `nix run PACKAGE -- ARGS` and `nix shell PACKAGE… -c CMD`. Packages are code that isn't known.
pub(crate) fn nix_run(entry: &'static Entry, words: &[Word], collector: &mut Collector) {
    read::by_table(entry, words, collector);
    if let Some(package) = words.first().filter(|word| !word.value.lead().starts_with('-')) {
        collector.effect(package, EffectKind::Opaque(package.clone(), "a package that it runs"));
    }
}
