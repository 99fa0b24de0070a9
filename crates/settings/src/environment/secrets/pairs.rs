//! A fast filter: most names and values need no closer comparison.

use super::tables::{NAMES, VALUES};

/// A set of byte pairs. It may report a pair that wasn't added, because it stores only six bits of the second byte.
pub(super) struct Pairs([u64; 256]);

impl Pairs {
    pub(super) fn may_contain(&self, first: u8, second: u8) -> bool {
        self.0.get(usize::from(first)).is_some_and(|seconds| seconds & (1 << (second & 63)) != 0)
    }

    const fn with(mut self, first: u8, second: u8) -> Self {
        if let Some((_, [seconds, ..])) = self.0.split_at_mut_checked(first as usize) {
            *seconds |= 1 << (second & 63);
        }
        self
    }
}

/// The first two bytes of the rows in the table of values.
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

/// The last two bytes of the rows in the table of names.
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
