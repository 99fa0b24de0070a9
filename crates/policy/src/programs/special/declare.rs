//! `declare`, `typeset`, `local`, `export`, `readonly`: names that get values and attributes.

use super::super::EffectKind;
use super::super::collector::{Collector, after};
use super::super::form::Entry;
use super::super::form::Role;
use super::super::words;
use shellgate_syntax::{Unknown, Value, Why, Word};

const EXPORTS_FUNCTION: &str = "exports a function, which other shells run under its name";

/// Reads a declaration.
pub(crate) fn declare(entry: &'static Entry, words: &[Word], collector: &mut Collector) {
    let is_export = entry.names.contains(&"export");
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
                collector.option(&format!("-{letter}"), None);
                // `+f` says nothing about functions.
                if lead.starts_with('-') || !matches!(letter, 'f' | 'F') {
                    given.push(letter);
                }
                let exports_function = given.contains('f') && (is_export || given.contains('x'));
                if exports_function && lead.starts_with('-') {
                    collector.effect(word, EffectKind::Unusual(EXPORTS_FUNCTION));
                }
                if !words::DECLARE_LETTERS.contains(letter) {
                    collector
                        .effect(word, EffectKind::Unusual("has an option that isn't known for this builtin"));
                }
            }
            if word.value.known().is_none() {
                collector.effect(word, EffectKind::MaybeOption(word.clone()));
            }
            continue;
        }
        options = false;
        collector.word(word.value.clone());
        name(word, &given, collector);
    }
}

/// Reads an operand: `name`, `name=value`, `name[subscript]=value`.
fn name(word: &Word, given: &str, collector: &mut Collector) {
    if given.contains(['f', 'F']) {
        return;
    }
    let lead = word.value.lead();
    let value = lead.find('=').and_then(|at| after(word, at + 1));
    // Where the shell doesn't see an assignment (`command export x=$y`), the value may become further names.
    let may_be_several = matches!(&word.value, Value::Unknown(unknown) if unknown.splits);
    if value.is_some() && !may_be_several {
        collector.role(Role::Assign, word, "");
    } else if word.value.known().is_none() {
        // It may be `PATH=x`, or a name alone.
        collector.subscript(word);
        collector.effect(word, EffectKind::Assigns { name: word.value.clone(), value: None });
    } else {
        collector.subscript(word);
    }
    let Some(value) = value else {
        return;
    };
    if given.contains('i') {
        collector.effect(word, EffectKind::Arithmetic(value.clone()));
    }
    if given.contains('n') {
        collector.effect(word, EffectKind::Unusual("makes a name stand for another variable"));
    }
    // A text in parentheses is read again, with the substitutions in it. An array that is written as one isn't: the shell
    // has read it once, and what it runs was found there.
    let list = match &value.value {
        Value::Known(text) => text.starts_with('('),
        Value::Unknown(Unknown { why: Why::Array, lead, .. }) => !lead.is_empty(),
        Value::Unknown(unknown) => unknown.lead.is_empty() && given.contains(['a', 'A']),
    };
    if list {
        collector.effect(word, EffectKind::Opaque(value, "a list that the shell expands again"));
    }
}
