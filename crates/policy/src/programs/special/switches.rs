//! `set` and `shopt`: options of the shell. Some change how text is read, or what runs by itself.

use super::super::What;
use super::super::entry::Entry;
use super::super::sink::Sink;
use super::super::words;
use shellgate_syntax::Word;

const CHANGES: &str = "sets an option of the shell that changes how text is read";

/// `set -eu -o pipefail -- a b`.
pub(crate) fn set(_: &'static Entry, words: &[Word], sink: &mut Sink) {
    let mut words = words.iter();
    while let Some(word) = words.next() {
        let lead = word.value.lead();
        if matches!(word.value.known(), Some("--" | "-"))
            || !(lead.is_empty() || lead.starts_with(['-', '+']))
        {
            sink.word(word.value.clone());
            break;
        }
        if word.value.known().is_none() {
            sink.effect(word, What::MaybeOption(word.clone()));
            sink.word(word.value.clone());
            continue;
        }
        for letter in lead.chars().skip(1) {
            let off = lead.starts_with('+');
            let name = lead.get(..1).map(|sign| format!("{sign}{letter}")).unwrap_or_default();
            if letter == 'o' {
                let value = words.next();
                sink.option(&name, value.map(|word| word.value.clone()));
                if !off
                    && value.is_some_and(|word| {
                        word.value.known().is_none_or(|name| !words::SET_HARMLESS_NAMES.contains(&name))
                    })
                {
                    sink.effect(word, What::Unusual(CHANGES));
                }
                continue;
            }
            sink.option(&name, None);
            if !off && !words::SET_HARMLESS_LETTERS.contains(letter) {
                sink.effect(word, What::Unusual(CHANGES));
            }
        }
    }
    words.for_each(|word| sink.word(word.value.clone()));
}

/// `shopt -s nullglob`.
pub(crate) fn shopt(_: &'static Entry, words: &[Word], sink: &mut Sink) {
    let mut given = String::new();
    for word in words {
        let lead = word.value.lead();
        if lead.len() > 1 && lead.starts_with('-') {
            given.extend(lead.chars().skip(1));
            sink.option(lead, None);
            if word.value.known().is_none() || given.contains(|c: char| !"pqsuo".contains(c)) {
                sink.effect(word, What::Unusual("has an option that isn't known for this builtin"));
            }
            continue;
        }
        sink.word(word.value.clone());
        let list = if given.contains('o') { words::SET_HARMLESS_NAMES } else { words::SHOPT_HARMLESS_NAMES };
        let harmless = word.value.known().is_some_and(|name| list.contains(&name));
        if !harmless && (given.contains('s') || given.contains('u') || word.value.known().is_none()) {
            sink.effect(word, What::Unusual(CHANGES));
        }
    }
}
