//! `declare`, `typeset`, `local`, `export`, `readonly`: names that get values and attributes.

use super::super::What;
use super::super::entry::Entry;
use super::super::role::Role;
use super::super::sink::{Sink, after};
use super::super::words;
use shellgate_syntax::{Unknown, Value, Why, Word};

/// Reads a declaration.
pub(crate) fn declare(_: &'static Entry, words: &[Word], sink: &mut Sink) {
    let mut options = true;
    let mut given = String::new();
    for word in words {
        let lead = word.value.lead();
        if options && word.value.known() == Some("--") {
            options = false;
            continue;
        }
        if options && lead.len() > 1 && lead.starts_with(['-', '+']) {
            for letter in lead.chars().skip(1) {
                sink.option(&format!("-{letter}"), None);
                given.push(letter);
                if !words::DECLARE_LETTERS.contains(letter) {
                    sink.effect(word, What::Unusual("has an option that isn't known for this builtin"));
                }
            }
            if word.value.known().is_none() {
                sink.effect(word, What::MaybeOption(word.clone()));
            }
            continue;
        }
        options = false;
        sink.word(word.value.clone());
        name(word, &given, sink);
    }
}

/// `name`, `name=value`, `name[subscript]=value`.
fn name(word: &Word, given: &str, sink: &mut Sink) {
    if given.contains(['f', 'F']) {
        return;
    }
    let lead = word.value.lead();
    let value = lead.find('=').and_then(|at| after(word, at + 1));
    if value.is_some() {
        sink.role(Role::Assign, word, "");
    } else if word.value.known().is_none() {
        // It may be `PATH=x` as well as a name.
        sink.effect(word, What::Arithmetic(word.clone()));
        sink.effect(word, What::Assigns { name: word.value.clone(), value: None });
    } else if lead.contains('[') {
        sink.effect(word, What::Arithmetic(word.clone()));
    }
    let Some(value) = value else {
        return;
    };
    if given.contains('i') {
        sink.effect(word, What::Arithmetic(value.clone()));
    }
    if given.contains('n') {
        sink.effect(word, What::Unusual("makes a name stand for another variable"));
    }
    // A text in parentheses is read again, substitutions and all. An array that is written as one isn't: the shell has read
    // it, and what it runs is found where it stands.
    let list = match &value.value {
        Value::Known(text) => text.starts_with('('),
        Value::Unknown(Unknown { why: Why::Array, lead, .. }) => !lead.is_empty(),
        Value::Unknown(unknown) => unknown.lead.is_empty() && given.contains(['a', 'A']),
    };
    if list {
        sink.effect(word, What::Opaque(value, "a list that the shell expands again"));
    }
}
