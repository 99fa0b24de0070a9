//! Trust in a project's settings file: a person lets the file loosen the rules while it has a certain content.

use rusqlite::{OptionalExtension as _, params};

use crate::body::{EntryBody, TrustedFile};
use crate::error::Error;
use crate::hash::{Head, Sha};
use crate::journal::Journal;
use crate::question::read_entry;

impl Journal {
    /// Records that a person trusts this content of this file.
    ///
    /// # Errors
    /// When the entry can't be written.
    pub fn trust(&self, trusted: TrustedFile) -> Result<Head, Error> {
        self.write(|writer| {
            let (path, sha256) = (trusted.path.clone(), trusted.sha256);
            let head = writer.append_body(None, None, &EntryBody::Trusted(trusted))?;
            let insert = "INSERT OR REPLACE INTO trusted (path, sha256, seq) VALUES (?, ?, ?)";
            writer.connection.prepare_cached(insert)?.execute(params![path, sha256.0, head.seq])?;
            Ok(head)
        })
    }

    /// Whether a person trusts this content of this file. The entry decides; the table `trusted` only finds it.
    ///
    /// # Errors
    /// When the journal can't be read.
    pub fn is_trusted(&self, path: &str, sha256: Sha) -> Result<bool, Error> {
        self.read(|connection| {
            // Pruning may move the entry between two statements.
            let snapshot = connection.unchecked_transaction()?;
            let mut select =
                snapshot.prepare_cached("SELECT seq FROM trusted WHERE path = ? AND sha256 = ?")?;
            let Some(seq) = select.query_row(params![path, sha256.0], |row| row.get(0)).optional()? else {
                return Ok(false);
            };
            let body = read_entry(&snapshot, seq)?.parse_body()?;
            Ok(
                matches!(body, Some(EntryBody::Trusted(trusted)) if trusted.path == path && trusted.sha256 == sha256),
            )
        })
    }
}
