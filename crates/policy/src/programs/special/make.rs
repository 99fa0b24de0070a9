//! Operands of make: goals and variables. A variable's value is expanded by make, which can run commands.

use super::super::EffectKind;
use super::super::collector::{Collector, after, with_text};
use super::super::role::Role;
use super::path_or_name;
use shellgate_syntax::{Value, Word};

/// Reads an operand: `goal`, `NAME=VALUE`, `NAME:=VALUE`, `NAME!=COMMAND`.
pub(crate) fn make_word(word: &Word, collector: &mut Collector) {
    let lead = word.value.lead();
    let expands = lead.contains("$(") || lead.contains("${");
    if expands || (word.value.known().is_none() && lead.contains('=')) {
        collector.effect(word, EffectKind::Opaque(word.clone(), "text that make expands"));
    }
    let Some((left, _)) = lead.split_once('=') else {
        path_or_name::place(Role::Name, word, collector);
        return;
    };
    let value = after(word, left.len() + 1);
    if let (true, Some(value)) = (left.ends_with('!'), &value) {
        collector.effect(word, EffectKind::Shell(value.clone()));
    }
    let name = with_text(word, left.trim_end_matches([':', '+', '?', '!', ' '])).value;
    collector
        .effect(word, EffectKind::Assigns { name, value: value.map(|word: Word| -> Value { word.value }) });
}
