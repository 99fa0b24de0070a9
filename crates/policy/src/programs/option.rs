//! Finds an option of an entry in a word.

use super::entry::{Entry, Opt, Parsing, Takes};
use super::sink::after;
use shellgate_syntax::Word;

/// What a word, or a letter of it, is.
pub(super) enum Found {
    /// This option, and where the next letter of the bundle is.
    Option(Hit, Option<usize>),
    /// The known part of the word ends before the option does.
    Cut,
    /// No option of this program.
    Nothing,
}

/// An option as it was found.
pub(super) struct Hit {
    pub(super) option: &'static Opt,
    /// The name, if it was `--no-…`.
    pub(super) negated: Option<String>,
    /// What is glued to it.
    pub(super) value: Option<Word>,
}

/// Whether the program has options with a plus.
pub(super) fn has_plus(entry: &Entry) -> bool {
    entry.options().any(|option| option.names.iter().any(|name| name.starts_with('+')))
}

/// Whether the program has an option with exactly this name.
pub(super) fn has(entry: &Entry, name: &str) -> bool {
    entry.option(name).is_some()
}

/// The option at `from` in `word`; 0 is its beginning, anything else a letter in a bundle.
pub(super) fn find(entry: &'static Entry, word: &Word, from: usize) -> Found {
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
    if !listed && let Some(found) = family(entry, word) {
        return found;
    }
    let long = listed || lead.starts_with("--") || entry.parsing == Parsing::Dashed;
    if !long {
        return letter(entry, word, 1);
    }
    let (name, value) = match lead.split_once('=') {
        Some((name, _)) => (name, after(word, name.len() + 1)),
        None if !known => return dashed_letter(entry, word).unwrap_or(Found::Cut),
        None => (lead, None),
    };
    if let Some((option, negated)) = by_name(entry, name) {
        return Found::Option(Hit { option, negated, value }, None);
    }
    dashed_letter(entry, word).unwrap_or(Found::Nothing)
}

/// A long name: exact, negated, or cut short.
fn by_name(entry: &'static Entry, name: &str) -> Option<(&'static Opt, Option<String>)> {
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
        return Some((option, Some(name.to_owned())));
    }
    if !entry.abbreviate || name.len() < 3 || !name.starts_with("--") {
        return None;
    }
    let begins = |option: &&Opt, name: &str| option.names.iter().any(|known| known.starts_with(name));
    let mut fitting = entry.options().filter(|option| begins(option, name));
    if let Some(option) = fitting.next() {
        return fitting.next().is_none().then_some((option, None));
    }
    let positive = positive?;
    let mut fitting = entry.options().filter(|option| begins(option, &positive));
    let option = fitting.next()?;
    fitting.next().is_none().then(|| (option, Some(name.to_owned())))
}

/// `-W*`: everything that begins so, the longest first. `-#`: a number.
fn family(entry: &'static Entry, word: &Word) -> Option<Found> {
    let lead = word.value.lead();
    let names = entry.options().flat_map(|option| option.names.iter().map(move |name| (option, *name)));
    let fitting = names.filter_map(|(option, name)| {
        let begin = name.strip_suffix('*')?;
        lead.starts_with(begin).then_some((option, begin.len()))
    });
    let (option, length) = fitting.max_by_key(|(_, length)| *length)?;
    let value = if option.takes == Takes::Nothing { None } else { after(word, length) };
    Some(plain(option, value))
}

/// A letter of a bundle, or a number.
fn letter(entry: &'static Entry, word: &Word, from: usize) -> Found {
    let lead = word.value.lead();
    let Some(character) = lead.get(from..).and_then(|rest| rest.chars().next()) else {
        return Found::Cut;
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
        return Found::Nothing;
    };
    if option.takes == Takes::Digits {
        end += digits(lead.get(end..).unwrap_or_default());
    }
    let more = lead.len() > end || word.value.known().is_none();
    if matches!(option.takes, Takes::Nothing | Takes::Digits) || !more {
        return Found::Option(Hit { option, negated: None, value: None }, more.then_some(end));
    }
    plain(option, after(word, end))
}

/// An option as it is, with what is glued to it.
fn plain(option: &'static Opt, value: Option<Word>) -> Found {
    Found::Option(Hit { option, negated: None, value }, None)
}

/// How many digits a text begins with.
fn digits(text: &str) -> usize {
    text.len() - text.trim_start_matches(|c: char| c.is_ascii_digit()).len()
}

/// In dashed parsing, a single letter with its value glued to it: `-Isrc`.
fn dashed_letter(entry: &'static Entry, word: &Word) -> Option<Found> {
    if entry.parsing != Parsing::Dashed || word.value.lead().starts_with("--") {
        return None;
    }
    match letter(entry, word, 1) {
        found @ Found::Option(Hit { value: Some(_), .. }, _) => Some(found),
        _ => None,
    }
}

/// `key=value`.
fn assignment(entry: &'static Entry, word: &Word) -> Found {
    let lead = word.value.lead();
    let end = lead.find('=').map_or(lead.len(), |at| at + 1);
    let name = lead.get(..end).unwrap_or(lead);
    match entry.option(name) {
        Some(option) => {
            let value = if option.takes == Takes::Nothing { None } else { after(word, end) };
            plain(option, value)
        }
        None if word.value.known().is_none() && !lead.contains('=') => Found::Cut,
        None => Found::Nothing,
    }
}
