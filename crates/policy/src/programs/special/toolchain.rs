//! `cargo +TOOLCHAIN`: the name of a toolchain, or a folder that the compiler is taken from.

use super::super::EffectKind;
use super::super::collector::Collector;
use shellgate_syntax::Word;

/// Reads what follows the plus.
pub(crate) fn toolchain(word: &Word, collector: &mut Collector) {
    if word.value.known().is_none_or(|name| name.contains('/')) {
        collector.effect(word, EffectKind::Unusual("may take the compiler and cargo from another folder"));
    }
}
