//! Chooses the part of a text to keep when it is longer than its limit.

use super::tokens;
use super::view::{Limit, Shares};

/// Where a text is cut: `..head` and `tail..` are kept. Both offsets are character boundaries.
#[derive(Debug, PartialEq, Eq)]
pub(super) struct Cut {
    pub(super) head: usize,
    pub(super) tail: usize,
}

impl Limit {
    /// How much of the limit a text uses.
    pub(super) fn measure(self, text: &str) -> usize {
        match self {
            Self::Chars(_) => text.chars().count(),
            Self::Bytes(_) => text.len(),
            Self::Tokens(_) => tokens::estimate_tokens(text),
        }
    }

    /// The number of characters, bytes or tokens that the limit allows.
    #[must_use]
    pub fn amount(self) -> usize {
        match self {
            Self::Chars(amount) | Self::Bytes(amount) | Self::Tokens(amount) => amount,
        }
    }

    /// The largest number of bytes that a text within the limit can have.
    pub(super) fn max_bytes(self) -> usize {
        match self {
            Self::Chars(amount) => amount.saturating_mul(4),
            Self::Bytes(amount) => amount,
            // Longer only by long runs of blanks or signs, which then count as too much.
            Self::Tokens(amount) => amount.saturating_mul(32),
        }
    }

    /// The length of the longest prefix of `text` that uses at most `amount`.
    fn prefix(self, text: &str, amount: usize) -> usize {
        match self {
            Self::Chars(_) => text.char_indices().nth(amount).map_or(text.len(), |(at, _)| at),
            Self::Bytes(_) => text.floor_char_boundary(amount),
            Self::Tokens(_) => tokens::prefix(text, amount),
        }
    }

    /// The start of the longest suffix of `text` that uses at most `amount`.
    pub(super) fn suffix(self, text: &str, amount: usize) -> usize {
        match self {
            Self::Chars(_) if amount == 0 => text.len(),
            Self::Chars(_) => text.char_indices().rev().nth(amount - 1).map_or(0, |(at, _)| at),
            Self::Bytes(_) => text.ceil_char_boundary(text.len().saturating_sub(amount)),
            Self::Tokens(_) => tokens::suffix(text, amount),
        }
    }
}

/// Cuts one text that is longer than the limit.
pub(super) fn within(text: &str, limit: Limit, shares: Shares) -> Cut {
    let for_tail = shares.of_tail(limit.amount());
    Cut { head: head(text, limit.amount() - for_tail, limit), tail: tail(text, for_tail, limit) }
}

/// Cuts the texts of a stream's two ends. Each gets its share of the limit, and the part of the other's share that the other
/// doesn't use.
pub(super) fn between(first: &str, last: &str, limit: Limit, shares: Shares) -> Cut {
    let (wanted_first, wanted_last) = (limit.measure(first), limit.measure(last));
    let share = limit.amount() - shares.of_tail(limit.amount());
    let for_first = share.max(limit.amount().saturating_sub(wanted_last)).min(wanted_first);
    let for_last = limit.amount().saturating_sub(for_first);
    Cut { head: head(first, for_first, limit), tail: tail(last, for_last, limit) }
}

/// The end of the head: after the last line end in its last quarter, if there is one.
fn head(text: &str, amount: usize, limit: Limit) -> usize {
    let longest = limit.prefix(text, amount);
    if longest == text.len() {
        return longest;
    }
    let near = longest - longest / 4;
    let kept = text.as_bytes().get(..longest).unwrap_or_default();
    memchr::memrchr(b'\n', kept).map(|at| at + 1).filter(|end| *end >= near).unwrap_or(longest)
}

/// The start of the tail: after the first line end in its first quarter, unless it is the start of a line already.
fn tail(text: &str, amount: usize, limit: Limit) -> usize {
    let start = limit.suffix(text, amount);
    if start == 0 || text.as_bytes().get(start - 1) == Some(&b'\n') {
        return start;
    }
    let near = (text.len() - start) / 4;
    let kept = text.as_bytes().get(start..).unwrap_or_default();
    memchr::memchr(b'\n', kept).filter(|at| *at < near).map_or(start, |at| start + at + 1)
}

#[cfg(test)]
mod tests {
    use super::*;

    fn parts(text: &str, limit: Limit) -> (&str, &str) {
        let cut = within(text, limit, Shares::Even);
        (text.get(..cut.head).unwrap(), text.get(cut.tail..).unwrap())
    }

    #[test]
    fn characters_stay_whole() {
        assert_eq!(parts("ääääää", Limit::Chars(3)), ("ää", "ä"));
        assert_eq!(parts("ääääää", Limit::Bytes(6)), ("ä", "ä"));
        assert_eq!(parts("ääääää", Limit::Bytes(0)), ("", ""));
        assert_eq!(parts("ääääää", Limit::Chars(0)), ("", ""));
    }

    #[test]
    fn lines_stay_whole_when_an_end_is_near() {
        let text = "aaaaaaa\nbbbbbbb\nccccccc\nddddddd\neeeeeee\n";
        assert_eq!(parts(text, Limit::Bytes(18)), ("aaaaaaa\n", "eeeeeee\n"));
        assert_eq!(parts(text, Limit::Bytes(16)), ("aaaaaaa\n", "eeeeeee\n"));
        assert_eq!(parts(text, Limit::Bytes(26)), ("aaaaaaa\nbbbbb", "dddd\neeeeeee\n"));
    }

    #[test]
    fn each_end_gets_what_the_other_does_not_use() {
        assert_eq!(between("ab", "0123456789", Limit::Bytes(8), Shares::Even), Cut { head: 2, tail: 4 });
        assert_eq!(between("0123456789", "ab", Limit::Bytes(8), Shares::Even), Cut { head: 6, tail: 0 });
        assert_eq!(between("0123456789", "", Limit::Bytes(4), Shares::Even), Cut { head: 4, tail: 0 });
        assert_eq!(
            between("0123456789", "0123456789", Limit::Bytes(5), Shares::Even),
            Cut { head: 3, tail: 8 }
        );
        assert_eq!(between("ab", "cd", Limit::Bytes(100), Shares::Even), Cut { head: 2, tail: 0 });
    }
}
