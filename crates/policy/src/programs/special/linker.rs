//! Options that are passed on to a linker inside one word: `gcc -Wl,…`, `go build -ldflags …`.

use super::super::EffectKind;
use super::super::collector::Collector;
use super::super::words;
use shellgate_syntax::Word;

/// Reads flags for a linker. They are opaque if one of them is known to be dangerous, or if they can't be known.
pub(crate) fn linker_flags(word: &Word, collector: &mut Collector) {
    let harmless = word
        .value
        .known()
        .is_some_and(|text| !words::LINKER_DANGEROUS_FLAGS.iter().any(|part| text.contains(part)));
    if !harmless {
        collector.effect(word, EffectKind::Opaque(word.clone(), "options that are passed to the linker"));
    }
}
