//! `git config`: reading a setting is harmless, writing one can name programs.

use super::super::entry::Entry;
use super::super::sink::{Sink, joined};
use super::super::words;
use super::super::{Canonical, What, read};
use super::git;
use shellgate_syntax::{Value, Word};

/// `git config [--global] KEY VALUE` sets something, with two operands or more.
pub(crate) fn git_settings(entry: &'static Entry, words: &[Word], sink: &mut Sink) {
    let from = sink.understood.canonical.len();
    read::plainly(entry, words, sink);
    let said = sink.understood.canonical.get(from..).unwrap_or_default();
    if said.iter().any(|part| matches!(part, Canonical::Option(name, _) if words::GIT_CONFIG_READING_OPTIONS.contains(&name.as_str()))) {
        return;
    }
    let operands: Vec<&Value> = said
        .iter()
        .filter_map(|part| if let Canonical::Word(value) = part { Some(value) } else { None })
        .collect();
    let (Some(key), Some(_)) = (operands.first(), operands.get(1)) else {
        return;
    };
    // `git config get KEY` has been read by the entry of `get`.
    if key.known().is_some_and(|key| entry.subcommands.iter().any(|sub| sub.names.contains(&key))) {
        return;
    }
    let harmless = key.known().is_some_and(git::is_data);
    if !harmless && let Some(all) = joined(words) {
        sink.effect(&all, What::Unusual("changes a setting of git that isn't known to be harmless"));
    }
}
