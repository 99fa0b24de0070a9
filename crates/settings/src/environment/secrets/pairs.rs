//! A first look that is nearly free.

use super::tables::{NAMES, VALUES};

/// Pairs of bytes, for a first look: most names and most places in values need no closer one. A pair may be
/// found that wasn't put in, since only six bits of the second byte are kept.
pub(super) struct Pairs([u64; 256]);

impl Pairs {
    pub(super) fn may_hold(&self, first: u8, second: u8) -> bool {
        self.0.get(usize::from(first)).is_some_and(|seconds| seconds & (1 << (second & 63)) != 0)
    }

    const fn with(mut self, first: u8, second: u8) -> Self {
        if let Some((_, [seconds, ..])) = self.0.split_at_mut_checked(first as usize) {
            *seconds |= 1 << (second & 63);
        }
        self
    }
}

/// How the rows of the table of values start.
pub(super) static VALUE_STARTS: Pairs = {
    let mut pairs = Pairs([0; 256]);
    let mut rows = VALUES;
    while let [row, rest @ ..] = rows {
        if let [first, second, ..] = row.start.as_bytes() {
            pairs = pairs.with(*first, *second);
        }
        rows = rest;
    }
    pairs
};

/// How the rows of the table of names end.
pub(super) static NAME_ENDS: Pairs = {
    let mut pairs = Pairs([0; 256]);
    let mut rows = NAMES;
    while let [row, rest @ ..] = rows {
        if let [.., first, second] = row.shown.as_bytes() {
            pairs = pairs.with(*first, *second);
        }
        rows = rest;
    }
    pairs
};
