//! `shellgate run`: one word is text for bash, several words after `--` are a command.

use super::super::entry::Entry;
use super::super::sink::Sink;
use super::super::{What, read};
use shellgate_syntax::Word;

/// The words after `run`.
pub(crate) fn shellgate_run(entry: &'static Entry, words: &[Word], sink: &mut Sink) {
    let dashes = words.iter().position(|word| word.value.known() == Some("--"));
    let (before, command) = words.split_at_checked(dashes.unwrap_or(words.len())).unwrap_or((words, &[]));
    read::plainly(entry, before, sink);
    let command = command.get(1..).unwrap_or_default();
    command.iter().for_each(|word| sink.word(word.value.clone()));
    match command {
        [text] => sink.effect(text, What::Shell(text.clone())),
        _ => sink.runs(command, false),
    }
}
