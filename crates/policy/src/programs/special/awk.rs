//! Programs of awk: what the reader of their language found becomes effects.

use super::super::EffectKind;
use super::super::collector::{Collector, with_text};
use crate::languages::{Does, awk};
use shellgate_syntax::{Unknown, Value, Why, Word};

/// Reads a program of awk.
pub(crate) fn awk_program(word: &Word, collector: &mut Collector) {
    collector.names_code = true;
    let Some(text) = word.value.known() else {
        collector.effect(word, EffectKind::Inline(word.clone(), "awk"));
        return;
    };
    if awk::mentions_connection(text) {
        collector.effect(word, EffectKind::Connects(word.clone()));
    }
    match awk::read(text) {
        Some(found) => add(&found, word, "awk", collector),
        None => {
            // Another process beside it may be a connection.
            if text.contains("|&") && !awk::mentions_connection(text) {
                collector.effect(word, EffectKind::Connects(word.clone()));
            }
            collector.effect(
                word,
                EffectKind::Opaque(word.clone(), "an awk program that can't be read with certainty"),
            );
        }
    }
}

/// Adds what a text of a small language does. Code that runs commands counts as code, whatever the commands are.
pub(super) fn add(found: &[Does], word: &Word, language: &'static str, collector: &mut Collector) {
    if found.iter().any(|does| matches!(does, Does::Run(_))) {
        collector.effect(word, EffectKind::Inline(word.clone(), language));
    }
    for does in found {
        let kind = match does {
            Does::Run(Some(text)) => EffectKind::Shell(with_text(word, text)),
            Does::Run(None) => continue,
            Does::Connect => EffectKind::Connects(word.clone()),
            Does::Write(target) => EffectKind::Writes(file(word, target.as_deref())),
            Does::Read(target) => EffectKind::Reads(file(word, target.as_deref())),
        };
        collector.effect(word, kind);
    }
}

/// The file that a text names. One that it computes isn't known.
fn file(word: &Word, target: Option<&str>) -> Word {
    match target {
        Some(text) => with_text(word, text),
        None => {
            let why = Why::Parameter("an expression".to_owned());
            Word {
                span: word.span,
                value: Value::Unknown(Unknown { lead: String::new(), splits: false, why, tail: None }),
            }
        }
    }
}
