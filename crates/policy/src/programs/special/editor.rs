//! Commands given to editors and pagers: `vim -c CMD`, `less +CMD`.

use super::super::collector::{Collector, with_text};
use super::super::form::Entry;
use super::super::{EffectKind, read, words};
use shellgate_syntax::Word;

/// Reads one command. What follows `!` or `shell` is text for a shell. A command that isn't known is opaque.
pub(crate) fn editor_command(word: &Word, collector: &mut Collector) {
    collector.names_code = true;
    let Some(text) = word.value.known() else {
        collector.effect(word, EffectKind::Opaque(word.clone(), "a command of the program that isn't known"));
        return;
    };
    let mut text = text.trim().trim_start_matches(':').trim_start();
    for silent in ["silent!", "silent", "sil!", "sil"] {
        text = text.strip_prefix(silent).unwrap_or(text).trim_start();
    }
    let number = text.chars().all(|c| c.is_ascii_digit());
    if number || words::EDITOR_HARMLESS_COMMANDS.contains(&text) || text.starts_with('/') {
        return;
    }
    let shell = text.strip_prefix('!').or_else(|| text.strip_prefix("shell ")).map(str::trim_start);
    let shell =
        shell.or_else(|| text.split_once('!').filter(|(range, _)| is_range(range)).map(|(_, text)| text));
    if let Some(command) = shell {
        collector.effect(word, EffectKind::Shell(with_text(word, command)));
        return;
    }
    let written = ["w! ", "w ", "write! ", "write "].iter().find_map(|name| text.strip_prefix(name));
    match written.map(str::trim) {
        Some(file) if !file.starts_with(['!', '>', '+']) && !file.contains('|') => {
            collector.effect(word, EffectKind::Writes(with_text(word, file)));
        }
        _ => collector.effect(word, EffectKind::Opaque(word.clone(), "a command of the program")),
    }
}

/// Whether text before a `!` is a range of lines: `%!sort`, `.!date`.
fn is_range(text: &str) -> bool {
    text.chars().all(|c| c.is_ascii_digit() || "%.,$+-'<>".contains(c))
        || ["r ", "r", "read "].contains(&text)
}

/// Reads a call of an editor that takes a name such as `!COMMAND` for a command whose output it edits.
pub(crate) fn editor_names(entry: &'static Entry, names: &[Word], collector: &mut Collector) {
    read::by_table(entry, names, collector);
    if let Some(word) = names.iter().find(|word| word.value.lead().starts_with(['!', '|'])) {
        collector.effect(word, EffectKind::Unusual("names a command in place of a file"));
    }
}
