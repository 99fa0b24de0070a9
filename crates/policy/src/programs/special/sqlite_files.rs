//! Files that commands and statements for sqlite name: `.backup FILE`, `vacuum into 'FILE'`, `readfile('FILE')`.

use super::super::collector::{Collector, with_text};
use super::super::{EffectKind, words};
use shellgate_syntax::Word;

/// Adds the files that a text for sqlite's shell names.
pub(super) fn add(word: &Word, collector: &mut Collector) {
    let Some(text) = word.value.known() else { return };
    for line in text.lines() {
        match line.trim_start().strip_prefix('.') {
            Some(command) => add_command(command, word, collector),
            None => add_statement(line, word, collector),
        }
    }
}

/// A command of the shell itself. It may be shortened.
fn add_command(command: &str, word: &Word, collector: &mut Collector) {
    let mut parts = command.split_ascii_whitespace();
    let Some(name) = parts.next() else { return };
    let is_one = |list: &[&str]| list.iter().any(|listed| name.len() >= 2 && listed.starts_with(name));
    // What it prints goes to a program.
    if command.contains('|') {
        return;
    }
    let files = parts.map(|part| part.trim_matches(['\'', '"'])).filter(|part| is_path(part));
    for file in files {
        let file = with_text(word, file);
        if is_one(words::SQLITE_WRITING_COMMANDS) {
            collector.effect(word, EffectKind::Writes(file));
        } else if is_one(words::SQLITE_LOADING_COMMANDS) {
            collector.effect(word, EffectKind::Reads(file));
        }
    }
}

fn add_statement(text: &str, word: &Word, collector: &mut Collector) {
    let lower = text.to_ascii_lowercase();
    let has = |names: &[&str]| names.iter().any(|name| lower.contains(name));
    let (writes, reads) = (has(words::SQLITE_WRITING_WORDS), has(words::SQLITE_READING_WORDS));
    // What is between quotes.
    let quoted = text.split(['\'', '"']).skip(1).step_by(2);
    for file in quoted.filter(|part| is_path(part)) {
        let file = with_text(word, file);
        match (writes, reads) {
            (true, _) => collector.effect(word, EffectKind::Writes(file)),
            (false, true) => collector.effect(word, EffectKind::Reads(file)),
            (false, false) => {}
        }
    }
}

/// Whether a part of a text is the name of a file, and no option, program or address.
fn is_path(part: &str) -> bool {
    !part.is_empty() && !part.starts_with(['-', '|', ':']) && part != "stdout"
}
