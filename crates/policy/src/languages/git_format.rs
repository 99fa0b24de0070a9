//! Formats of `git log`, `git for-each-ref` and their like: text with placeholders, all of them listed.
//!
//! Some placeholders start gpg (`%G?`, `%(signature)`), and settings can name formats of their own. The two kinds of formats are
//! read by different code of git, which prints a placeholder of the other kind as text and goes on behind its `%`. So
//! every `%` of a text must begin a listed placeholder, also inside parentheses; then both readings are harmless.

use crate::programs::words;

/// Why a format isn't harmless for certain.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Problem {
    /// A placeholder isn't listed.
    Placeholder,
    /// The text is a name that git doesn't have itself.
    Name,
}

/// Checks a format: placeholders, or the name of a format that git itself has.
pub(crate) fn check(text: &str) -> Result<(), Problem> {
    let is_named = !text.contains('%') && !text.contains("format:");
    if is_named {
        let is_listed = text.is_empty() || words::GIT_FORMAT_NAMES.contains(&text);
        return if is_listed { Ok(()) } else { Err(Problem::Name) };
    }
    // The text up to the first sign has none; each further piece follows a sign.
    let mut rest = text;
    while let Some((_, behind)) = rest.split_once('%') {
        let length = placeholder(behind).ok_or(Problem::Placeholder)?;
        rest = behind.get(length..).ok_or(Problem::Placeholder)?;
    }
    Ok(())
}

/// How much of the text behind a `%` certainly belongs to a listed placeholder. What is inside parentheses is checked for
/// further signs afterwards.
fn placeholder(behind: &str) -> Option<usize> {
    if behind.is_empty() || behind.starts_with('%') {
        return Some(behind.len().min(1));
    }
    // `%+s`, `%-s` and `% s` are `%s` with a line break or blank.
    let item = behind.strip_prefix(['+', '-', ' ']).unwrap_or(behind);
    let modifier = behind.len() - item.len();
    if let Some(inside) = item.strip_prefix('(') {
        let inside = inside.strip_prefix('*').unwrap_or(inside);
        let name = inside.split([':', ')']).next()?;
        return words::GIT_FORMAT_FIELDS.contains(&name).then_some(modifier);
    }
    let is_hexadecimal = |digits: &str| digits.chars().all(|c| c.is_ascii_hexdigit());
    let is_character = item.strip_prefix('x').and_then(|rest| rest.get(..2)).is_some_and(is_hexadecimal)
        || item
            .get(..2)
            .is_some_and(|digits| is_hexadecimal(digits) && digits.starts_with(|c: char| c.is_ascii_digit()));
    let is_listed = is_character || words::GIT_FORMAT_PLACEHOLDERS.iter().any(|name| item.starts_with(name));
    is_listed.then_some(modifier)
}

#[cfg(test)]
mod tests {
    use super::{Problem, check};

    #[test]
    fn listed_placeholders_and_names_are_harmless() {
        for text in [
            "",
            "oneline",
            "format:",
            "format:%H%x00%an <%ae>%n%+s%-b",
            "tformat:%C(auto)%h%d %s %C(bold blue)<%an>%Creset",
            "%<(20,trunc)%an %>|(40)%ar %w(72,4,4)%B",
            "%(trailers:key=Signed-off-by,separator=%x2C )",
            "%(refname:short) %(*objectname) %(if)%(HEAD)%(then)* %(else)  %(end)%00",
            "%(upstream:track) %(committerdate:iso8601) %(align:20,left)x%(end)",
            "%gd %gs %cs %cI %as %ah",
            "100%%",
            "%(describe:tags) %(decorate:prefix=)",
        ] {
            assert_eq!(check(text), Ok(()), "{text}");
        }
    }

    #[test]
    fn other_placeholders_are_unknown() {
        for text in [
            "%G?",
            "%+G?",
            "% GS",
            "%h %-GK",
            "format:%GG",
            "%(signature)",
            "%(signature:grade)",
            "%(*signature)",
            "%(refname%G?)",
            "%(trailers:separator=%G?)",
            "%+%G?",
            "%C(red%G?)",
            "%w(%G?)",
            "%<(%G?",
            "%%%G?",
            "%Z",
            "%(nosuch)",
            "%xG?",
        ] {
            assert_eq!(check(text), Err(Problem::Placeholder), "{text}");
        }
        for text in ["mine", "my-own", "one", "a b"] {
            assert_eq!(check(text), Err(Problem::Name), "{text}");
        }
    }
}
