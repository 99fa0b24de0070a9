//! What stands until it ends: approvals for a session, and trust in a project's file.

use rusqlite::{OptionalExtension as _, params};

use crate::chain::Writer;
use crate::error::Error;
use crate::hash::{Head, Sha};
use crate::journal::Journal;
use crate::question::entry;
use crate::record::{Grant, Kind, Millis, QuestionId, Record, Trusted};

impl Journal {
    /// The grants that hold at `now` in this session, root and directory. A chat doesn't have its session's grants.
    ///
    /// # Errors
    /// When the journal can't be read.
    pub fn grants(
        &self,
        session: &str,
        root: &str,
        directory: &str,
        now: Millis,
    ) -> Result<Vec<Grant>, Error> {
        let connection = self.lock();
        let mut select = connection.prepare_cached(
            "SELECT body FROM entries JOIN grants USING (seq) WHERE grants.session = ? AND body IS NOT NULL",
        )?;
        let mut rows = select.query([session])?;
        let mut found = Vec::new();
        while let Some(row) = rows.next()? {
            if let Record::Grant(grant) =
                Record::read(Kind::Grant, row.get_ref(0)?.as_str().map_err(Error::damaged)?)?
                && grant.root == root
                && grant.directory == directory
                && grant.holds_at(now)
            {
                found.push(grant);
            }
        }
        Ok(found)
    }

    /// Records that a person trusts this content of this file.
    ///
    /// # Errors
    /// When it can't be written.
    pub fn trust(&self, trusted: Trusted) -> Result<Head, Error> {
        self.write(|writer| {
            let (path, sha256) = (trusted.path.clone(), trusted.sha256);
            let head = writer.append_record(None, None, &Record::Trusted(trusted))?;
            let insert = "INSERT OR REPLACE INTO trusted (path, sha256, seq) VALUES (?, ?, ?)";
            writer.connection.prepare_cached(insert)?.execute(params![path, sha256.0, head.seq])?;
            Ok(head)
        })
    }

    /// Whether a person trusts this content of this file. What the entry says counts, not the table that finds it.
    ///
    /// # Errors
    /// When the journal can't be read.
    pub fn is_trusted(&self, path: &str, sha256: Sha) -> Result<bool, Error> {
        let connection = self.lock();
        let mut select =
            connection.prepare_cached("SELECT seq FROM trusted WHERE path = ? AND sha256 = ?")?;
        let Some(seq) = select.query_row(params![path, sha256.0], |row| row.get(0)).optional()? else {
            return Ok(false);
        };
        let record = entry(&connection, seq)?.record()?;
        Ok(
            matches!(record, Some(Record::Trusted(trusted)) if trusted.path == path && trusted.sha256 == sha256),
        )
    }
}

impl Grant {
    /// Whether it has not ended.
    #[must_use]
    pub fn holds_at(&self, now: Millis) -> bool {
        self.expires_at.is_none_or(|end| now < end)
    }
}

/// Appends what an answer grants, for the session of its question.
pub(crate) fn grant(writer: &mut Writer<'_>, id: QuestionId, grants: Vec<Grant>) -> Result<(), Error> {
    if grants.is_empty() {
        return Ok(());
    }
    let find = "SELECT id, session FROM executions WHERE id = (SELECT exec_id FROM questions WHERE id = ?)";
    let (exec_id, session): (String, String) =
        writer.connection.prepare_cached(find)?.query_row([id.0], |row| Ok((row.get(0)?, row.get(1)?)))?;
    for grant in grants {
        let head = writer.append_record(Some(&exec_id), Some(&session), &Record::Grant(grant))?;
        let insert = "INSERT INTO grants (seq, session) VALUES (?, ?)";
        writer.connection.prepare_cached(insert)?.execute(params![head.seq, session])?;
    }
    Ok(())
}
