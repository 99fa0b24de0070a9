//! Options that are passed on to a linker inside one word: `gcc -Wl,…`, `go build -ldflags …`.

use super::super::EffectKind;
use super::super::collector::Collector;
use super::super::words;
use shellgate_syntax::Word;

/// Reads flags for a linker. They are opaque if one of them is known to be dangerous, or if they can't be known.
pub(crate) fn linker_flags(word: &Word, collector: &mut Collector) {
    let is_dangerous = |text: &str| words::LINKER_DANGEROUS_FLAGS.iter().any(|part| text.contains(part));
    let why = match word.value.known() {
        Some(text) if !is_dangerous(text) => return,
        // The text itself says what is run, even where a build tool may run what its project says.
        Some(_) => "a command line for the linker",
        None => "options that are passed to the linker",
    };
    collector.effect(word, EffectKind::Opaque(word.clone(), why));
}
