//! Decides whether a stream is binary, and describes a binary one.

use std::fmt::Write;

use sha2::{Digest, Sha256};

use super::{super::source::Stream, magic, share};

/// The size of a sample. One is taken at the start and one in the middle.
const SAMPLE_BYTES: u64 = 8 << 10;

/// A shorter sample is text, unless its first bytes are those of a known format.
const MIN_BINARY_BYTES: usize = 64;

const HASH_CHUNK_BYTES: u64 = 256 << 10;

/// More bytes aren't hashed: a caller waits for the answer. It is more than is captured by default.
const MAX_HASHED_BYTES: u64 = 512 << 20;

/// A description of binary output.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Binary {
    /// Its format, such as "PNG image", if its first bytes show it.
    pub kind: Option<&'static str>,
    /// How many bytes the command wrote.
    pub bytes: u64,
    /// The SHA-256 of the bytes that `hashed` covers, in hexadecimal. Empty if nothing was hashed.
    pub sha256: String,
    /// Which bytes were hashed.
    pub hashed: Hashed,
}

/// Which bytes a hash covers.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Hashed {
    /// All bytes that the command wrote.
    Whole,
    /// Only this many bytes at the start, because the rest wasn't kept.
    Kept(u64),
    /// None, because there are too many.
    Nothing,
}

/// Describes the stream if a sample of it isn't text.
pub(crate) fn examine(stream: &mut Stream<'_>) -> Option<Binary> {
    let first = stream.read(0..SAMPLE_BYTES.min(stream.kept));
    let kind = magic::kind(&first);
    if kind.is_none() && !looks_binary(&first) && !middle_looks_binary(stream) {
        return None;
    }
    let (sha256, hashed) = hash(stream);
    Some(Binary { kind, bytes: stream.total, sha256, hashed })
}

fn looks_binary(sample: &[u8]) -> bool {
    sample.len() >= MIN_BINARY_BYTES && share::is_binary(sample)
}

fn middle_looks_binary(stream: &mut Stream<'_>) -> bool {
    if stream.kept <= 2 * SAMPLE_BYTES {
        return false;
    }
    let start = stream.kept / 2;
    looks_binary(&stream.read(start..start + SAMPLE_BYTES))
}

/// Hashes all bytes that were kept, unless there are too many.
fn hash(stream: &mut Stream<'_>) -> (String, Hashed) {
    if stream.kept > MAX_HASHED_BYTES {
        return (String::new(), Hashed::Nothing);
    }
    let mut hasher = Sha256::new();
    let mut done = 0;
    while done < stream.total && (done < stream.kept || stream.missing().is_empty()) {
        let end = if done < stream.kept { stream.kept } else { stream.total };
        let chunk = stream.read(done..end.min(done + HASH_CHUNK_BYTES));
        if chunk.is_empty() {
            break;
        }
        done += chunk.len() as u64;
        hasher.update(&chunk);
    }
    let mut text = String::with_capacity(64);
    for byte in hasher.finalize() {
        let written = write!(text, "{byte:02x}");
        debug_assert!(written.is_ok(), "writing to a string never fails");
    }
    (text, if done == stream.total { Hashed::Whole } else { Hashed::Kept(done) })
}
