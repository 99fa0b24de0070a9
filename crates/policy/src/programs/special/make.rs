//! Operands of make: goals and variables. A variable's value is expanded by make, which can run commands.

use super::super::What;
use super::super::role::Role;
use super::super::sink::{Sink, after, with_text};
use super::places;
use shellgate_syntax::{Value, Word};

/// `goal`, `NAME=VALUE`, `NAME:=VALUE`, `NAME!=COMMAND`.
pub(crate) fn make_word(word: &Word, sink: &mut Sink) {
    let lead = word.value.lead();
    let expands = lead.contains("$(") || lead.contains("${");
    if expands || (word.value.known().is_none() && lead.contains('=')) {
        sink.effect(word, What::Opaque(word.clone(), "text that make expands"));
    }
    let Some((left, _)) = lead.split_once('=') else {
        places::place(Role::Name, word, sink);
        return;
    };
    let value = after(word, left.len() + 1);
    if let (true, Some(value)) = (left.ends_with('!'), &value) {
        sink.effect(word, What::Shell(value.clone()));
    }
    let name = with_text(word, left.trim_end_matches([':', '+', '?', '!', ' '])).value;
    sink.effect(word, What::Assigns { name, value: value.map(|word: Word| -> Value { word.value }) });
}
