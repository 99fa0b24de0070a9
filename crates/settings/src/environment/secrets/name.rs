//! Detects secrets by name.

use super::{
    pairs,
    tables::{self, Name},
};

/// How many words of a name are compared, counted from its end.
const COMPARED_WORDS: usize = 3;

/// The row of the table that a name matches, as the documentation shows it.
pub(super) fn find(name: &[u8]) -> Option<&'static str> {
    if let Some(whole) = tables::WHOLE_NAMES.iter().find(|whole| name.eq_ignore_ascii_case(whole.as_bytes()))
    {
        return Some(whole);
    }
    let last = last_words(name);
    let [[.., first, second], ..] = last else { return None };
    if !pairs::NAME_ENDS.may_contain(first.to_ascii_uppercase(), second.to_ascii_uppercase()) {
        return None;
    }
    tables::NAMES.iter().find(|row| matches(row, &last)).map(|row| row.shown)
}

fn matches(row: &Name, last: &[&[u8]; COMPARED_WORDS]) -> bool {
    let mut wanted = row.words.iter().rev();
    let mut found = last.iter();
    let ends = match (wanted.next(), found.next()) {
        (Some(wanted), Some(word)) if row.glued => ends_with(word, wanted.as_bytes()),
        (Some(wanted), Some(word)) => word.eq_ignore_ascii_case(wanted.as_bytes()),
        _ => false,
    };
    ends && wanted.zip(found).all(|(wanted, word)| word.eq_ignore_ascii_case(wanted.as_bytes()))
}

fn ends_with(word: &[u8], end: &[u8]) -> bool {
    word.len()
        .checked_sub(end.len())
        .and_then(|start| word.get(start..))
        .is_some_and(|tail| tail.eq_ignore_ascii_case(end))
}

/// The last words of a name, the last one first. Qualifiers such as `PROD` or `2` at the end are skipped: they only
/// distinguish secrets of the same kind.
fn last_words(name: &[u8]) -> [&[u8]; COMPARED_WORDS] {
    let mut words = [&[] as &[u8]; COMPARED_WORDS];
    let mut places = words.iter_mut();
    let mut started = false;
    let mut rest = name;
    while let Some((before, word)) = split_last_word(rest) {
        rest = before;
        started |= !is_qualifier(word);
        if started {
            match places.next() {
                Some(place) => *place = word,
                None => break,
            }
        }
    }
    words
}

fn is_qualifier(word: &[u8]) -> bool {
    word.iter().all(u8::is_ascii_digit)
        || tables::QUALIFIERS.iter().any(|known| word.eq_ignore_ascii_case(known.as_bytes()))
}

/// Splits the last word off. A word is letters and digits. It begins after any other byte, or at a capital after a
/// lower-case letter.
fn split_last_word(name: &[u8]) -> Option<(&[u8], &[u8])> {
    let end = name.iter().rposition(u8::is_ascii_alphanumeric)? + 1;
    let mut start = end;
    let mut next = 0_u8;
    for byte in name.get(..end)?.iter().rev() {
        let new_word = byte.is_ascii_lowercase() && next.is_ascii_uppercase();
        if !byte.is_ascii_alphanumeric() || new_word {
            break;
        }
        next = *byte;
        start -= 1;
    }
    Some((name.get(..start)?, name.get(start..end)?))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn words() {
        let words =
            |name: &'static str| last_words(name.as_bytes()).map(|word| str::from_utf8(word).unwrap());
        assert_eq!(words("GH_TOKEN"), ["TOKEN", "GH", ""]);
        assert_eq!(words("npm_config__authToken"), ["Token", "auth", "config"]);
        assert_eq!(words("STRIPE_KEY_LIVE_2"), ["KEY", "STRIPE", ""]);
        assert_eq!(words("__"), ["", "", ""]);
        assert_eq!(words("A__B-c.d"), ["d", "c", "B"]);
    }
}
