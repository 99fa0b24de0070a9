//! Programs of jq. The language computes and prints; modules are the only files that a program can name.

use super::super::EffectKind;
use super::super::collector::Collector;
use crate::languages::jq::{is_plain, is_plain_so_far};
use shellgate_syntax::{Value, Word};

/// Reads a program. One that isn't known reads some file at most, since jq can't write or start anything.
pub(crate) fn jq_program(word: &Word, collector: &mut Collector) {
    collector.names_code = true;
    match &word.value {
        Value::Known(text) if is_plain(text) => {}
        Value::Unknown(unknown) if is_plain_so_far(&unknown.lead) => {}
        Value::Unknown(unknown) if unknown.lead.is_empty() => {
            collector.effect(word, EffectKind::Reads(word.clone()));
        }
        _ => {
            let what = "a program that may take in modules";
            collector.effect(word, EffectKind::Opaque(word.clone(), what));
        }
    }
}
