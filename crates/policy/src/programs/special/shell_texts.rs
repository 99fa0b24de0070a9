//! Text that the shell keeps and reads later: aliases, traps, lists of completions.

use super::super::EffectKind;
use super::super::collector::{Collector, after};
use shellgate_syntax::Word;

/// Reads `name=TEXT` of `alias`. Without `=`, the alias is only shown.
pub(crate) fn alias(word: &Word, collector: &mut Collector) {
    let lead = word.value.lead();
    match lead.find('=').and_then(|at| after(word, at + 1)) {
        Some(text) => {
            collector.effect(word, EffectKind::Unusual("makes a name run something else"));
            collector.effect(word, EffectKind::Shell(text));
        }
        None if word.value.known().is_none() => {
            collector.effect(word, EffectKind::Unusual("makes a name run something else"));
        }
        None => {}
    }
}

/// Reads the text of `trap`. `-` and an empty text remove a trap.
pub(crate) fn trap_text(word: &Word, collector: &mut Collector) {
    if !matches!(word.value.known(), Some("-" | "")) {
        collector.effect(word, EffectKind::Shell(word.clone()));
    }
}

/// Reads a text that the shell expands when it uses it.
pub(crate) fn expands(word: &Word, collector: &mut Collector) {
    if word.value.known().is_none_or(|text| text.contains(['$', '`', '<', '>'])) {
        collector.effect(word, EffectKind::Opaque(word.clone(), "text that the shell expands"));
    }
}
