//! The hash chain: how an entry is hashed and appended.
//!
//! The hash of an entry covers its columns, the hash of the entry before it and the digest of its body. The digest covers
//! a random salt and the body. `forget` empties salt and body and leaves the digest, so the chain stays whole. Without the
//! salt, hashing guesses doesn't reveal a short command.

use rusqlite::{Connection, params};
use serde::Serialize;

use crate::body::{EntryBody, EntryKind, Millis};
use crate::canonical;
use crate::error::Error;
use crate::hash::{Head, Sha};
use crate::log::Line;

pub(crate) type Salt = [u8; 16];

/// The part of an entry that is hashed, in canonical form. The fields are in the order of their names, because then
/// `serde_json` writes the canonical form by itself; a test checks that.
#[derive(Serialize)]
pub(crate) struct Header<'a> {
    pub(crate) at: Millis,
    pub(crate) body_sha256: Sha,
    #[serde(skip_serializing_if = "Option::is_none")]
    pub(crate) carried: Option<u64>,
    #[serde(skip_serializing_if = "Option::is_none")]
    pub(crate) exec_id: Option<&'a str>,
    pub(crate) kind: EntryKind,
    pub(crate) previous: Sha,
    pub(crate) seq: u64,
    #[serde(skip_serializing_if = "Option::is_none")]
    pub(crate) session: Option<&'a str>,
}

impl Header<'_> {
    pub(crate) fn hash(&self) -> Result<Sha, Error> {
        Ok(Sha::of(&[&serde_json::to_vec(self)?]))
    }
}

/// The digest of a body.
pub(crate) fn digest(salt: &[u8], body: &str) -> Sha {
    Sha::of(&[salt, body.as_bytes()])
}

/// Sixteen random bytes.
pub(crate) fn salt() -> Result<Salt, Error> {
    let mut salt = Salt::default();
    rustix::rand::getrandom(&mut salt, rustix::rand::GetRandomFlags::empty())
        .map_err(|errno| Error::Unusable { message: format!("no random bytes: {errno}") })?;
    Ok(salt)
}

/// An entry to be appended, before it has a number.
pub(crate) struct NewEntry<'a> {
    pub(crate) at: Millis,
    pub(crate) kind: EntryKind,
    pub(crate) exec_id: Option<&'a str>,
    pub(crate) session: Option<&'a str>,
    pub(crate) carried: Option<u64>,
    pub(crate) body: String,
}

/// A row to insert behind the last entry.
struct Insert<'a> {
    head: Head,
    at: Millis,
    kind: EntryKind,
    exec_id: Option<&'a str>,
    session: Option<&'a str>,
    carried: Option<u64>,
    salt: Salt,
    body: &'a str,
    digest: Sha,
}

/// Appends entries within one transaction. It reads the head once at the beginning and writes it once at the end.
pub(crate) struct Writer<'a> {
    pub(crate) connection: &'a Connection,
    pub(crate) now: Millis,
    head: Head,
    before: u64,
}

impl<'a> Writer<'a> {
    /// `connection` must be in a transaction that holds the write lock. Otherwise another process could append first.
    pub(crate) fn new(connection: &'a Connection, now: Millis) -> Result<Self, Error> {
        let head = head(connection)?;
        Ok(Self { connection, now, head, before: head.seq })
    }

    pub(crate) const fn head(&self) -> Head {
        self.head
    }

    pub(crate) fn append(&mut self, entry: &NewEntry<'_>) -> Result<Head, Error> {
        let salt = salt()?;
        let digest = digest(&salt, &entry.body);
        let seq = self.head.seq + 1;
        let header = Header {
            at: entry.at,
            body_sha256: digest,
            carried: entry.carried,
            exec_id: entry.exec_id,
            kind: entry.kind,
            previous: self.head.hash,
            seq,
            session: entry.session,
        };
        let head = Head { seq, hash: header.hash()? };
        self.insert(&Insert {
            head,
            at: entry.at,
            kind: entry.kind,
            exec_id: entry.exec_id,
            session: entry.session,
            carried: entry.carried,
            salt,
            body: &entry.body,
            digest,
        })?;
        Ok(self.head)
    }

    /// Appends an entry of the log as it is. It must follow the last one.
    pub(crate) fn append_line(&mut self, line: &Line) -> Result<(), Error> {
        self.insert(&Insert {
            head: line.head,
            at: line.at,
            kind: line.kind,
            exec_id: Some(&line.exec_id),
            session: Some(&line.session),
            carried: None,
            salt: line.salt,
            body: &line.body,
            digest: line.digest,
        })
    }

    fn insert(&mut self, row: &Insert<'_>) -> Result<(), Error> {
        let mut insert = self.connection.prepare_cached(
            "INSERT INTO entries (seq, at, kind, exec_id, session, carried, salt, body, digest, previous, hash)
             VALUES (?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?)",
        )?;
        insert.execute(params![
            row.head.seq,
            row.at,
            row.kind,
            row.exec_id,
            row.session,
            row.carried,
            row.salt,
            row.body,
            row.digest.0,
            self.head.hash.0,
            row.head.hash.0,
        ])?;
        self.head = row.head;
        Ok(())
    }

    /// Appends a new entry. The caller writes the derived tables.
    pub(crate) fn append_body(
        &mut self,
        exec_id: Option<&str>,
        session: Option<&str>,
        body: &EntryBody,
    ) -> Result<Head, Error> {
        let kind = body.kind();
        let body = canonical::to_string(body)?;
        self.append(&NewEntry { at: self.now, kind, exec_id, session, carried: None, body })
    }

    /// Writes the head. Call it before the transaction is committed.
    pub(crate) fn finish(self) -> Result<(), Error> {
        if self.head.seq != self.before {
            let mut update =
                self.connection.prepare_cached("UPDATE head SET seq = ?, hash = ? WHERE one = 1")?;
            update.execute(params![self.head.seq, self.head.hash.0])?;
        }
        Ok(())
    }
}

/// The number and hash of the last entry, from the table `head`.
pub(crate) fn head(connection: &Connection) -> Result<Head, Error> {
    let mut select = connection.prepare_cached("SELECT seq, hash FROM head WHERE one = 1")?;
    Ok(select.query_row([], |row| Ok(Head { seq: row.get(0)?, hash: Sha(row.get(1)?) }))?)
}

#[cfg(test)]
mod tests {
    use super::{Header, digest};
    use crate::body::EntryKind;
    use crate::canonical;
    use crate::hash::Sha;

    fn header() -> Header<'static> {
        Header {
            at: 1_700_000_000_123,
            body_sha256: digest(b"salt", r#"{"text":"x"}"#),
            carried: Some(3),
            exec_id: Some("01J"),
            kind: EntryKind::Note,
            previous: Sha::NONE,
            seq: 7,
            session: Some("a/b"),
        }
    }

    #[test]
    fn the_hashed_header_is_in_canonical_form() {
        let bare = Header { carried: None, exec_id: None, session: None, ..header() };
        for header in [header(), bare] {
            assert_eq!(serde_json::to_string(&header).unwrap(), canonical::to_string(&header).unwrap());
        }
    }

    #[test]
    fn the_hash_covers_every_field() {
        let whole = header().hash().unwrap();
        let others = [
            Header { at: 1, ..header() },
            Header { body_sha256: Sha::NONE, ..header() },
            Header { carried: None, ..header() },
            Header { exec_id: Some(""), ..header() },
            Header { exec_id: None, ..header() },
            Header { kind: EntryKind::Asked, ..header() },
            Header { previous: Sha([1; 32]), ..header() },
            Header { seq: 8, ..header() },
            Header { session: None, ..header() },
        ];
        for other in others {
            assert_ne!(other.hash().unwrap(), whole, "{}", serde_json::to_string(&other).unwrap());
        }
    }
}
