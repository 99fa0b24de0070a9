//! Options that are passed on to a linker inside one word: `gcc -Wl,…`, `go build -ldflags …`.

use super::super::What;
use super::super::sink::Sink;
use super::super::words;
use shellgate_syntax::Word;

/// Flags for a linker: harmless unless one of them is known to be otherwise, or they can't be known.
pub(crate) fn linker_flags(word: &Word, sink: &mut Sink) {
    let harmless = word
        .value
        .known()
        .is_some_and(|text| !words::LINKER_DANGEROUS_FLAGS.iter().any(|part| text.contains(part)));
    if !harmless {
        sink.effect(word, What::Opaque(word.clone(), "options that are passed to the linker"));
    }
}
