//! `git config`: reading a setting is harmless, writing one can name programs.

use super::super::collector::{Collector, joined};
use super::super::form::Entry;
use super::super::words;
use super::super::{Canonical, EffectKind, read};
use super::git_setting;
use shellgate_syntax::{Value, Word};

/// Reads `git config [--global] KEY VALUE`. It sets something if there are two operands or more.
pub(crate) fn git_settings(entry: &'static Entry, words: &[Word], collector: &mut Collector) {
    let from = collector.meaning.canonical.len();
    read::by_table(entry, words, collector);
    let said = collector.meaning.canonical.get(from..).unwrap_or_default();
    if said.iter().any(|part| matches!(part, Canonical::Option(name, _) if words::GIT_CONFIG_READING_OPTIONS.contains(&name.as_str()))) {
        return;
    }
    let operands: Vec<&Value> = said
        .iter()
        .filter_map(|part| if let Canonical::Word(value) = part { Some(value) } else { None })
        .collect();
    let (Some(key), Some(value)) = (operands.first(), operands.get(1)) else {
        return;
    };
    // `git config get KEY` has been read by the entry of `get`.
    if key.known().is_some_and(|key| entry.subcommands.iter().any(|sub| sub.names.contains(&key))) {
        return;
    }
    let is_elsewhere = |part: &Canonical| matches!(part, Canonical::Option(name, _) if words::GIT_CONFIG_OTHER_FILES.contains(&name.as_str()));
    if said.iter().chain(&collector.globals).any(is_elsewhere)
        && let Some(all) = joined(words)
    {
        collector.effect(&all, EffectKind::Unusual("changes settings of git outside of the repository"));
        return;
    }
    let harmless = key.known().is_some_and(git_setting::is_data);
    if key.known().is_some_and(git_setting::is_signing)
        && !value.known().is_some_and(git_setting::is_false)
        && let Some(all) = joined(words)
    {
        collector.effect(&all, EffectKind::Unusual(git_setting::SIGNS));
    }
    if !harmless && let Some(all) = joined(words) {
        collector
            .effect(&all, EffectKind::Unusual("changes a setting of git that isn't known to be harmless"));
    }
}
