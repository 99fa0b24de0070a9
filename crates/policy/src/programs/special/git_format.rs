//! Formats of `git log` and its like. Some of their placeholders start gpg.

use super::super::EffectKind;
use super::super::collector::Collector;
use super::super::words;
use shellgate_syntax::Word;

/// Reads a format: placeholders, or the name of one that git itself has. A name of the settings can stand for any format.
pub(crate) fn git_format(word: &Word, collector: &mut Collector) {
    let Some(text) = word.value.known() else {
        let what = "a format that isn't known; some start gpg";
        collector.effect(word, EffectKind::Opaque(word.clone(), what));
        return;
    };
    // `%+G?`, `%-G?` and `% G?` are `%G?` with a line break or blank.
    let signs = text.replace(['+', '-', ' '], "");
    if signs.contains("%G") || text.contains("signature") {
        collector.effect(word, EffectKind::Unusual("has a format that starts gpg"));
    }
    let is_format = text.is_empty() || text.contains('%') || text.contains("format:");
    if !is_format
        && !words::GIT_FORMAT_NAMES.contains(&text)
        && !text.contains(|c: char| !c.is_alphanumeric())
    {
        collector.effect(word, EffectKind::Unusual("names a format of the settings"));
    }
}
