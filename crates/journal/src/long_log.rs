//! Empties a log that has grown long.
//!
//! SQLite copies the log to the main file as it goes, but begins the log anew only at a moment at which no connection reads
//! it. Where many processes read, there may be no such moment for hours. A long log takes disk space, and every process that
//! opens the journal first reads all of it.

use std::path::Path;
use std::time::Duration;

use rusqlite::Connection;
use tracing::debug;

use crate::error::Error;
use crate::hash::Head;
use crate::open;

/// Length from which the log is emptied: seven times the length at which SQLite copies it.
const LONG_LOG_BYTES: u64 = 8 << 20;

/// A try that finds readers makes other writers wait. So there is one try in about this many entries.
const ENTRIES_PER_TRY: u64 = 16;

/// How long a try waits for the readers of the old log. Readers that begin meanwhile don't use it.
const READERS_TIMEOUT: Duration = Duration::from_millis(100);

/// Empties the log after an entry was written, if the log is long and its readers end soon. Otherwise a later entry tries
/// again.
///
/// # Errors
/// When the log can't be copied or the connection can't be used any more. All entries are in the log or in the main file.
pub(crate) fn empty(folder: &Path, connection: &mut Connection, head: Head) -> Result<(), Error> {
    if !head.seq.is_multiple_of(ENTRIES_PER_TRY) {
        return Ok(());
    }
    let log = folder.join(format!("{}-wal", open::FILE));
    let bytes = std::fs::metadata(log).map_or(0, |metadata| metadata.len());
    if bytes < LONG_LOG_BYTES {
        return Ok(());
    }
    connection.busy_timeout(READERS_TIMEOUT)?;
    let busy = connection.query_row("PRAGMA wal_checkpoint(TRUNCATE)", [], |row| row.get::<_, i64>(0));
    open::wait_for_writers(connection)?;
    debug!(bytes, is_empty = matches!(busy, Ok(0)), "the log is long");
    busy?;
    Ok(())
}
