//! Recognises text that a terminal would show as it is.

/// The length of the ordinary text that `bytes` begins with: up to a newline or anything that needs a
/// decision.
pub(super) fn run(bytes: &[u8]) -> usize {
    // 0xC2 starts the C1 controls, U+0080 to U+009F.
    let special = |byte: &u8| matches!(byte, 0..=0x08 | 0x0a..=0x1f | 0x7f | 0xc2);
    bytes.iter().position(special).unwrap_or(bytes.len())
}

/// Whether `bytes` hold nothing to interpret or drop, UTF-8 or not.
pub(super) fn is_free_of_controls(bytes: &[u8]) -> bool {
    // Whole blocks without an early exit: the compiler turns them into vector instructions.
    let ascii = bytes.chunks(4096).all(|block| {
        !block.iter().fold(false, |bad, byte| {
            bad | ((*byte < 0x20) & (*byte != b'\n') & (*byte != b'\t')) | (*byte == 0x7f)
        })
    });
    ascii && memchr::memchr_iter(0xc2, bytes).all(|at| !is_c1(bytes.get(at + 1)))
}

/// Whether this byte after 0xC2 makes a C1 control of it.
pub(super) fn is_c1(next: Option<&u8>) -> bool {
    next.is_some_and(|next| (0x80..0xa0).contains(next))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn plain_and_not() {
        for plain in ["", "a\tb\nc", "é °  日本 😀", "\u{a0}"] {
            assert!(is_free_of_controls(plain.as_bytes()), "{plain:?}");
        }
        for other in ["a\rb", "\u{1b}[m", "\0", "\u{7f}", "\u{85}", "\u{9f}x"] {
            assert!(!is_free_of_controls(other.as_bytes()), "{other:?}");
        }
        assert_eq!(run(b"ab\tc\nd"), 4);
        assert_eq!(run("ü°".as_bytes()), 2);
    }
}
