//! Subcommands behind which another call of the same program stands (`yarn workspace NAME COMMAND`), options that are passed to
//! another program (`cmake --build DIR -- …`), and operands that may be left out before a command.

use super::super::collector::Collector;
use super::super::form::{Entry, ValueForm};
use super::super::{Canonical, EffectKind, entry, read, words as lists};
use shellgate_syntax::Word;

/// The index of the first word that is no option and no option's value.
pub(crate) fn first_operand(entry: &'static Entry, words: &[Word]) -> usize {
    let mut at = 0;
    while let Some(text) = words.get(at).map(|word| word.value.lead()) {
        if text == "--" {
            return at + 1;
        }
        if !text.starts_with('-') {
            return at;
        }
        let option = entry.option(text).filter(|option| option.value_form == ValueForm::Required);
        at += 1 + option.map_or(0, |option| option.values.len());
    }
    words.len()
}

/// Reads `yarn workspaces foreach OPTIONS CALL`: what follows the options is a call of yarn.
pub(crate) fn yarn_call(entry: &'static Entry, words: &[Word], collector: &mut Collector) {
    again(entry, words, first_operand(entry, words), collector);
}

/// Reads `yarn workspace NAME CALL`.
pub(crate) fn yarn_workspace(entry: &'static Entry, words: &[Word], collector: &mut Collector) {
    again(entry, words, first_operand(entry, words) + 1, collector);
}

/// Reads the words before `at` by the table, and the others as a call of yarn.
fn again(own: &'static Entry, words: &[Word], at: usize, collector: &mut Collector) {
    let (before, call) = words.split_at_checked(at).unwrap_or((words, &[]));
    read::by_table(own, before, collector);
    if let Some(yarn) = entry::find("yarn").filter(|_| !call.is_empty()) {
        read::call(yarn, call, collector);
    }
}

/// Reads a call of cmake. With `--build`, words behind `--` are given to make or another builder, so they are read as make's.
pub(crate) fn cmake(own: &'static Entry, words: &[Word], collector: &mut Collector) {
    let dashes = words.iter().position(|word| word.value.known() == Some("--")).unwrap_or(words.len());
    let (before, given) = words.split_at_checked(dashes).unwrap_or((words, &[]));
    let builds = before.iter().any(|word| word.value.lead().starts_with("--build"));
    if !builds {
        return read::by_table(own, words, collector);
    }
    read::by_table(own, before, collector);
    if let Some(make) = entry::find("make") {
        read::by_table(make, given.get(1..).unwrap_or_default(), collector);
    }
}

/// Reads a call whose first operand is a number or a version that may be left out. Then the command begins with that operand.
pub(crate) fn number_first(own: &'static Entry, words: &[Word], collector: &mut Collector) {
    let from = collector.meaning.canonical.len();
    read::by_table(own, words, collector);
    let said = collector.meaning.canonical.get(from..).unwrap_or_default();
    let first = said.iter().find_map(|part| match part {
        Canonical::Word(value) => Some(value),
        Canonical::Option(..) => None,
    });
    let is_number = |text: &str| {
        let digits = text.strip_prefix('v').unwrap_or(text);
        let is_digits = |text: &str| !text.is_empty() && text.chars().all(|c| c.is_ascii_digit() || c == '.');
        is_digits(digits) || lists::NAMES_OF_VERSIONS.contains(&text)
    };
    if first.is_some_and(|value| !value.known().is_some_and(is_number)) {
        collector.call_effect(EffectKind::Unusual("may have the command where a number is expected"));
    }
}
