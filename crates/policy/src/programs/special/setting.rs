//! `KEY=VALUE` settings of programs that have many of them, of which a few write files or load code.

use super::super::EffectKind;
use super::super::collector::Collector;
use super::super::words::HARMLESS_SETTINGS;
use shellgate_syntax::Word;

/// Reads settings with commas between: `KEY`, `KEY=VALUE`. Those that the table doesn't list may do anything.
pub(crate) fn settings(word: &Word, collector: &mut Collector) {
    let is_harmless = |setting: &str| {
        let key = setting.split('=').next().unwrap_or(setting).trim();
        HARMLESS_SETTINGS.contains(&key)
    };
    if !word.value.known().is_some_and(|text| text.split(',').all(is_harmless)) {
        collector.effect(word, EffectKind::Unusual("has a setting that isn't known to be harmless"));
    }
}
