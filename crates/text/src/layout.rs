//! Widths, wrapping and cutting of text that is safe already.

use unicode_width::{UnicodeWidthChar as _, UnicodeWidthStr as _};

/// The columns that a text takes.
#[must_use]
pub fn columns(text: &str) -> usize {
    text.width()
}

/// Breaks a text between words into lines of at most `room` columns. A longer word gets a line of its own.
#[must_use]
pub fn wrap(text: &str, room: usize) -> Vec<String> {
    let mut lines: Vec<String> = Vec::new();
    let mut used: usize = 0;
    for word in text.split(' ') {
        let width = word.width();
        match lines.last_mut() {
            Some(line) if used.saturating_add(1 + width) <= room => {
                line.push(' ');
                line.push_str(word);
                used += 1 + width;
            }
            _ => {
                lines.push(word.to_owned());
                used = width;
            }
        }
    }
    lines
}

/// The beginning of a text, cut to at most `room` columns, with `…` where it is cut.
#[must_use]
pub fn cut(text: &str, room: usize) -> String {
    if text.width() <= room {
        return text.to_owned();
    }
    let mut shown = String::new();
    let mut used = 1;
    for c in text.chars() {
        used += c.width().unwrap_or(0);
        if used > room {
            break;
        }
        shown.push(c);
    }
    shown.push('…');
    shown
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn words_stay_whole() {
        assert_eq!(wrap("one two three", 7), ["one two", "three"]);
        assert_eq!(wrap("one", usize::MAX), ["one"]);
        assert_eq!(wrap("a longest b", 3), ["a", "longest", "b"]);
        assert_eq!(wrap("日本 語", 4), ["日本", "語"]);
    }

    #[test]
    fn cut_text_says_so() {
        assert_eq!(cut("the rest", 8), "the rest");
        assert_eq!(cut("the rest of it", 8), "the res…");
        assert_eq!(cut("日本語", 4), "日…");
    }
}
