//! Finds the options of a program in a word: long names, bundles of letters, glued values.

use super::collector::after;
use super::form::Role;
use super::form::{Entry, OptionEntry, Parsing, ValueForm};
use shellgate_syntax::Word;

/// What was found at a place in a word.
pub(super) enum OptionMatch {
    /// An option, and where the next letter of the bundle is.
    Found(MatchedOption, Option<usize>),
    /// The part of the word that is known ends before the option does.
    Incomplete,
    /// No option of this program.
    None,
}

/// An option as it was found.
pub(super) struct MatchedOption {
    pub(super) option: &'static OptionEntry,
    /// The whole name, if it is `--no-…`.
    pub(super) negated: Option<String>,
    /// The value that is glued to it.
    pub(super) value: Option<Word>,
}

/// Whether the program has options with a plus.
pub(super) fn has_plus(entry: &'static Entry) -> bool {
    entry.options().any(|option| option.names.iter().any(|name| name.starts_with('+')))
}

/// Whether the program has an option with exactly this name.
pub(super) fn has(entry: &'static Entry, name: &str) -> bool {
    entry.option(name).is_some()
}

/// Whether one of the options in a word does more than show something.
pub(super) fn any_matters(entry: &'static Entry, word: &Word) -> bool {
    let mut from = 0;
    loop {
        match find(entry, word, from) {
            OptionMatch::Found(found, _) if found.option.matters => return true,
            OptionMatch::Found(_, Some(next)) => from = next,
            _ => return false,
        }
    }
}

/// The option at `from` in `word`: 0 is the beginning of the word, anything else a letter in a bundle.
pub(super) fn find(entry: &'static Entry, word: &Word, from: usize) -> OptionMatch {
    let lead = word.value.lead();
    let known = word.value.known().is_some();
    if from > 0 {
        return letter(entry, word, from);
    }
    if entry.parsing == Parsing::Assignments {
        return assignment(entry, word);
    }
    let name = lead.split_once('=').map_or(lead, |(name, _)| name);
    let listed = (known || name.len() < lead.len()) && has(entry, name);
    if !listed && let Some(found) = by_beginning(entry, word) {
        if !matches!(&found, OptionMatch::Found(found, _) if found.option.is_loose()) {
            return found;
        }
        return other_spelling(entry, word).or_else(|| glued_path(entry, word)).unwrap_or(found);
    }
    let long = listed || lead.starts_with("--") || entry.parsing == Parsing::Dashed;
    if !long {
        return letter(entry, word, 1);
    }
    let (name, value) = match lead.split_once('=') {
        Some((name, _)) => (name, after(word, name.len() + 1)),
        None if !known => return dashed_letter(entry, word).unwrap_or(OptionMatch::Incomplete),
        None => (lead, None),
    };
    if let Some((option, negated)) = by_name(entry, name) {
        return OptionMatch::Found(MatchedOption { option, negated, value }, None);
    }
    dashed_letter(entry, word).unwrap_or(OptionMatch::None)
}

/// The option with a long name: exact, negated, or cut short.
fn by_name(entry: &'static Entry, name: &str) -> Option<(&'static OptionEntry, Option<String>)> {
    let exact = |name: &str| entry.option(name);
    if let Some(option) = exact(name) {
        return Some((option, None));
    }
    // Programs with one dash usually take two as well.
    if entry.parsing == Parsing::Dashed
        && let Some(option) = name.strip_prefix('-').and_then(exact)
    {
        return Some((option, None));
    }
    let positive = name.strip_prefix("--no-").filter(|_| entry.negatable).map(|rest| format!("--{rest}"));
    if let Some(option) = positive.as_deref().and_then(exact) {
        return Some((option, Some(negated(option, name))));
    }
    if !entry.abbreviate || name.len() < 3 || !name.starts_with("--") {
        return None;
    }
    let begins = |option: &&OptionEntry, name: &str| option.names.iter().any(|known| known.starts_with(name));
    let mut fitting = entry.options().filter(|option| begins(option, name));
    if let Some(option) = fitting.next() {
        return fitting.next().is_none().then_some((option, None));
    }
    let positive = positive?;
    let mut fitting = entry.options().filter(|option| begins(option, &positive));
    let option = fitting.next()?;
    fitting.next().is_none().then(|| (option, Some(negated(option, name))))
}

/// The `--no-` form of an option by its first long name, however it is written.
fn negated(option: &OptionEntry, written: &str) -> String {
    let long = option.names.iter().find_map(|name| name.strip_prefix("--"));
    long.map_or_else(|| written.to_owned(), |name| format!("--no-{name}"))
}

/// The listed option that an unlisted name may mean, if that option matters: with one dash or two (`-out-file`, `--o`), or cut
/// short (`--out-f`). Entries whose options aren't all listed are for programs of many kinds.
fn other_spelling(entry: &'static Entry, word: &Word) -> Option<OptionMatch> {
    let lead = word.value.lead();
    let written = lead.split_once('=').map_or(lead, |(name, _)| name);
    let bare = written.trim_start_matches('-');
    let is_long = lead.starts_with("--");
    if !is_long && entry.parsing != Parsing::Dashed || written == lead && word.value.known().is_none() {
        return None;
    }
    let is_cut = |name: &str| is_long && bare.len() > 2 && name.starts_with(written);
    let is_same = |name: &str| name.trim_start_matches('-') == bare && !name.ends_with('*') || is_cut(name);
    let option =
        entry.options().find(|option| option.matters && option.names.iter().any(|name| is_same(name)))?;
    let value = (written.len() < lead.len()).then(|| after(word, written.len() + 1)).flatten();
    let value = value.filter(|_| option.value_form != ValueForm::None);
    Some(whole_word(option, value))
}

/// The option of a table's `-W*` that a word begins with; the longest one if there are several.
fn by_beginning(entry: &'static Entry, word: &Word) -> Option<OptionMatch> {
    let lead = word.value.lead();
    let names = entry.options().flat_map(|option| option.names.iter().map(move |name| (option, *name)));
    let fitting = names.filter_map(|(option, name)| {
        let begin = name.strip_suffix('*')?;
        lead.starts_with(begin).then_some((option, begin.len()))
    });
    let (option, length) = fitting.max_by_key(|(_, length)| *length)?;
    if word.value.known().is_none() && !option.is_loose() && may_become_longer(entry, lead) {
        return Some(OptionMatch::Incomplete);
    }
    let rest = after(word, length);
    let value = match option.value_form {
        ValueForm::Any => None,
        // A value that isn't foreseen may be a file: `-time=FILE`.
        ValueForm::None => rest.filter(|rest| rest.value.known().is_none_or(|text| text.contains('='))),
        _ => rest,
    };
    Some(whole_word(option, value))
}

/// Whether what is known of a word may be the beginning of an option that matters.
fn may_become_longer(entry: &'static Entry, lead: &str) -> bool {
    let is_longer = |name: &&str| name.trim_end_matches('*').len() > lead.len() && name.starts_with(lead);
    entry.options().any(|option| option.matters && option.names.iter().any(is_longer))
}

/// The option of a letter in a bundle, or of a number (`-#` in the table).
fn letter(entry: &'static Entry, word: &Word, from: usize) -> OptionMatch {
    let lead = word.value.lead();
    let Some(character) = lead.get(from..).and_then(|rest| rest.chars().next()) else {
        return OptionMatch::Incomplete;
    };
    let sign = if lead.starts_with('+') { '+' } else { '-' };
    let named = |name: &str| entry.option(name);
    let mut end = from + character.len_utf8();
    let option = named(&format!("{sign}{character}")).or_else(|| {
        let number = named("-#").filter(|_| character.is_ascii_digit())?;
        end += digits(lead.get(end..).unwrap_or_default());
        Some(number)
    });
    let Some(option) = option else {
        return OptionMatch::None;
    };
    if option.value_form == ValueForm::Digits {
        end += digits(lead.get(end..).unwrap_or_default());
    }
    let more = lead.len() > end || word.value.known().is_none();
    let is_alone = matches!(
        option.value_form,
        ValueForm::None | ValueForm::Any | ValueForm::Digits | ValueForm::LongOptional
    );
    if is_alone || !more {
        return OptionMatch::Found(MatchedOption { option, negated: None, value: None }, more.then_some(end));
    }
    whole_word(option, after(word, end))
}

/// A match that ends the word.
fn whole_word(option: &'static OptionEntry, value: Option<Word>) -> OptionMatch {
    OptionMatch::Found(MatchedOption { option, negated: None, value }, None)
}

/// The number of digits that a text begins with.
fn digits(text: &str) -> usize {
    text.len() - text.trim_start_matches(|c: char| c.is_ascii_digit()).len()
}

/// In dashed parsing, a single letter with its value glued to it: `-Isrc`.
fn dashed_letter(entry: &'static Entry, word: &Word) -> Option<OptionMatch> {
    if entry.parsing != Parsing::Dashed || word.value.lead().starts_with("--") {
        return None;
    }
    match letter(entry, word, 1) {
        found @ OptionMatch::Found(MatchedOption { value: Some(_), .. }, _) => Some(found),
        _ => None,
    }
}

/// The same, if the value can only be a path and the option's value is more than data: `-l../log`.
fn glued_path(entry: &'static Entry, word: &Word) -> Option<OptionMatch> {
    let found = dashed_letter(entry, word)?;
    let OptionMatch::Found(MatchedOption { option, value: Some(value), .. }, _) = &found else { return None };
    let lead = value.value.lead();
    let is_path = lead.starts_with(['.', '/', '~']) || lead.contains('/');
    (is_path && option.values.iter().any(|role| *role != Role::Data)).then_some(found)
}

/// The option `key=` of a word `key=value`.
fn assignment(entry: &'static Entry, word: &Word) -> OptionMatch {
    let lead = word.value.lead();
    let end = lead.find('=').map_or(lead.len(), |at| at + 1);
    let name = lead.get(..end).unwrap_or(lead);
    match entry.option(name) {
        Some(option) => {
            let value = if option.value_form == ValueForm::None { None } else { after(word, end) };
            whole_word(option, value)
        }
        None if word.value.known().is_none() && !lead.contains('=') => OptionMatch::Incomplete,
        None => OptionMatch::None,
    }
}
