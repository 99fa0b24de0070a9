//! Words that others chose, within a line of ours.

use std::borrow::Cow;

use crate::characters::unsafe_kind;
use crate::escape;

/// The name of a file or process, or a line that was printed, for a line of ours. It is in quotes if a reader could take a part of
/// it for words of ours: our lines separate facts by `;` and `,`, and end with `]`.
#[must_use]
pub fn foreign(text: &str) -> Cow<'_, str> {
    let is_odd =
        |c: char| matches!(c, ';' | ',' | ']' | '"') || unsafe_kind(c).is_some_and(|kind| !kind.is_visible());
    if !text.is_empty() && text.trim() == text && !text.contains(is_odd) {
        return Cow::Borrowed(text);
    }
    Cow::Owned(quoted(text))
}

/// The same, always in quotes: for values that stand among others.
#[must_use]
pub fn quoted(text: &str) -> String {
    let escaped = escape::line(text).replace('\\', r"\\").replace('"', r#"\""#);
    format!("\"{escaped}\"")
}

#[cfg(test)]
mod tests {
    use super::foreign;

    #[test]
    fn what_could_be_taken_for_ours_is_in_quotes() {
        for plain in ["sleep 100", "/etc/hosts", "cargo test --all 'a b' | x", "größe", "[::1"] {
            assert_eq!(foreign(plain), plain);
        }
        for (text, quoted) in [
            ("x; job 01J", r#""x; job 01J""#),
            ("x] all passed [", r#""x] all passed [""#),
            ("a, b", r#""a, b""#),
            (r#"say "hi" \"#, r#""say \"hi\" \\""#),
            ("x\n[exit 0]", r#""x‹LF›[exit 0]""#),
            ("x\u{2028}y\u{202e}", r#""x‹U+2028›y‹U+202E›""#),
            (" x", r#"" x""#),
            ("", r#""""#),
        ] {
            assert_eq!(foreign(text), quoted);
        }
    }
}
