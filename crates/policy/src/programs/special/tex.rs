//! Words of TeX: the name of a document, or a part of a line in TeX.

use super::super::EffectKind;
use super::super::collector::Collector;
use super::path_or_name;
use shellgate_syntax::Word;

/// Reads one word. TeX reads its words as its first line, so only a plain name is nothing but a file: behind it may
/// come `\write18{…}`, and `&FORMAT` or `|"COMMAND"` may stand in its place.
pub(crate) fn tex_word(word: &Word, collector: &mut Collector) {
    let is_plain = |c: char| c.is_alphanumeric() || "._-/+,@~: ".contains(c);
    if word.value.lead().chars().all(is_plain) {
        path_or_name::name(word, collector);
    } else {
        collector.names_code = true;
        collector.effect(word, EffectKind::Inline(word.clone(), "TeX"));
    }
}
