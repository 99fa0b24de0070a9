//! Which part of a text is kept when it is longer than its limit.

use super::view::Limit;

/// Where a text is cut: `..head` and `tail..` are kept. Both are character boundaries.
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
        }
    }

    /// The number of characters or bytes that it allows.
    #[must_use]
    pub fn amount(self) -> usize {
        match self {
            Self::Chars(amount) | Self::Bytes(amount) => amount,
        }
    }

    /// The most bytes of text that can be within the limit.
    pub(super) fn bytes(self) -> usize {
        match self {
            Self::Chars(amount) => amount.saturating_mul(4),
            Self::Bytes(amount) => amount,
        }
    }

    /// The length of the longest prefix of `text` that uses no more than `amount`.
    fn prefix(self, text: &str, amount: usize) -> usize {
        match self {
            Self::Chars(_) => text.char_indices().nth(amount).map_or(text.len(), |(at, _)| at),
            Self::Bytes(_) => text.floor_char_boundary(amount),
        }
    }

    /// The start of the longest suffix of `text` that uses no more than `amount`.
    fn suffix(self, text: &str, amount: usize) -> usize {
        match self {
            Self::Chars(_) if amount == 0 => text.len(),
            Self::Chars(_) => text.char_indices().rev().nth(amount - 1).map_or(0, |(at, _)| at),
            Self::Bytes(_) => text.ceil_char_boundary(text.len().saturating_sub(amount)),
        }
    }
}

/// Cuts one text that is too long.
pub(super) fn within(text: &str, limit: Limit) -> Cut {
    let half = limit.amount().div_ceil(2);
    Cut { head: head(text, half, limit), tail: tail(text, limit.amount() - half, limit) }
}

/// Cuts the texts of a stream's two ends: each gets half of the limit, and what the other doesn't need.
pub(super) fn between(first: &str, last: &str, limit: Limit) -> Cut {
    let (wanted_first, wanted_last) = (limit.measure(first), limit.measure(last));
    let half = limit.amount().div_ceil(2);
    let for_first = half.max(limit.amount().saturating_sub(wanted_last)).min(wanted_first);
    let for_last = limit.amount().saturating_sub(for_first);
    Cut { head: head(first, for_first, limit), tail: tail(last, for_last, limit) }
}

/// The end of the head: after the last line end in its last quarter, if there is one.
fn head(text: &str, amount: usize, limit: Limit) -> usize {
    let most = limit.prefix(text, amount);
    if most == text.len() {
        return most;
    }
    let near = most - most / 4;
    let kept = text.as_bytes().get(..most).unwrap_or_default();
    memchr::memrchr(b'\n', kept).map(|at| at + 1).filter(|end| *end >= near).unwrap_or(most)
}

/// The start of the tail: after the first line end in its first quarter, if it doesn't start a line already.
fn tail(text: &str, amount: usize, limit: Limit) -> usize {
    let most = limit.suffix(text, amount);
    if most == 0 || text.as_bytes().get(most - 1) == Some(&b'\n') {
        return most;
    }
    let near = (text.len() - most) / 4;
    let kept = text.as_bytes().get(most..).unwrap_or_default();
    memchr::memchr(b'\n', kept).filter(|at| *at < near).map_or(most, |at| most + at + 1)
}

#[cfg(test)]
mod tests {
    use super::*;

    fn parts(text: &str, limit: Limit) -> (&str, &str) {
        let cut = within(text, limit);
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
    fn what_one_end_leaves_goes_to_the_other() {
        assert_eq!(between("ab", "0123456789", Limit::Bytes(8)), Cut { head: 2, tail: 4 });
        assert_eq!(between("0123456789", "ab", Limit::Bytes(8)), Cut { head: 6, tail: 0 });
        assert_eq!(between("0123456789", "", Limit::Bytes(4)), Cut { head: 4, tail: 0 });
        assert_eq!(between("0123456789", "0123456789", Limit::Bytes(5)), Cut { head: 3, tail: 8 });
        assert_eq!(between("ab", "cd", Limit::Bytes(100)), Cut { head: 2, tail: 0 });
    }
}
