//! Puts what the text says about its variables into the words of a call.

use shellgate_syntax::{Value, Why, Word};

use super::PendingCall;
use super::context::TextContext;
use crate::programs::{ProgramKind, is_builtin, kind_of};

/// Replaces what the text says about the variables of a call.
pub(super) fn resolve_words(pending: &mut PendingCall, context: &TextContext) {
    let (known, source) = (&context.known_values, &context.source);
    let mut words = std::mem::take(&mut pending.invocation.words);
    let call = &pending.invocation;
    // Which word of a wrapper is the program depends on how many words each value becomes: that must be plain to see.
    let moves =
        words.first().and_then(|word| word.value.known()).and_then(kind_of) == Some(ProgramKind::Wrapper);
    for (at, word) in words.iter_mut().enumerate() {
        // Which builtins a text calls was asked before, by the names that are written.
        let name = known.only_value(word, call, source).filter(|name| at == 0 && !is_builtin(name));
        if let Some(name) = name {
            word.value = Value::Known(name.to_owned());
            continue;
        }
        if let Some(text) = known.filled(word, call, source).filter(|_| at > 0) {
            word.value = Value::Known(text);
            continue;
        }
        // A variable whose value is one word can't become none or several.
        let is_set_to_numbers = known.is_number(word, call, source);
        let is_one_word = known.is_one_word(word, call, source) && (is_set_to_numbers || !moves);
        let is_number = is_set_to_numbers || is_number_behind_option(word, context);
        let is_pattern = known.is_pattern(word, call);
        let Value::Unknown(unknown) = &mut word.value else { continue };
        if is_one_word || is_number {
            unknown.splits = false;
            if !is_one_word {
                unknown.why = Why::Arithmetic;
            }
        } else if is_pattern {
            unknown.why = Why::Glob;
        }
    }
    pending.invocation.words = words;
}

/// Whether a word is an option with a number that a program prints: `-j$(nproc)`.
fn is_number_behind_option(word: &Word, context: &TextContext) -> bool {
    let Value::Unknown(unknown) = &word.value else { return false };
    let written = word.span.of(&context.source).strip_prefix(unknown.lead.as_str());
    unknown.why == Why::Substitution
        && unknown.lead.starts_with('-')
        && written.is_some_and(|written| context.numbers.is_certain_number(written))
}
