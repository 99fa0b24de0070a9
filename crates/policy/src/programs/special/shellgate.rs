//! `shellgate run`: one word is text for bash, several words after `--` are a command.

use super::super::collector::Collector;
use super::super::form::Entry;
use super::super::{EffectKind, read};
use shellgate_syntax::Word;

/// Reads the words after `run`.
pub(crate) fn shellgate_run(entry: &'static Entry, words: &[Word], collector: &mut Collector) {
    let dashes = words.iter().position(|word| word.value.known() == Some("--"));
    let (before, command) = words.split_at_checked(dashes.unwrap_or(words.len())).unwrap_or((words, &[]));
    read::by_table(entry, before, collector);
    let command = command.get(1..).unwrap_or_default();
    command.iter().for_each(|word| collector.word(word.value.clone()));
    match command {
        [text] => collector.effect(text, EffectKind::Shell(text.clone())),
        _ => collector.runs(command, false),
    }
}
