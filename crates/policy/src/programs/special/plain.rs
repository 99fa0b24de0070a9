//! Words of which only plain ones are known to be harmless: names in whose place a file may stand, keywords, values that are put
//! into other texts.

use super::super::collector::{Collector, after};
use super::super::{EffectKind, words as lists};
use shellgate_syntax::Word;

fn is_name(text: &str, signs: &str) -> bool {
    text.starts_with(|c: char| c.is_ascii_alphanumeric() || c == '_')
        && text.chars().all(|c| c.is_ascii_alphanumeric() || signs.contains(c))
}

/// Reads the name of a part of the program. In its place a file or code may stand.
pub(crate) fn bare_name(word: &Word, collector: &mut Collector, language: &str) {
    // Attributes of nix have dots between.
    let signs = if language == "nix" { "_-+." } else { "_-+" };
    if !word.value.known().is_some_and(|text| is_name(text, signs)) {
        collector.names_code = true;
        collector.effect(word, EffectKind::Opaque(word.clone(), "a file or code in place of a name"));
    }
}

/// Reads values with commas between that are put into commands.
pub(crate) fn plain_values(word: &Word, collector: &mut Collector) {
    if !word.value.known().is_some_and(|text| text.split(',').all(|part| is_name(part, "_-+./"))) {
        collector.effect(word, EffectKind::Unusual("puts words with signs into a command"));
    }
}

/// Reads where output goes: a keyword, or a file.
pub(crate) fn output_place(word: &Word, collector: &mut Collector) {
    if !word.value.known().is_some_and(|text| lists::OUTPUT_KEYWORDS.contains(&text)) {
        collector.effect(word, EffectKind::Writes(word.clone()));
    }
}

/// Reads a file that is written, or a command behind a sign for a pipe.
pub(crate) fn pipe_or_write(word: &Word, collector: &mut Collector) {
    let signs = ["%pipe%", "|"];
    match signs
        .iter()
        .find(|sign| word.value.lead().starts_with(**sign))
        .and_then(|sign| after(word, sign.len()))
    {
        Some(command) => collector.effect(word, EffectKind::Shell(command)),
        None if word.value.lead() == "-" || word.value.lead() == "%stdout%" => {}
        None => collector.effect(word, EffectKind::Writes(word.clone())),
    }
}

/// Reads an archive or a drive. One on another machine is reached by a program that is started.
pub(crate) fn tape(word: &Word, collector: &mut Collector) {
    let host = word.value.lead().split('/').next();
    if host.is_some_and(|host| host.contains(':')) {
        let why = "has an archive on another machine, which starts a remote shell";
        collector.effect(word, EffectKind::Unusual(why));
    } else {
        collector.effect(word, EffectKind::Writes(word.clone()));
    }
}

/// Reads options for an X server. Some of its options name files and programs.
pub(crate) fn server_options(word: &Word, collector: &mut Collector) {
    let is_harmless = |part: &str| {
        let is_value = part.starts_with(|c: char| c.is_ascii_alphanumeric()) && is_name(part, "_-+.");
        is_value || lists::X_SERVER_OPTIONS.contains(&part)
    };
    if !word.value.known().is_some_and(|text| text.split_ascii_whitespace().all(is_harmless)) {
        collector
            .effect(word, EffectKind::Unusual("has options of an X server that aren't known to be harmless"));
    }
}

/// Reads the name of a database, or what to connect to: `KEY=VALUE KEY=VALUE`, `postgresql://…?KEY=VALUE`. Some keys name files
/// that are written.
pub(crate) fn pg_connection(word: &Word, collector: &mut Collector) {
    let is_harmless = |key: &str| lists::PG_CONNECTION_KEYS.contains(&key);
    let settings = |text: &str| {
        let plain = !text.contains(['\'', '\\', '%']);
        let text = text
            .split_once("://")
            .map_or(text, |(_, rest)| rest.split_once('?').map_or("", |(_, keys)| keys));
        let mut keys = text.split([' ', '&', '\t', '\n']).filter_map(|part| part.split_once('='));
        (plain || !text.contains('=')) && keys.all(|(key, _)| is_harmless(key.trim()))
    };
    if word.value.known().is_some_and(|text| text.contains('=') && !settings(text)) {
        let why = "has a setting of the connection that isn't known to be harmless";
        collector.effect(word, EffectKind::Unusual(why));
    }
    super::path_or_name::name(word, collector);
}
