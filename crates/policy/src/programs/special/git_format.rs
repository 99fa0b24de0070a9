//! Formats of `git log` and its like. Some of their placeholders start gpg.

use super::super::EffectKind;
use super::super::collector::Collector;
use crate::languages::git_format::{Problem, check};
use shellgate_syntax::Word;

/// Reads a format: placeholders, or the name of one that git itself has. A name of the settings can stand for any format.
pub(crate) fn git_format(word: &Word, collector: &mut Collector) {
    let kind = match word.value.known().map(check) {
        Some(Ok(())) => return,
        Some(Err(Problem::Placeholder)) => EffectKind::Unusual("has a format that may start gpg"),
        Some(Err(Problem::Name)) => EffectKind::Unusual("names a format of the settings"),
        None => EffectKind::Opaque(word.clone(), "a format that isn't known; some start gpg"),
    };
    collector.effect(word, kind);
}
