//! Launchers whose command follows other words: `mise x TOOL -- CMD`, `nix run PACKAGE`, `npx TOOL`.

use super::super::collector::Collector;
use super::super::entry;
use super::super::form::Entry;
use super::super::{EffectKind, read, words as lists};
use super::nopt;
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

/// Reads `npx TOOL ARGS`. A listed tool is the project's own build tool, and its words are read like those of the tool. Any other
/// is a package that npx finds.
pub(crate) fn npx(entry: &'static Entry, words: &[Word], collector: &mut Collector) {
    let name = words.first().and_then(|word| word.value.known());
    let listed = name.filter(|name| lists::NPX_TOOLS.contains(name)).and_then(entry::find);
    match (words.split_first(), listed) {
        (Some((tool, rest)), Some(own)) => {
            collector.names_code = true;
            collector.word(tool.value.clone());
            collector.effect(tool, EffectKind::Imports(tool.clone()));
            read::by_table(own, rest, collector);
        }
        _ => nopt(entry, words, collector),
    }
}
