//! SHA-256 values and the head of the chain.

use std::fmt;
use std::str::FromStr;

use serde::{Deserialize, Deserializer, Serialize, Serializer, de};
use sha2::{Digest as _, Sha256};

/// A SHA-256 value. As text it is 64 lower-case hexadecimal digits.
#[derive(Clone, Copy, PartialEq, Eq, Hash)]
pub struct Sha(pub [u8; 32]);

impl Sha {
    /// The hash before the first entry: all zero.
    pub const NONE: Self = Self([0; 32]);

    /// The hash of the concatenated `parts`.
    #[must_use]
    pub fn of(parts: &[&[u8]]) -> Self {
        let mut hasher = Sha256::new();
        for part in parts {
            hasher.update(part);
        }
        Self(hasher.finalize().into())
    }
}

impl fmt::Display for Sha {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(&hex(&self.0))
    }
}

impl fmt::Debug for Sha {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        fmt::Display::fmt(self, f)
    }
}

impl FromStr for Sha {
    type Err = NotAHead;

    fn from_str(text: &str) -> Result<Self, NotAHead> {
        bytes_of_hex(text).map(Self).ok_or(NotAHead)
    }
}

impl Serialize for Sha {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        serializer.serialize_str(&hex(&self.0))
    }
}

impl<'de> Deserialize<'de> for Sha {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        let text = std::borrow::Cow::<'de, str>::deserialize(deserializer)?;
        text.parse().map_err(|NotAHead| de::Error::custom("expected 64 hexadecimal digits"))
    }
}

/// Bytes as lower-case hexadecimal digits.
pub(crate) fn hex(bytes: &[u8]) -> String {
    const DIGITS: &[u8; 16] = b"0123456789abcdef";
    let digit = |nibble: u8| DIGITS.get(usize::from(nibble)).map_or('?', |digit| char::from(*digit));
    let mut text = String::with_capacity(2 * bytes.len());
    for byte in bytes {
        text.push(digit(byte >> 4));
        text.push(digit(byte & 15));
    }
    text
}

/// The bytes that hexadecimal digits stand for.
pub(crate) fn bytes_of_hex<const N: usize>(text: &str) -> Option<[u8; N]> {
    let mut bytes = [0; N];
    if text.len() != 2 * N {
        return None;
    }
    for (byte, pair) in bytes.iter_mut().zip(text.as_bytes().chunks_exact(2)) {
        for digit in pair {
            *byte = *byte << 4 | hex_value(*digit)?;
        }
    }
    Some(bytes)
}

fn hex_value(digit: u8) -> Option<u8> {
    match digit {
        b'0'..=b'9' => Some(digit - b'0'),
        b'a'..=b'f' => Some(digit - b'a' + 10),
        _ => None,
    }
}

/// The number and hash of the last entry. A head that was kept elsewhere proves later that no entry up to it was changed.
/// As text: `SEQ:HASH`.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct Head {
    /// The number of the entry, from 1; 0 when the journal is empty.
    pub seq: u64,
    /// Its hash.
    pub hash: Sha,
}

/// The text is not a head.
#[derive(Clone, Copy, Debug, PartialEq, Eq, thiserror::Error)]
#[error("a head is a number, a colon and 64 lower-case hexadecimal digits")]
pub struct NotAHead;

impl fmt::Display for Head {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{}:{}", self.seq, self.hash)
    }
}

impl FromStr for Head {
    type Err = NotAHead;

    fn from_str(text: &str) -> Result<Self, NotAHead> {
        let (seq, hash) = text.trim().split_once(':').ok_or(NotAHead)?;
        if !seq.bytes().all(|byte| byte.is_ascii_digit()) {
            return Err(NotAHead);
        }
        Ok(Self { seq: seq.parse().map_err(|_| NotAHead)?, hash: hash.parse()? })
    }
}

#[cfg(test)]
mod tests {
    use super::{Head, Sha};

    #[test]
    fn the_hash_is_sha_256() {
        let known = "ba7816bf8f01cfea414140de5dae2223b00361a396177a9cb410ff61f20015ad";
        assert_eq!(Sha::of(&[b"a", b"bc"]).to_string(), known);
    }

    #[test]
    fn a_head_is_read_as_it_is_written() {
        let head = Head { seq: 41, hash: Sha::of(&[b"x"]) };
        assert_eq!(head.to_string().parse(), Ok(head));
        assert_eq!(format!(" {head}\n").parse(), Ok(head), "as a shell hands it over");
    }

    #[test]
    fn text_that_is_not_a_head_is_refused() {
        let good = Head { seq: 1, hash: Sha::NONE }.to_string();
        for bad in [
            "",
            "1",
            "1:",
            ":",
            "+1:",
            &good.replace("1:", "-1:"),
            &good.replace("1:", "+1:"),
            &format!("{good}0"),
        ] {
            assert!(bad.parse::<Head>().is_err(), "{bad}");
        }
        let upper = Head { seq: 1, hash: Sha([0xab; 32]) }.to_string().to_uppercase();
        assert!(upper.parse::<Head>().is_err());
    }
}
