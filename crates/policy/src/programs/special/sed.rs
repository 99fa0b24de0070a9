//! Scripts of sed: what the reader of their language found becomes effects.

use super::super::EffectKind;
use super::super::collector::Collector;
use super::awk::add;
use crate::languages::sed;
use shellgate_syntax::Word;

/// Reads a script, or one of several `-e` pieces. One that can't be read is opaque.
pub(crate) fn sed_script(word: &Word, collector: &mut Collector) {
    collector.names_code = true;
    let Some(text) = word.value.known() else {
        collector.effect(word, EffectKind::Opaque(word.clone(), "a sed script that isn't known"));
        return;
    };
    // Behind a piece that ends in the middle of a text, this one is text, and the next line of it may be commands again.
    let follows_open = std::mem::replace(&mut collector.has_open_text, sed::is_open(text));
    match sed::read(text) {
        Some(found) if !follows_open => add(&found, word, "sed", collector),
        None if !follows_open && collector.has_open_text => {}
        _ => collector
            .effect(word, EffectKind::Opaque(word.clone(), "a sed script that can't be read with certainty")),
    }
}

/// Reads the suffix of `-i`. With a slash or `*` it names another file to write.
pub(crate) fn backup_suffix(word: &Word, collector: &mut Collector) {
    if word.value.known().is_none_or(|suffix| suffix.contains(['/', '*'])) {
        collector.effect(word, EffectKind::Unusual("writes files elsewhere by a suffix of their names"));
    }
}

/// Reads what is put before the path of a file: `.` and `./x` make `../x`.
pub(crate) fn path_prefix(word: &Word, collector: &mut Collector) {
    if word.value.known().is_none_or(|prefix| prefix.ends_with('.')) {
        collector.effect(word, EffectKind::Unusual("writes files elsewhere by a prefix of their paths"));
    }
    collector.effect(word, EffectKind::Writes(word.clone()));
}
