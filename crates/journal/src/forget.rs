//! Removing what one execution said and did, on a person's word. The chain stays whole: hashes cover the digest of the
//! content, and a tombstone says what is missing.

use rusqlite::params;

use crate::body::{EntryBody, Tombstone};
use crate::error::Error;
use crate::execution::{advance_status, expect};
use crate::hash::Head;
use crate::journal::{self, Journal};
use crate::status::Status;

/// What was forgotten.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct ForgetReport {
    /// The tombstone.
    pub head: Head,
    /// How many entries lost their content.
    pub entries: usize,
    /// Whether the content is gone from the files too. If not, because somebody was reading, it goes when the log is
    /// next written back.
    pub erased: bool,
}

impl Journal {
    /// Removes the content of every entry about an execution, its grants included: they hold no longer. The spooled
    /// output is the caller's to delete.
    ///
    /// # Errors
    /// When it isn't known, hasn't ended, or the journal can't be written.
    pub fn forget(&self, id: &str, by: &str) -> Result<ForgetReport, Error> {
        let mut connection = self.lock();
        // Freed bytes are overwritten, not only marked as free.
        connection.pragma_update(None, "secure_delete", true)?;
        let forgotten = journal::write(&mut connection, |writer| {
            let known = expect(writer, id)?;
            if known.status.is_open() {
                return Err(Error::StillOpen { id: id.to_owned(), status: known.status });
            }
            if known.status == Status::Forgotten {
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
            let head = writer.append_body(Some(id), Some(&known.session), &tombstone)?;
            advance_status(writer, id, Status::Forgotten)?;
            Ok((head, count))
        });
        connection.pragma_update(None, "secure_delete", false)?;
        let (head, entries) = forgotten?;
        // The log still has the old pages.
        let busy: i64 =
            connection.query_row("PRAGMA wal_checkpoint(TRUNCATE)", params![], |row| row.get(0))?;
        Ok(ForgetReport { head, entries, erased: busy == 0 })
    }
}
