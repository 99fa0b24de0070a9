//! `test` and `[`. Only `-v` and `-R` evaluate something: the subscript of the name behind them.

use super::super::EffectKind;
use super::super::collector::Collector;
use super::super::form::Entry;
use shellgate_syntax::{Value, Word};

const BINARY: &[&str] = &[
    "=", "==", "!=", "<", ">", "=~", "-eq", "-ne", "-lt", "-le", "-gt", "-ge", "-nt", "-ef", "-a", "-o",
    "-ot", // typos: ignore-line
];

/// The operators that evaluate the subscript of a name.
const EVALUATING: [&str; 2] = ["-v", "-R"];

/// Reads the words of a test.
pub(crate) fn test(_: &'static Entry, words: &[Word], collector: &mut Collector) {
    words.iter().for_each(|word| collector.word(word.value.clone()));
    let words = match words.split_last() {
        Some((last, rest)) if last.value.known() == Some("]") => rest,
        _ => words,
    };
    for (at, word) in words.iter().enumerate() {
        let next = words.get(at + 1);
        let before = at.checked_sub(1).and_then(|at| words.get(at));
        match &word.value {
            Value::Known(text) if EVALUATING.contains(&text.as_str()) => {
                if let Some(name) = next {
                    collector.subscript(name);
                }
            }
            Value::Known(_) => {}
            Value::Unknown(unknown) => {
                // It can be `-v` only where another operand follows that is no binary operator.
                let operator = |word: Option<&Word>| {
                    word.and_then(|word| word.value.known()).is_some_and(|text| BINARY.contains(&text))
                };
                let unary = before.and_then(|word| word.value.known()).is_some_and(|text| {
                    text.len() == 2 && text.starts_with('-') && !["-a", "-o"].contains(&text)
                });
                // Behind `-a` and `-o` another test begins.
                let joined = before
                    .and_then(|word| word.value.known())
                    .is_some_and(|text| ["-a", "-o"].contains(&text));
                let alone = next.is_none() || operator(next) || operator(before) && !joined || unary;
                let several = unknown.splits && !super::is_number(&unknown.why);
                let may_evaluate = EVALUATING.iter().any(|option| option.starts_with(&unknown.lead));
                if several || may_evaluate && !alone {
                    collector.effect(word, EffectKind::MaybeOption(word.clone()));
                }
            }
        }
    }
}
