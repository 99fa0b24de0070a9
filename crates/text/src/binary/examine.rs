//! Is it binary, and what is there to say about it?

use std::fmt::Write;

use sha2::{Digest, Sha256};

use super::{super::source::Stream, magic, share};

/// How much is looked at, at the start and in the middle.
const SAMPLE: u64 = 8 << 10;

/// Less than this without a known start is always text.
const SHORT: usize = 64;

/// How much is hashed at a time.
const BLOCK: u64 = 256 << 10;

/// What is known of binary output.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Binary {
    /// What it is, such as "PNG image", if its first bytes say so.
    pub kind: Option<&'static str>,
    /// How many bytes the command wrote.
    pub bytes: u64,
    /// The SHA-256 of the bytes that `hashed` names, in hexadecimal.
    pub sha256: String,
    /// What was hashed.
    pub hashed: Hashed,
}

/// Which bytes a hash covers.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Hashed {
    /// All that the command wrote.
    Whole,
    /// Only so many bytes at the start, because the rest wasn't kept.
    Kept(u64),
}

/// Looks at samples; describes the stream if they aren't text.
pub(crate) fn examine(stream: &mut Stream<'_>) -> Option<Binary> {
    let first = stream.read(0..SAMPLE.min(stream.kept));
    let kind = magic::kind(&first);
    if kind.is_none() && !looks_binary(&first) && !middle_looks_binary(stream) {
        return None;
    }
    let (sha256, hashed) = hash(stream);
    Some(Binary { kind, bytes: stream.total, sha256, hashed })
}

fn looks_binary(sample: &[u8]) -> bool {
    sample.len() >= SHORT && share::is_binary(sample)
}

fn middle_looks_binary(stream: &mut Stream<'_>) -> bool {
    if stream.kept <= 2 * SAMPLE {
        return false;
    }
    let start = stream.kept / 2;
    looks_binary(&stream.read(start..start + SAMPLE))
}

/// Hashes all there is, a block at a time.
fn hash(stream: &mut Stream<'_>) -> (String, Hashed) {
    let mut hasher = Sha256::new();
    let mut done = 0;
    while done < stream.total && (done < stream.kept || stream.missing().is_empty()) {
        let end = if done < stream.kept { stream.kept } else { stream.total };
        let block = stream.read(done..end.min(done + BLOCK));
        if block.is_empty() {
            break;
        }
        done += block.len() as u64;
        hasher.update(&block);
    }
    let mut text = String::with_capacity(64);
    for byte in hasher.finalize() {
        let written = write!(text, "{byte:02x}");
        debug_assert!(written.is_ok(), "a string takes everything");
    }
    (text, if done == stream.total { Hashed::Whole } else { Hashed::Kept(done) })
}
