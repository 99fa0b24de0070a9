//! Finds the known name that is nearest to an unknown one.

use super::{KEYS, Key, sections};
use crate::words::Choices;

/// A longer word is no typing mistake. Computing its distance would also take long.
const MAX_WORD_BYTES: usize = 64;

/// The candidate that differs least from `word`, if it differs little enough to be a typing mistake.
pub fn nearest<'a>(word: &str, candidates: impl Iterator<Item = &'a str>) -> Option<&'a str> {
    if word.len() > MAX_WORD_BYTES {
        return None;
    }
    let plain = |text: &str| text.to_lowercase().replace('-', "_");
    let word = plain(word);
    let max_distance = (word.chars().count() / 3).clamp(1, 3);
    candidates
        .map(|candidate| {
            let plain = plain(candidate);
            // The beginning of a name is a likely mistake too: `timeout` for `timeout_ms`.
            let start = word.len() > 2 && plain.starts_with(&word);
            (if start { 1 } else { distance(&word, &plain) }, candidate)
        })
        .filter(|(distance, _)| *distance <= max_distance)
        .min_by_key(|(distance, _)| *distance)
        .map(|(_, candidate)| candidate)
}

/// The number of characters that must be added, removed or changed (Levenshtein distance).
pub fn distance(a: &str, b: &str) -> usize {
    let b: Vec<char> = b.chars().collect();
    let mut row: Vec<usize> = (0..=b.len()).collect();
    for (i, from) in a.chars().enumerate() {
        let mut diagonal = i;
        let mut left = i + 1;
        for (cell, to) in row.iter_mut().skip(1).zip(&b) {
            let change = diagonal + usize::from(from != *to);
            diagonal = *cell;
            left = change.min(left + 1).min(*cell + 1);
            *cell = left;
        }
        if let Some(first) = row.first_mut() {
            *first = i + 1;
        }
    }
    row.last().copied().unwrap_or_default()
}

/// A hint with the name that was probably meant.
pub(crate) fn did_you_mean(name: &str) -> String {
    format!("did you mean `{name}`?")
}

/// A hint for the unknown key `name` in `section` (empty: outside of all sections): the key that was probably meant, or the
/// keys that exist.
pub(crate) fn key_hint(section: &str, name: &str) -> String {
    let here: Vec<_> = KEYS.iter().filter(|key| key.section() == section).map(Key::name).collect();
    if let Some(name) = nearest(name, here.iter().copied()) {
        return did_you_mean(&format!("{section}.{name}"));
    }
    let elsewhere = KEYS.iter().filter(|key| key.name() == name).map(|key| format!("`{}`", key.path));
    let elsewhere: Vec<_> = elsewhere.collect();
    if !elsewhere.is_empty() {
        return format!("did you mean {}?", elsewhere.join(" or "));
    }
    if section.is_empty() { all_sections() } else { format!("[{section}] has {}", Choices(&here)) }
}

/// A hint for the unknown section `name`: the section that was probably meant, or the sections that exist.
pub(crate) fn section_hint(name: &str) -> String {
    match nearest(name, sections().into_iter()) {
        Some(section) => did_you_mean(&format!("[{section}]")),
        None => all_sections(),
    }
}

fn all_sections() -> String {
    format!("the sections are {}", Choices(&sections()))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn distances() {
        for (a, b, expected) in [
            ("", "", 0),
            ("abc", "", 3),
            ("", "abc", 3),
            ("abc", "abd", 1),
            ("kitten", "sitting", 3),
            ("limit", "limits", 1),
        ] {
            assert_eq!(distance(a, b), expected, "{a} {b}");
        }
    }

    #[test]
    fn hints() {
        let cases = [
            ("limits", "timeout", "did you mean `limits.timeout_ms`?"),
            ("limits", "timeout-ms", "did you mean `limits.timeout_ms`?"),
            ("limits", "Timeout_MS", "did you mean `limits.timeout_ms`?"),
            ("policy", "excludes", "did you mean `policy.exclude`?"),
            ("limits", "mode", "did you mean `approval.mode` or `sandbox.mode`?"),
            ("", "timeout_ms", "did you mean `limits.timeout_ms`?"),
            ("journal", "zzzzzzzz", "[journal] has `required`, `keep_days`, `keep_mb`"),
        ];
        for (section, name, expected) in cases {
            assert_eq!(key_hint(section, name), expected, "{section} {name}");
        }
    }
}
