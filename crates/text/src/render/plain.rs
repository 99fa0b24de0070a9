//! Recognises text that a terminal shows unchanged.

/// The length of the ordinary text at the start of `bytes`: up to a newline or a byte that may be a control character.
pub(super) fn run_length(bytes: &[u8]) -> usize {
    // 0xC2 starts the C1 controls, U+0080 to U+009F.
    let special = |byte: &u8| matches!(byte, 0..=0x08 | 0x0a..=0x1f | 0x7f | 0xc2);
    bytes.iter().position(special).unwrap_or(bytes.len())
}

/// Whether `bytes` contain no control characters except newline and tab. They need not be UTF-8.
pub(super) fn is_free_of_controls(bytes: &[u8]) -> bool {
    // Blocks without an early exit inside: the compiler turns them into vector instructions.
    let ascii = bytes.chunks(4096).all(|block| {
        !block.iter().fold(false, |bad, byte| {
            bad | ((*byte < 0x20) & (*byte != b'\n') & (*byte != b'\t')) | (*byte == 0x7f)
        })
    });
    ascii && memchr::memchr_iter(0xc2, bytes).all(|at| !is_c1(bytes.get(at + 1)))
}

/// Whether 0xC2 and this next byte are a C1 control character.
pub(super) fn is_c1(next: Option<&u8>) -> bool {
    next.is_some_and(|next| (0x80..0xa0).contains(next))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn plain_text_has_no_control_characters() {
        for plain in ["", "a\tb\nc", "é °  日本 😀", "\u{a0}"] {
            assert!(is_free_of_controls(plain.as_bytes()), "{plain:?}");
        }
        for other in ["a\rb", "\u{1b}[m", "\0", "\u{7f}", "\u{85}", "\u{9f}x"] {
            assert!(!is_free_of_controls(other.as_bytes()), "{other:?}");
        }
        assert_eq!(run_length(b"ab\tc\nd"), 4);
        assert_eq!(run_length("ü°".as_bytes()), 2);
    }
}
