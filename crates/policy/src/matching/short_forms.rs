//! Commands that do the same by other subcommands.

use shellgate_syntax::{Value, Word};

use crate::programs::listed_name;
use crate::programs::words::COMMAND_SYNONYMS;

/// Whether commands of this program have short forms.
pub(super) fn has_short_forms(program: &str) -> bool {
    COMMAND_SYNONYMS.iter().any(|text| text.split(' ').next() == Some(program))
}

/// Commands that do the same as one, by other subcommands: `docker run` for `docker container run`. `subcommands` are those of the
/// command, by their first names.
pub(super) fn short_forms(words: &[Word], subcommands: &[&str]) -> impl Iterator<Item = Vec<Word>> {
    let program = words.first().and_then(|word| listed_name(word.value.known()?)).unwrap_or_default();
    COMMAND_SYNONYMS.iter().filter_map(move |text| {
        let (long, short) = text.strip_prefix(program)?.strip_prefix(' ')?.split_once(" is ")?;
        let long: Vec<&str> = long.split(' ').collect();
        let short_words: Vec<&str> = short.split(' ').skip(1).collect();
        // `git stash` is `git stash push`, and `git stash pop` isn't.
        let is_completed = short_words.starts_with(&long);
        if !subcommands.starts_with(&long) || is_completed && subcommands.len() > long.len() {
            return None;
        }
        // The last of the subcommands may have another name in the words.
        let is_first = |word: &Word| match (word.value.known(), long.as_slice()) {
            (Some(text), [first, _, ..]) => text == *first,
            (Some(text), _) => !text.starts_with('-'),
            (None, _) => false,
        };
        let start = 1 + words.iter().skip(1).position(is_first)?;
        let named = words.get(start)?;
        let short = short_words
            .into_iter()
            .map(|text| Word { value: Value::Known(text.to_owned()), ..named.clone() });
        let (before, after) = (words.iter().take(start), words.iter().skip(start + long.len()));
        Some(before.cloned().chain(short).chain(after.cloned()).collect())
    })
}
