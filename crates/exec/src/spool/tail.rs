//! The last bytes of a stream whose file is full.

/// Remembers at least the last [`Tail::MIN_BYTES`] bytes, and at most twice as many.
#[derive(Debug, Default)]
pub(crate) struct Tail {
    bytes: Vec<u8>,
}

impl Tail {
    pub(crate) const MIN_BYTES: usize = 64 << 10;

    pub(crate) fn push(&mut self, bytes: &[u8]) {
        if bytes.len() > Self::MIN_BYTES {
            self.bytes.clear();
        }
        let bytes = bytes.get(bytes.len().saturating_sub(Self::MIN_BYTES)..).unwrap_or_default();
        if self.bytes.len() + bytes.len() > 2 * Self::MIN_BYTES {
            // Done once per `MIN_BYTES`, so each byte is copied at most twice.
            let surplus = self.bytes.len() - Self::MIN_BYTES.saturating_sub(bytes.len());
            self.bytes.drain(..surplus);
        }
        self.bytes.extend_from_slice(bytes);
    }

    pub(crate) fn bytes(&self) -> &[u8] {
        &self.bytes
    }
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::Tail;

    proptest! {
        #[test]
        fn the_last_bytes_are_kept_and_memory_is_bounded(sizes in proptest::collection::vec(0_usize..200_000, 0..12)) {
            let mut tail = Tail::default();
            // Its period is no power of two, so that a shifted copy is noticed.
            let pattern: Vec<u8> = (0..251).collect::<Vec<u8>>().repeat(sizes.iter().sum::<usize>() / 251 + 1);
            let mut end = 0;
            for size in sizes {
                tail.push(&pattern[end..end + size]);
                end += size;
            }
            let all = &pattern[..end];
            prop_assert!(tail.bytes().len() <= 2 * Tail::MIN_BYTES);
            prop_assert!(tail.bytes().len() >= Tail::MIN_BYTES.min(all.len()));
            prop_assert!(all.ends_with(tail.bytes()));
        }
    }
}
