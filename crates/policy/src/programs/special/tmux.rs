//! `tmux`: several commands in one call, and a shell when there is none.

use super::super::entry::Entry;
use super::super::sink::Sink;
use super::super::{What, read};
use shellgate_syntax::Word;

/// A call of tmux. What follows a `;` is a command of its own, which isn't read here.
pub(crate) fn tmux(entry: &'static Entry, words: &[Word], sink: &mut Sink) {
    let ends =
        |word: &&Word| word.value.known().is_some_and(|text| text.ends_with(';') && !text.ends_with("\\;"));
    if let Some(word) = words.iter().find(ends) {
        sink.effect(word, What::Unusual("gives tmux several commands"));
    }
    let before = sink.understood.canonical.len();
    read::plainly(entry, words, sink);
    let options_only = words.last().is_none_or(|last| last.value.lead().starts_with('-'));
    if options_only && sink.understood.canonical.len() == before && !sink.prints {
        sink.whole(What::ShellInput(None));
    }
}
