//! The last bytes of a stream, once its file takes no more.

/// Remembers at least [`Tail::KEPT`] last bytes, and never more than twice that.
#[derive(Debug, Default)]
pub(crate) struct Tail {
    bytes: Vec<u8>,
}

impl Tail {
    pub(crate) const KEPT: usize = 64 << 10;

    pub(crate) fn push(&mut self, bytes: &[u8]) {
        if bytes.len() > Self::KEPT {
            self.bytes.clear();
        }
        let bytes = bytes.get(bytes.len().saturating_sub(Self::KEPT)..).unwrap_or_default();
        if self.bytes.len() + bytes.len() > 2 * Self::KEPT {
            // Moved once per KEPT bytes, so a byte is copied twice at most.
            let surplus = self.bytes.len() - Self::KEPT.saturating_sub(bytes.len());
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
        fn the_end_is_kept_and_memory_is_bounded(sizes in proptest::collection::vec(0_usize..200_000, 0..12)) {
            let mut tail = Tail::default();
            let mut all = Vec::new();
            for size in sizes {
                let piece: Vec<u8> = (0..size).map(|n| (n + all.len()) as u8).collect();
                tail.push(&piece);
                all.extend_from_slice(&piece);
            }
            prop_assert!(tail.bytes().len() <= 2 * Tail::KEPT);
            prop_assert!(tail.bytes().len() >= Tail::KEPT.min(all.len()));
            prop_assert!(all.ends_with(tail.bytes()));
        }
    }
}
