//! Decodes bytes into text, chunk by chunk, for live events.

/// A piece of decoded text, with its offset in the stream.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Piece {
    /// The offset of the piece's first byte in the stream. It can't be computed from the earlier texts, because a
    /// replaced byte has another length in the text.
    pub offset: u64,
    /// The text: whole characters, with invalid bytes replaced by U+FFFD. Codes are kept.
    pub text: String,
}

/// Decodes chunks of bytes without splitting a character.
///
/// However the stream is chunked, its pieces put together equal `String::from_utf8_lossy` of the whole stream.
///
/// ```
/// let mut decoder = shellgate_text::Decoder::new();
/// assert_eq!(decoder.push(b"\xe2\x82"), None); // the first two bytes of a euro sign
/// let piece = decoder.push(b"\xac 5").unwrap();
/// assert_eq!((piece.offset, piece.text.as_str()), (0, "€ 5"));
/// assert_eq!(decoder.finish(), None);
/// ```
#[derive(Debug, Default)]
pub struct Decoder {
    /// The first bytes of a character whose rest hasn't come yet: at most three.
    held: Vec<u8>,
    /// The offset of the first held byte in the stream; if none is held, of the next byte.
    offset: u64,
}

impl Decoder {
    /// A decoder at the start of a stream.
    #[must_use]
    pub fn new() -> Self {
        Self::default()
    }

    /// Takes the next bytes. Returns the text that is complete by now, if any.
    pub fn push(&mut self, chunk: &[u8]) -> Option<Piece> {
        if self.held.is_empty() {
            return self.decode(chunk);
        }
        let mut bytes = std::mem::take(&mut self.held);
        bytes.extend_from_slice(chunk);
        self.decode(&bytes)
    }

    /// Ends the stream. Held bytes are an invalid sequence then.
    pub fn finish(&mut self) -> Option<Piece> {
        let held = std::mem::take(&mut self.held);
        let piece = Piece { offset: self.offset, text: String::from_utf8_lossy(&held).into_owned() };
        self.offset += held.len() as u64;
        (!piece.text.is_empty()).then_some(piece)
    }

    fn decode(&mut self, bytes: &[u8]) -> Option<Piece> {
        let mut text = String::with_capacity(bytes.len());
        let mut chunks = bytes.utf8_chunks().peekable();
        while let Some(chunk) = chunks.next() {
            text.push_str(chunk.valid());
            if chunk.invalid().is_empty() {
                continue;
            }
            if chunks.peek().is_none() && is_incomplete(chunk.invalid()) {
                self.held = chunk.invalid().to_vec();
            } else {
                text.push(char::REPLACEMENT_CHARACTER);
            }
        }
        let piece = Piece { offset: self.offset, text };
        self.offset += (bytes.len() - self.held.len()) as u64;
        (!piece.text.is_empty()).then_some(piece)
    }
}

/// Whether these bytes are the beginning of a character.
fn is_incomplete(bytes: &[u8]) -> bool {
    std::str::from_utf8(bytes).is_err_and(|error| error.error_len().is_none())
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    /// Bytes with many broken and split characters.
    fn bytes() -> impl Strategy<Value = Vec<u8>> {
        let part = prop_oneof![
            any::<char>().prop_map(|c| c.to_string().into_bytes()),
            prop::collection::vec(any::<u8>(), 0..4),
            prop::sample::select(vec![
                b"\xe2\x82".to_vec(),
                b"\xf0\x9f\x98".to_vec(),
                b"\xed\xa0\x80".to_vec()
            ]),
        ];
        prop::collection::vec(part, 0..40).prop_map(|parts| parts.concat())
    }

    proptest! {
        #[test]
        fn any_chunking_gives_the_lossy_text(bytes in bytes(), sizes in prop::collection::vec(0usize..6, 1..20)) {
            let mut decoder = Decoder::new();
            let mut text = String::new();
            let mut rest = bytes.as_slice();
            let mut pieces = Vec::new();
            for size in sizes.iter().cycle() {
                let (chunk, after) = rest.split_at((*size).min(rest.len()));
                pieces.extend(decoder.push(chunk));
                prop_assert!(decoder.held.len() <= 3);
                rest = after;
                if rest.is_empty() || sizes.iter().all(|size| *size == 0) {
                    break;
                }
            }
            pieces.extend(decoder.push(rest));
            pieces.extend(decoder.finish());
            for piece in &pieces {
                let before = usize::try_from(piece.offset).unwrap();
                prop_assert_eq!(&*String::from_utf8_lossy(&bytes[..before]), text.as_str());
                text.push_str(&piece.text);
            }
            prop_assert_eq!(&*String::from_utf8_lossy(&bytes), text.as_str());
        }
    }

    #[test]
    fn a_split_character_waits_and_codes_stay() {
        let mut decoder = Decoder::new();
        assert_eq!(decoder.push(b"\x1b[31ma\xf0\x9f").unwrap().text, "\u{1b}[31ma");
        assert_eq!(decoder.push(b"\x98"), None);
        assert_eq!(decoder.push(b"\x80b"), Some(Piece { offset: 6, text: "😀b".to_owned() }));
        assert_eq!(decoder.push(b"\xf0"), None);
        assert_eq!(decoder.finish(), Some(Piece { offset: 11, text: "\u{fffd}".to_owned() }));
        assert_eq!(decoder.push(b"x").unwrap().offset, 12);
    }
}
