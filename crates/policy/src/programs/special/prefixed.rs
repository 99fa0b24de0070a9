//! Programs that take a long option also with a word before its name and with `_` for `-`: `--loose_tee=FILE`.

use super::super::collector::Collector;
use super::super::form::Entry;
use super::super::words::OPTION_PREFIXES;
use super::super::{EffectKind, read};
use shellgate_syntax::Word;

/// Reads a call by its table. Other spellings of listed options are unusual.
pub(crate) fn prefixed_options(entry: &'static Entry, words: &[Word], collector: &mut Collector) {
    for word in words.iter().filter(|word| is_other_spelling(entry, word.value.lead())) {
        collector.effect(word, EffectKind::Unusual("has an unusual spelling of an option"));
    }
    read::by_table(entry, words, collector);
}

/// Whether a word isn't listed, but what is left of it without those words may be the beginning of a listed option.
fn is_other_spelling(entry: &'static Entry, text: &str) -> bool {
    let Some(written) = text.split('=').next().and_then(|name| name.strip_prefix("--")) else { return false };
    let plain = written.replace('_', "-");
    let mut name = plain.as_str();
    while let Some(rest) = OPTION_PREFIXES.iter().find_map(|prefix| name.strip_prefix(prefix)) {
        name = rest;
    }
    let begins =
        |listed: &&str, name: &str| listed.strip_prefix("--").is_some_and(|listed| listed.starts_with(name));
    let is_listed =
        |name: &str| entry.options().any(|option| option.names.iter().any(|listed| begins(listed, name)));
    name != written && !name.is_empty() && is_listed(name) && entry.option(&format!("--{written}")).is_none()
}
