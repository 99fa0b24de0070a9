//! `cargo --config`: a file of settings, or one setting as `KEY=VALUE`. `cargo rustc -- …`: options of the compiler.

use super::super::collector::{Collector, with_text};
use super::super::form::Entry;
use super::super::form::Role;
use super::super::{EffectKind, read, understand, words};
use shellgate_syntax::Word;

/// Reads `cargo rustc` and `cargo rustdoc`: words behind `--` are options of the program that the subcommand names.
pub(crate) fn cargo_compiler(entry: &'static Entry, words: &[Word], collector: &mut Collector) {
    read::by_table(entry, words, collector);
    let dashes = words.iter().position(|word| word.value.known() == Some("--"));
    let Some((dashes, options)) = dashes.and_then(|at| words.get(at..)?.split_first()) else { return };
    let compiler = entry.names.first().copied().unwrap_or_default();
    let mut call = vec![with_text(dashes, compiler)];
    call.extend_from_slice(options);
    collector.meaning.effects.extend(understand(&call).effects);
}

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

/// Reads `KEY=VALUE` of `rustc -C`. Keys that the table doesn't list may choose the linker or write files.
pub(crate) fn rust_codegen(word: &Word, collector: &mut Collector) {
    let key = word.value.lead().split('=').next().unwrap_or_default();
    let is_known = word.value.known().is_some() || word.value.lead().contains('=');
    if !is_known || !words::RUSTC_DATA_CODEGEN.contains(&key) {
        collector
            .effect(word, EffectKind::Unusual("has an option of the compiler that can choose the linker"));
    }
}
