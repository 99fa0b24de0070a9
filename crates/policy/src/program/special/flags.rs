//! Options that are passed on to a linker inside one word: `gcc -Wl,…`, `go build -ldflags …`.

use super::super::What;
use super::super::sink::Sink;
use shellgate_syntax::Word;

/// What makes a linker load code, run programs, read its options from a file or write elsewhere.
const DANGEROUS: &[&str] = &[
    "plugin",
    "error-handling-script",
    "extld",
    "tmpdir",
    "@",
    "-o",
    "-Map",
    "dependency-file",
    "out-implib",
];

/// Flags for a linker: harmless unless one of them is known to be otherwise, or they can't be known.
pub(crate) fn linker_flags(word: &Word, sink: &mut Sink) {
    let harmless = word.value.known().is_some_and(|text| !DANGEROUS.iter().any(|part| text.contains(part)));
    if !harmless {
        sink.effect(word, What::Opaque(word.clone(), "options that are passed to the linker"));
    }
}
