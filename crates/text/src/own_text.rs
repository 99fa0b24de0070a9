//! The last check before a message of ours reaches a terminal.

use crate::characters::unsafe_kind;
use crate::escape::line;

/// Makes a message of ours safe to print. It may contain foreign text that its writer forgot to escape. Newlines, tabs and
/// color codes stay. Every other character that a terminal would obey is named. The signs around a name stay, so a text that was escaped
/// before stays as it is.
#[must_use]
pub fn own_text(text: &str) -> String {
    let mut safe = String::with_capacity(text.len());
    let mut rest = text;
    while let Some(c) = rest.chars().next() {
        let length = color_code(rest).unwrap_or(c.len_utf8());
        let (piece, behind) = rest.split_at(length);
        let is_obeyed = unsafe_kind(c).is_some_and(|kind| !kind.is_visible());
        match is_obeyed && length == c.len_utf8() && !matches!(c, '\n' | '\t') {
            true => safe.push_str(&line(piece)),
            false => safe.push_str(piece),
        }
        rest = behind;
    }
    safe
}

/// The length of the color code that `text` begins with.
fn color_code(text: &str) -> Option<usize> {
    let numbers = text.strip_prefix("\x1b[")?;
    let end = numbers.find(|c: char| !c.is_ascii_digit() && c != ';')?;
    numbers.get(end..)?.starts_with('m').then_some("\x1b[".len() + end + 1)
}

#[cfg(test)]
mod tests {
    use super::own_text;

    #[test]
    fn only_colors_get_through_in_our_own_text() {
        let text = "\x1b[1;31mred\x1b[0m \x1b]52;c;AA\x07 \x1b[2J \u{9b}1m\n\t‹ESC› \x1b[31\x1b[m \x1b[";
        let safe = "\x1b[1;31mred\x1b[0m ‹ESC›]52;c;AA‹BEL› ‹ESC›[2J ‹U+9B›1m\n\t‹ESC› ‹ESC›[31\x1b[m ‹ESC›[";
        assert_eq!(own_text(text), safe);
        assert_eq!(own_text(&own_text(text)), safe);
    }
}
