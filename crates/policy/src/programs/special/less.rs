//! `less`: a number or a `$` ends the value of an option, and more options follow in the same word.

use super::super::collector::Collector;
use super::super::form::Entry;
use super::super::{EffectKind, read};
use shellgate_syntax::Word;

/// Options whose value is a number.
const NUMBER_LETTERS: [char; 7] = ['b', 'h', 'j', 'x', 'y', 'z', '#'];

/// Options that take a text or a file.
const TEXT_LETTERS: [char; 11] = ['o', 'O', 'k', 't', 'T', 'p', 'P', 'D', '"', '-', '+'];

/// Reads a call of less.
pub(crate) fn less(entry: &'static Entry, words: &[Word], collector: &mut Collector) {
    read::by_table(entry, words, collector);
    let mut before = "";
    for word in words {
        let text = word.value.lead();
        let takes_number = before.starts_with("--") || before.ends_with(NUMBER_LETTERS);
        let is_option = text.starts_with('-') || before.starts_with('-') && takes_number;
        let after_number = text.find(|c: char| c.is_ascii_digit()).and_then(|at| text.get(at..));
        let after_text = text.split_once('$').is_some_and(|(_, rest)| !rest.is_empty());
        if after_text || is_option && after_number.is_some_and(|rest| rest.contains(TEXT_LETTERS)) {
            collector.effect(word, EffectKind::Unusual("may have further options behind a value"));
        }
        before = text;
    }
}
