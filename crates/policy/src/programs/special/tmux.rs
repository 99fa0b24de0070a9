//! `tmux`: a call may have several commands, and starts a shell if it has none.

use super::super::collector::Collector;
use super::super::form::Entry;
use super::super::{Canonical, EffectKind, read};
use shellgate_syntax::Word;

/// Reads a call of tmux. What follows a `;` is another command of tmux, which isn't read.
pub(crate) fn tmux(entry: &'static Entry, words: &[Word], collector: &mut Collector) {
    let ends =
        |word: &&Word| word.value.known().is_some_and(|text| text.ends_with(';') && !text.ends_with("\\;"));
    if let Some(word) = words.iter().find(ends) {
        collector.effect(word, EffectKind::Unusual("gives tmux several commands"));
    }
    for word in words.iter().filter(|word| may_run_in_format(word)) {
        collector.effect(word, EffectKind::Opaque(word.clone(), "a format of tmux, which may run a command"));
    }
    let before = collector.meaning.canonical.len();
    read::by_table(entry, words, collector);
    let is_control = |part: &Canonical| matches!(part, Canonical::Option(name, _) if name == "-C");
    if collector.meaning.canonical.iter().chain(&collector.globals).any(is_control) {
        // In control mode, tmux reads its commands from standard input.
        collector.call_effect(EffectKind::OpaqueInput("tmux"));
    }
    let options_only = words.last().is_none_or(|last| last.value.lead().starts_with('-'));
    if options_only && collector.meaning.canonical.len() == before && !collector.prints {
        collector.call_effect(EffectKind::ShellInput(None));
    }
}

/// Whether tmux may run a command when it expands a word: `#(command)`, or `#{E:name}`, which expands a value once more.
fn may_run_in_format(word: &Word) -> bool {
    let expands_twice = |text: &str| text.contains("#{") && text.contains(':') && text.contains(['E', 'T']);
    word.value.known().is_none_or(|text| text.contains("#(") || expands_twice(text))
}
