//! Distinguishes text from binary data by the share of bytes that text doesn't have.

/// A sample with more invalid UTF-8 than this isn't text. Western European text in latin-1 has about five percent,
/// compressed data over forty. Russian text in its old encodings has most, and would be unreadable anyway.
const MAX_INVALID_PERCENT: usize = 25;

/// A sample with more control characters that text doesn't have, or zeros in a row, isn't text. Random bytes have ten
/// percent.
const MAX_CONTROL_PERCENT: usize = 8;

/// Whether these bytes aren't text.
pub(super) fn is_binary(sample: &[u8]) -> bool {
    let invalid = invalid(sample) * 100 / sample.len().max(1);
    let control = controls(sample) * 100 / sample.len().max(1);
    invalid > MAX_INVALID_PERCENT
        || control > MAX_CONTROL_PERCENT
        || invalid * MAX_CONTROL_PERCENT + control * MAX_INVALID_PERCENT
            > MAX_INVALID_PERCENT * MAX_CONTROL_PERCENT
}

/// Whether the sample has any byte that text doesn't have.
pub(super) fn has_any(sample: &[u8]) -> bool {
    invalid(sample) + controls(sample) > 0 || sample.contains(&0)
}

/// Counts bytes that are not UTF-8. A character that is cut off at either end doesn't count.
fn invalid(sample: &[u8]) -> usize {
    let leading = sample.iter().take(3).take_while(|byte| (0x80..0xc0).contains(*byte)).count();
    let mut count: usize =
        sample.get(leading..).unwrap_or_default().utf8_chunks().map(|chunk| chunk.invalid().len()).sum();
    if let Some(last) = sample.get(leading..).unwrap_or_default().utf8_chunks().last()
        && std::str::from_utf8(last.invalid()).is_err_and(|error| error.error_len().is_none())
    {
        count -= last.invalid().len();
    }
    count
}

/// Counts control characters that neither text nor terminals use, and zeros in a row. A single zero doesn't count: it
/// separates words, as in the output of `find -print0`.
fn controls(sample: &[u8]) -> usize {
    let mut count = 0;
    let mut after_zero = false;
    for byte in sample {
        match byte {
            0 if after_zero => count += 1,
            // BEL to CR, shift out and in, ESC.
            0 | 0x07..=0x0f | 0x1b => {}
            0x01..=0x1f | 0x7f => count += 1,
            _ => {}
        }
        after_zero = *byte == 0;
    }
    count
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn text_is_text() {
        let table: &[(&str, Vec<u8>)] = &[
            ("ascii", b"hello world\n".repeat(50)),
            ("unicode", "größe 日本語 😀\n".repeat(50).into_bytes()),
            ("find -print0", b"./a/file.txt\0./b\0".repeat(50)),
            ("french in latin-1", b"un \xe9t\xe9 \xe0 la mer, o\xf9 l'on r\xeave beaucoup\n".repeat(20)),
            ("utf-16", "hello world\r\n".bytes().flat_map(|b| [b, 0]).collect::<Vec<_>>().repeat(20)),
            ("colours", b"\x1b[31mred\x1b[0m\r\n".repeat(50)),
            ("a spinner", b"|\x08/\x08-\x08\\\x08".repeat(50)),
        ];
        for (name, sample) in table {
            assert!(!is_binary(sample), "{name}");
        }
        assert!(!is_binary(&"日本語".repeat(50).as_bytes()[1..449]), "characters cut at both ends");
    }

    #[test]
    fn other_bytes_are_binary() {
        let mut seed = 1_u32;
        let random: Vec<u8> = std::iter::repeat_with(|| {
            seed = seed.wrapping_mul(1_664_525).wrapping_add(1_013_904_223);
            seed.to_be_bytes()[0]
        })
        .take(4096)
        .collect();
        let table: &[(&str, Vec<u8>)] = &[
            ("random", random),
            ("zeros", vec![0; 100]),
            ("numbers", (0_u32..100).flat_map(u32::to_le_bytes).collect()),
            ("text among zeros", b"name\0\0\0\0\0\0\0\0value\0\0\0".repeat(10)),
            ("floats", (1_u16..100).flat_map(|n| (f64::from(n) / 7.0).to_le_bytes()).collect()),
        ];
        for (name, sample) in table {
            assert!(is_binary(sample), "{name}");
        }
    }
}
