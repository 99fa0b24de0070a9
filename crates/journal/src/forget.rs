//! Removing the content of one execution's entries when a person asks for it. The chain stays whole: hashes cover the
//! digest of the content, and a tombstone lists the emptied entries.

use rusqlite::params;

use crate::body::{EntryBody, Tombstone};
use crate::error::Error;
use crate::execution::{require_row, set_status};
use crate::hash::Head;
use crate::journal::Journal;
use crate::status::Status;

/// What forgetting an execution removed.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct ForgetReport {
    /// The entry of the tombstone.
    pub head: Head,
    /// How many entries lost their content.
    pub entries: usize,
    /// Whether the content is gone from the files too. If another connection was reading, or a file could not be written,
    /// it is not: it goes when the log is next copied to the main file.
    pub erased: bool,
}

impl Journal {
    /// Removes the content of every entry about an execution. Its grants end with it. The caller deletes the spooled
    /// output.
    ///
    /// # Errors
    /// When the execution isn't known or hasn't ended, or the journal can't be written.
    pub fn forget(&self, id: &str, by: &str) -> Result<ForgetReport, Error> {
        let mut connection = self.lock();
        // SQLite overwrites the freed bytes, instead of only marking them as free.
        connection.pragma_update(None, "secure_delete", true)?;
        let forgotten = self.write_with(&mut connection, |writer| {
            let row = require_row(writer, id)?;
            if row.status.is_open() {
                return Err(Error::StillOpen { id: id.to_owned(), status: row.status });
            }
            if row.status == Status::Forgotten {
                return Err(Error::UnknownExecution { id: id.to_owned() });
            }
            let entries = {
                let select = "SELECT seq FROM entries WHERE exec_id = ? AND body IS NOT NULL
                                AND kind <> 'tombstone' ORDER BY seq";
                let mut statement = writer.connection.prepare(select)?;
                statement.query_map([id], |row| row.get(0))?.collect::<Result<Vec<u64>, _>>()?
            };
            for derived in [
                "DELETE FROM grants WHERE seq IN (SELECT seq FROM entries WHERE exec_id = ?)",
                "DELETE FROM questions WHERE exec_id = ?",
                "UPDATE entries SET body = NULL, salt = NULL WHERE exec_id = ? AND kind <> 'tombstone'",
            ] {
                writer.connection.execute(derived, [id])?;
            }
            let count = entries.len();
            let tombstone = EntryBody::Tombstone(Tombstone { entries, by: by.to_owned() });
            let head = writer.append_body(Some(id), Some(&row.session), &tombstone)?;
            set_status(writer, id, Status::Forgotten)?;
            Ok((head, count))
        });
        // From here on the execution is forgotten, whatever fails. A connection that goes on overwriting is only slower.
        let _ = connection.pragma_update(None, "secure_delete", false);
        let (head, entries) = forgotten?;
        // The log still holds the old pages: it is copied to the main file and emptied. If it can't be, that is done later.
        let busy = connection.query_row("PRAGMA wal_checkpoint(TRUNCATE)", params![], |row| row.get(0));
        Ok(ForgetReport { head, entries, erased: busy.is_ok_and(|busy: i64| busy == 0) })
    }
}
