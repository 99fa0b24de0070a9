//! The export: the entries as JSON lines, with everything that is needed to verify them elsewhere.

use std::io::Write;

use crate::entry::{COLUMNS, EntryRow};
use crate::error::Error;
use crate::journal::Journal;

impl Journal {
    /// Writes every entry as a line of JSON, oldest first. Memory use doesn't grow with the journal. Returns how many.
    ///
    /// # Errors
    /// When the journal can't be read or `out` can't be written.
    pub fn export(&self, out: &mut dyn Write) -> Result<u64, Error> {
        let connection = self.reader()?;
        let mut statement = connection.prepare(&format!("SELECT {COLUMNS} FROM entries ORDER BY seq"))?;
        let mut rows = statement.query([])?;
        let mut count = 0;
        while let Some(row) = rows.next()? {
            let mut line = serde_json::to_vec(&EntryRow::read(row)?)?;
            line.push(b'\n');
            out.write_all(&line).map_err(Error::Export)?;
            count += 1;
        }
        out.flush().map_err(Error::Export)?;
        Ok(count)
    }
}
