//! Programs of jq. The language computes and prints; modules are the only files that a program can name.

use super::super::EffectKind;
use super::super::collector::Collector;
use shellgate_syntax::Word;

/// Reads a program. Without the words that take in a module, in strings or not, it reads its input and nothing else.
pub(crate) fn jq_program(word: &Word, collector: &mut Collector) {
    collector.names_code = true;
    let mut names = word.value.lead().split(|c: char| !c.is_ascii_alphanumeric() && c != '_');
    if names.any(|name| ["import", "include"].contains(&name)) {
        collector.effect(word, EffectKind::Opaque(word.clone(), "a module that it finds and runs"));
    }
}
