//! Grants: approvals that hold for more than one call.
//!
//! A grant is an entry, and so is its end before its time. The table `grants` has those that were not ended so. A grant whose
//! time is over stays in the table, because no process writes at that moment: its entry says when that was.

use rusqlite::{Connection, Params, params};

use crate::body::{
    EndedGrant, EntryBody, EntryKind, GrantEndCause, GrantId, Millis, QuestionId, SessionGrant,
};
use crate::chain::Writer;
use crate::entry::{COLUMNS, EntryRow};
use crate::error::Error;
use crate::journal::Journal;

/// How long a grant holds at most, in milliseconds: 12 hours.
pub const GRANT_LIFETIME_MS: Millis = 12 * 60 * 60 * 1000;

/// A grant that was not ended before its time.
#[derive(Clone, Debug, PartialEq)]
pub struct HeldGrant {
    /// Its number.
    pub id: GrantId,
    /// The execution whose question it answers.
    pub exec_id: String,
    /// The session that it holds in. A chat doesn't inherit its session's grants.
    pub session: String,
    /// When it was given.
    pub at: Millis,
    /// What it approves.
    pub grant: SessionGrant,
}

impl HeldGrant {
    /// When it ends, if no person and no stop ends it before.
    #[must_use]
    pub fn ends_at(&self) -> Millis {
        ends_at(self.at, &self.grant)
    }

    fn of(row: EntryRow) -> Result<Option<Self>, Error> {
        let Some(EntryBody::Grant(grant)) = row.parse_body()? else { return Ok(None) };
        let id = GrantId(row.origin());
        let (exec_id, session) = (row.exec_id.unwrap_or_default(), row.session.unwrap_or_default());
        Ok(Some(Self { id, exec_id, session, at: row.at, grant }))
    }
}

/// When a grant that was given at `at` ends, if no person and no stop ends it before.
pub(crate) fn ends_at(at: Millis, grant: &SessionGrant) -> Millis {
    grant.expires_at.unwrap_or_else(|| at.saturating_add(GRANT_LIFETIME_MS))
}

impl EntryKind {
    /// Whether an entry of this kind is about a grant, which can outlive its execution.
    pub(crate) fn is_of_grant(self) -> bool {
        matches!(self, Self::Grant | Self::GrantEnded)
    }
}

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
    ) -> Result<Vec<HeldGrant>, Error> {
        let mut found = self.read(|connection| held(connection, "WHERE session = ?", [session], now))?;
        found.retain(|held| held.grant.root == root && held.grant.directory == directory);
        Ok(found)
    }

    /// All grants that hold at `now`, oldest first.
    ///
    /// # Errors
    /// When the journal can't be read.
    pub fn grants_in_force(&self, now: Millis) -> Result<Vec<HeldGrant>, Error> {
        self.read(|connection| held(connection, "", [], now))
    }

    /// Ends the grants that hold at `now` and that `wanted` chooses. Returns them.
    ///
    /// # Errors
    /// When the journal can't be read or written. Then none has ended.
    pub fn end_grants(
        &self,
        now: Millis,
        cause: GrantEndCause,
        by: &str,
        wanted: impl Fn(&HeldGrant) -> bool,
    ) -> Result<Vec<HeldGrant>, Error> {
        // Most sessions have none: then no other process is waited for.
        if !self.grants_in_force(now)?.iter().any(&wanted) {
            return Ok(Vec::new());
        }
        self.write(|writer| {
            let mut ended = held(writer.connection, "", [], now)?;
            ended.retain(&wanted);
            for held in &ended {
                end(writer, held, cause, by)?;
            }
            Ok(ended)
        })
    }

    /// How a grant ended before its time, and when. `None`: it didn't, or the journal has no such grant.
    ///
    /// # Errors
    /// When the journal can't be read.
    pub fn grant_end(&self, id: GrantId) -> Result<Option<(Millis, EndedGrant)>, Error> {
        let connection = self.reader()?;
        let select = format!("SELECT {COLUMNS} FROM entries WHERE kind = ? AND body IS NOT NULL");
        let mut statement = connection.prepare(&select)?;
        for row in statement.query_map([EntryKind::GrantEnded], EntryRow::read)? {
            let row = row?;
            if let Some(EntryBody::GrantEnded(ended)) = row.parse_body()?
                && ended.grant == id
            {
                return Ok(Some((row.at, ended)));
            }
        }
        Ok(None)
    }
}

/// The grants that hold at `now` among the rows of `grants` that a condition chooses.
fn held(
    connection: &Connection,
    condition: &str,
    parameters: impl Params,
    now: Millis,
) -> Result<Vec<HeldGrant>, Error> {
    let select = format!(
        "SELECT {COLUMNS} FROM entries WHERE body IS NOT NULL
           AND seq IN (SELECT seq FROM grants {condition}) ORDER BY coalesce(carried, seq)"
    );
    let mut statement = connection.prepare_cached(&select)?;
    let mut found = Vec::new();
    for row in statement.query_map(parameters, EntryRow::read)? {
        found.extend(HeldGrant::of(row?)?.filter(|held| now < held.ends_at()));
    }
    Ok(found)
}

fn end(writer: &mut Writer<'_>, held: &HeldGrant, cause: GrantEndCause, by: &str) -> Result<(), Error> {
    let body = EntryBody::GrantEnded(EndedGrant { grant: held.id, cause, by: by.to_owned() });
    writer.append_body(Some(&held.exec_id), Some(&held.session), &body)?;
    let delete = "DELETE FROM grants WHERE seq IN
                    (SELECT seq FROM entries WHERE exec_id = ? AND coalesce(carried, seq) = ?)";
    writer.connection.prepare_cached(delete)?.execute(params![held.exec_id, held.id.0])?;
    Ok(())
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
