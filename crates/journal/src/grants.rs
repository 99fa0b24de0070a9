//! Grants: approvals that hold for more than one call.

use rusqlite::params;

use crate::body::{EntryBody, EntryKind, Millis, QuestionId, SessionGrant};
use crate::chain::Writer;
use crate::error::Error;
use crate::journal::Journal;

impl Journal {
    /// The grants that hold at `now` in this session, root and directory. A chat doesn't inherit its session's grants.
    ///
    /// # Errors
    /// When the journal can't be read.
    pub fn grants(
        &self,
        session: &str,
        root: &str,
        directory: &str,
        now: Millis,
    ) -> Result<Vec<SessionGrant>, Error> {
        self.read(|connection| {
            let mut select = connection.prepare_cached(
                "SELECT body FROM entries JOIN grants USING (seq) WHERE grants.session = ? AND body IS NOT NULL",
            )?;
            let mut rows = select.query([session])?;
            let mut found = Vec::new();
            while let Some(row) = rows.next()? {
                if let EntryBody::Grant(grant) =
                    EntryBody::read(EntryKind::Grant, row.get_ref(0)?.as_str().map_err(Error::damaged)?)?
                    && grant.root == root
                    && grant.directory == directory
                    && grant.holds_at(now)
                {
                    found.push(grant);
                }
            }
            Ok(found)
        })
    }
}

impl SessionGrant {
    /// Whether it has not expired.
    #[must_use]
    pub fn holds_at(&self, now: Millis) -> bool {
        self.expires_at.is_none_or(|end| now < end)
    }
}

/// Appends the grants of an answer, for the session of its question.
pub(crate) fn grant(writer: &mut Writer<'_>, id: QuestionId, grants: Vec<SessionGrant>) -> Result<(), Error> {
    if grants.is_empty() {
        return Ok(());
    }
    let find = "SELECT id, session FROM executions WHERE id = (SELECT exec_id FROM questions WHERE id = ?)";
    let (exec_id, session): (String, String) =
        writer.connection.prepare_cached(find)?.query_row([id.0], |row| Ok((row.get(0)?, row.get(1)?)))?;
    for grant in grants {
        let head = writer.append_body(Some(&exec_id), Some(&session), &EntryBody::Grant(grant))?;
        let insert = "INSERT INTO grants (seq, session) VALUES (?, ?)";
        writer.connection.prepare_cached(insert)?.execute(params![head.seq, session])?;
    }
    Ok(())
}
