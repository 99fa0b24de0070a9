//! `cargo --config`: a file of settings, or one setting as `KEY=VALUE`.

use super::super::EffectKind;
use super::super::collector::Collector;
use super::super::role::Role;
use super::super::words;
use shellgate_syntax::Word;

/// Reads the value of `--config`. Settings that the table doesn't list as plain data may name programs.
pub(crate) fn cargo_config(word: &Word, collector: &mut Collector) {
    let Some(text) = word.value.known() else {
        collector.effect(word, EffectKind::Opaque(word.clone(), "settings that can name programs"));
        return;
    };
    let Some((key, _)) = text.split_once('=') else {
        collector.role(Role::Config, word, "");
        return;
    };
    let key = key.trim();
    let is_data = |known: &&str| match known.strip_suffix('*') {
        Some(begin) => key.starts_with(begin),
        None => *known == key,
    };
    // A newline would begin another setting.
    collector.effect(word, EffectKind::Opaque(word.clone(), "settings that can name programs"));
    if text.contains('\n') || !words::CARGO_DATA_SETTINGS.iter().any(is_data) {
        collector.effect(word, EffectKind::Unusual("has a setting of cargo that can name programs"));
    }
}
