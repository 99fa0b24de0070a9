//! Text that the shell keeps and reads later: aliases, traps, lists of completions.

use super::super::What;
use super::super::sink::{Sink, after};
use shellgate_syntax::Word;

/// `name=TEXT` of `alias`. A name alone is only shown.
pub(crate) fn alias(word: &Word, sink: &mut Sink) {
    let lead = word.value.lead();
    match lead.find('=').and_then(|at| after(word, at + 1)) {
        Some(text) => {
            sink.effect(word, What::Unusual("makes a name run something else"));
            sink.effect(word, What::Shell(text));
        }
        None if word.value.known().is_none() => {
            sink.effect(word, What::Unusual("makes a name run something else"));
        }
        None => {}
    }
}

/// The text of `trap`; `-` and nothing take one away.
pub(crate) fn trap_text(word: &Word, sink: &mut Sink) {
    if !matches!(word.value.known(), Some("-" | "")) {
        sink.effect(word, What::Shell(word.clone()));
    }
}

/// Words that the shell expands when they are used.
pub(crate) fn expands(word: &Word, sink: &mut Sink) {
    if word.value.known().is_none_or(|text| text.contains(['$', '`', '<', '>'])) {
        sink.effect(word, What::Opaque(word.clone(), "text that the shell expands"));
    }
}
