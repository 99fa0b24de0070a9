//! What someone may have meant: the nearest name to one that doesn't exist.

use super::{KEYS, Key, sections};
use crate::words::Choices;

/// The candidate that differs least from `word`, if it differs little enough to be a slip.
pub fn nearest<'a>(word: &str, candidates: impl Iterator<Item = &'a str>) -> Option<&'a str> {
    // A name this long is no slip, and the distance takes time by its length.
    if word.len() > 64 {
        return None;
    }
    let plain = |text: &str| text.to_lowercase().replace('-', "_");
    let word = plain(word);
    let most = (word.chars().count() / 3).clamp(1, 3);
    candidates
        .map(|candidate| {
            let plain = plain(candidate);
            // The start of a name is a likely slip too: `timeout` for `timeout_ms`.
            let start = word.len() > 2 && plain.starts_with(&word);
            (if start { 1 } else { distance(&word, &plain) }, candidate)
        })
        .filter(|(distance, _)| *distance <= most)
        .min_by_key(|(distance, _)| *distance)
        .map(|(_, candidate)| candidate)
}

/// How many characters must be added, removed or changed (Levenshtein).
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

/// A hint that names what may be meant.
pub(crate) fn did_you_mean(name: &str) -> String {
    format!("did you mean `{name}`?")
}

/// What may be meant by `name` in `section` (empty: above all sections), else what there is.
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

/// What may be meant by the section `name`, else what there is.
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
