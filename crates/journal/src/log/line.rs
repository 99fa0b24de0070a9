//! A line of the log: an entry as it is hashed, its salt and its body, and its number and hash at the end.
//!
//! ```text
//! {"at":…,"body_sha256":…,…} TAB salt TAB {"text":…} TAB 00000000000000000042:hash
//! ```
//!
//! JSON has no tabs and no newlines inside. The end is as long in every line, so the head of the chain is found without reading all.

use std::fs::File;
use std::os::unix::fs::FileExt as _;

use serde::Deserialize;

use crate::body::{EntryBody, EntryKind, Millis};
use crate::chain::{self, Header};
use crate::error::Error;
use crate::hash::{Head, Sha, bytes_of_hex, hex};
use crate::head_file::{HEAD_BYTES, head_text};
use crate::{canonical, chain::Salt};

/// An entry in the log.
#[derive(Debug)]
pub(crate) struct Line {
    pub(crate) head: Head,
    pub(crate) at: Millis,
    pub(crate) kind: EntryKind,
    pub(crate) exec_id: String,
    pub(crate) session: String,
    pub(crate) salt: Salt,
    pub(crate) body: String,
    pub(crate) digest: Sha,
    pub(crate) previous: Sha,
}

/// The hashed part of a line, as it is read.
#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
struct ReadHeader {
    at: Millis,
    body_sha256: Sha,
    exec_id: String,
    kind: EntryKind,
    previous: Sha,
    seq: u64,
    session: String,
}

/// Writes an entry that follows `head` behind `lines`. Returns the head after it.
pub(crate) fn write(
    lines: &mut String,
    head: Head,
    at: Millis,
    (exec_id, session): (&str, &str),
    body: &EntryBody,
) -> Result<Head, Error> {
    let (kind, salt, body) = (body.kind(), chain::salt()?, canonical::to_string(body)?);
    let seq = head.seq + 1;
    let header = Header {
        at,
        body_sha256: chain::digest(&salt, &body),
        carried: None,
        exec_id: Some(exec_id),
        kind,
        previous: head.hash,
        seq,
        session: Some(session),
    };
    let header = serde_json::to_string(&header)?;
    let head = Head { seq, hash: Sha::of(&[header.as_bytes()]) };
    for part in [&header, "\t", &hex(&salt), "\t", &body, "\t", &head_text(head)] {
        lines.push_str(part);
    }
    Ok(head)
}

impl Line {
    /// Reads a line, and checks that it is as it was written.
    pub(super) fn read(text: &[u8]) -> Result<Self, Error> {
        let damaged = || Error::damaged("a line of its log is not as it was written");
        let text = std::str::from_utf8(text).map_err(|_| damaged())?;
        let mut parts = text.split('\t');
        let (Some(header), Some(salt), Some(body), Some(head), None) =
            (parts.next(), parts.next(), parts.next(), parts.next(), parts.next())
        else {
            return Err(damaged());
        };
        let head: Head = head.parse().map_err(|_| damaged())?;
        let read: ReadHeader = serde_json::from_str(header).map_err(|_| damaged())?;
        let salt = bytes_of_hex(salt).ok_or_else(damaged)?;
        let is_whole = Sha::of(&[header.as_bytes()]) == head.hash
            && read.seq == head.seq
            && chain::digest(&salt, body) == read.body_sha256;
        let ReadHeader { at, body_sha256: digest, exec_id, kind, previous, session, .. } = read;
        let line = Self { head, at, kind, exec_id, session, salt, body: body.to_owned(), digest, previous };
        is_whole.then_some(line).ok_or_else(damaged)
    }
}

/// The head at the end of the first `bytes` of a file. `None`: no line ends there.
pub(super) fn head_before(file: &File, bytes: u64) -> Option<Head> {
    let mut text = [0; HEAD_BYTES];
    file.read_exact_at(&mut text, bytes.checked_sub(HEAD_BYTES as u64)?).ok()?;
    let text = str::from_utf8(&text).ok()?;
    text.ends_with('\n').then(|| text.parse().ok()).flatten()
}
