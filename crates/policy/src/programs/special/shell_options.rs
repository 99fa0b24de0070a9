//! `set` and `shopt`: options of the shell. Some of them change how it reads a text.

use super::super::EffectKind;
use super::super::collector::Collector;
use super::super::form::Entry;
use super::super::words;
use shellgate_syntax::Word;

const CHANGES: &str = "sets an option of the shell that changes how text is read";

/// Reads `set -eu -o pipefail -- a b`.
pub(crate) fn set(_: &'static Entry, words: &[Word], collector: &mut Collector) {
    let mut words = words.iter();
    while let Some(word) = words.next() {
        let lead = word.value.lead();
        if matches!(word.value.known(), Some("--" | "-"))
            || !(lead.is_empty() || lead.starts_with(['-', '+']))
        {
            collector.word(word.value.clone());
            break;
        }
        if word.value.known().is_none() {
            collector.effect(word, EffectKind::MaybeOption(word.clone()));
            collector.word(word.value.clone());
            continue;
        }
        let off = lead.starts_with('+');
        if lead
            .get(1..)
            .is_some_and(|letters| letters.trim_end_matches('o').contains('o') || letters.ends_with("oo"))
        {
            // Bash reads the name behind the last letter, other shells at once.
            collector.effect(word, EffectKind::Unusual(CHANGES));
        }
        for letter in lead.chars().skip(1) {
            let name = lead.get(..1).map(|sign| format!("{sign}{letter}")).unwrap_or_default();
            if letter == 'o' {
                let value = words.next();
                match value.and_then(|word| letter_of(word.value.known()?)) {
                    Some(letter) => {
                        collector.option(&format!("{}{letter}", if off { '+' } else { '-' }), None);
                    }
                    None => collector.option(&name, value.map(|word| word.value.clone())),
                }
                // Without a name, `o` lists the options, and the next word has more of them: `set +o +B`.
                let is_harmless = |name: &str| {
                    words::SET_HARMLESS_NAMES.contains(&name) || off && words::SET_NAMES_OFF.contains(&name)
                };
                if value.is_some_and(|word| !word.value.known().is_some_and(is_harmless)) {
                    collector.effect(word, EffectKind::Unusual(CHANGES));
                }
                continue;
            }
            collector.option(&name, None);
            let is_harmless = words::SET_HARMLESS_LETTERS.contains(letter)
                || off && words::SET_LETTERS_OFF.contains(letter);
            if !is_harmless {
                collector.effect(word, EffectKind::Unusual(CHANGES));
            }
        }
    }
    words.for_each(|word| collector.word(word.value.clone()));
}

/// The letter of an option by its name: `-x` is `-o xtrace`.
fn letter_of(name: &str) -> Option<&'static str> {
    words::SET_OPTION_LETTERS.iter().find_map(|row| row.strip_prefix(name)?.strip_prefix(" is "))
}

/// Reads `shopt -s nullglob`.
pub(crate) fn shopt(_: &'static Entry, words: &[Word], collector: &mut Collector) {
    let mut given = String::new();
    for word in words {
        let lead = word.value.lead();
        if lead.len() > 1 && lead.starts_with('-') {
            given.extend(lead.chars().skip(1));
            collector.option(lead, None);
            if word.value.known().is_none() || given.contains(|c: char| !"pqsuo".contains(c)) {
                collector
                    .effect(word, EffectKind::Unusual("has an option that isn't known for this builtin"));
            }
            continue;
        }
        collector.word(word.value.clone());
        let list = if given.contains('o') { words::SET_HARMLESS_NAMES } else { words::SHOPT_HARMLESS_NAMES };
        let harmless = word.value.known().is_some_and(|name| list.contains(&name));
        if !harmless && (given.contains('s') || given.contains('u') || word.value.known().is_none()) {
            collector.effect(word, EffectKind::Unusual(CHANGES));
        }
    }
}
