//! An entry as it is read from the database.

use rusqlite::Row;
use serde::Serialize;

use crate::body::{EntryBody, EntryKind, Millis};
use crate::chain::Header;
use crate::error::Error;
use crate::hash::{Sha, hex};

/// One entry of the journal.
#[derive(Clone, Debug, PartialEq)]
pub struct JournalEntry {
    /// Its number. Numbers have no gaps.
    pub seq: u64,
    /// When it was written.
    pub at: Millis,
    /// The execution that it is about, if any.
    pub exec_id: Option<String>,
    /// The session that it belongs to, if any.
    pub session: Option<String>,
    /// The number that it had first, if pruning has appended it again.
    pub carried: Option<u64>,
    /// Its kind. Known also when the content was forgotten.
    pub kind: EntryKind,
    /// Its content; `None` when that was forgotten.
    pub body: Option<EntryBody>,
    /// Its hash.
    pub hash: Sha,
}

/// The columns of `entries`, in the order in which [`EntryRow`] reads them.
pub(crate) const COLUMNS: &str =
    "seq, at, kind, exec_id, session, carried, salt, body, digest, previous, hash";

/// A row of `entries`, not verified yet. Its JSON is a line of the export.
#[derive(Clone, Debug, Serialize)]
pub(crate) struct EntryRow {
    pub(crate) seq: u64,
    pub(crate) at: Millis,
    pub(crate) kind: EntryKind,
    #[serde(skip_serializing_if = "Option::is_none")]
    pub(crate) exec_id: Option<String>,
    #[serde(skip_serializing_if = "Option::is_none")]
    pub(crate) session: Option<String>,
    #[serde(skip_serializing_if = "Option::is_none")]
    pub(crate) carried: Option<u64>,
    #[serde(skip_serializing_if = "Option::is_none", serialize_with = "as_hex")]
    pub(crate) salt: Option<Vec<u8>>,
    #[serde(skip_serializing_if = "Option::is_none", serialize_with = "as_json")]
    pub(crate) body: Option<String>,
    pub(crate) body_sha256: Sha,
    pub(crate) previous: Sha,
    pub(crate) hash: Sha,
}

impl EntryRow {
    pub(crate) fn read(row: &Row<'_>) -> rusqlite::Result<Self> {
        Ok(Self {
            seq: row.get(0)?,
            at: row.get(1)?,
            kind: row.get(2)?,
            exec_id: row.get(3)?,
            session: row.get(4)?,
            carried: row.get(5)?,
            salt: row.get(6)?,
            body: row.get(7)?,
            body_sha256: Sha(row.get(8)?),
            previous: Sha(row.get(9)?),
            hash: Sha(row.get(10)?),
        })
    }

    /// The number that the entry had first.
    pub(crate) fn origin(&self) -> u64 {
        self.carried.unwrap_or(self.seq)
    }

    pub(crate) fn header(&self) -> Header<'_> {
        Header {
            at: self.at,
            body_sha256: self.body_sha256,
            carried: self.carried,
            exec_id: self.exec_id.as_deref(),
            kind: self.kind,
            previous: self.previous,
            seq: self.seq,
            session: self.session.as_deref(),
        }
    }

    pub(crate) fn parse_body(&self) -> Result<Option<EntryBody>, Error> {
        Ok(self.body.as_deref().map(|body| EntryBody::read(self.kind, body)).transpose()?)
    }

    pub(crate) fn into_entry(self) -> Result<JournalEntry, Error> {
        let body = self.parse_body()?;
        let Self { seq, at, exec_id, session, carried, kind, hash, .. } = self;
        Ok(JournalEntry { seq, at, exec_id, session, carried, kind, body, hash })
    }
}

fn as_hex<S: serde::Serializer>(bytes: &Option<Vec<u8>>, serializer: S) -> Result<S::Ok, S::Error> {
    bytes.as_deref().map(hex).serialize(serializer)
}

fn as_json<S: serde::Serializer>(body: &Option<String>, serializer: S) -> Result<S::Ok, S::Error> {
    let body = body.as_deref().map(serde_json::from_str::<serde_json::Value>).transpose();
    body.map_err(serde::ser::Error::custom)?.serialize(serializer)
}
