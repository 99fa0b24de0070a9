//! Opening and creating the database file.
//!
//! A new journal is created under a temporary name and then renamed. So no process ever sees a journal
//! without tables, and if several processes create one at once, the first name stays. Opening must be cheap, because a
//! front end is often a process for one call: it reads two header fields and makes four settings. Closing doesn't copy
//! the log to the main file: entries are as safe in the log, and each call saves two `fsync`s.

use std::fs;
use std::os::unix::fs::FileExt as _;
use std::path::Path;
use std::time::Duration;

use rusqlite::config::DbConfig;
use rusqlite::{Connection, OpenFlags};
use tracing::{info, warn};

use crate::error::Error;
use crate::new_file::{self, NewFile};
use crate::schema::{self, APPLICATION_ID, MIGRATIONS};

/// Name of the database file in the state folder. SQLite adds files with the suffixes `-wal` (the log) and `-shm`.
pub(crate) const FILE: &str = "journal.db";

/// Length of the log at which SQLite copies it to the main file; a call writes about ten pages. Copying costs two
/// `fsync`s. A longer log makes opening slower: the first process to open the journal reads the log, at a microsecond a
/// page. At this length the sum of both costs is least, on a disk that takes 2 ms for an `fsync`.
const LOG_MAX_PAGES: i64 = 300;

/// How many prepared statements a connection keeps. There are fewer, so that SQLite parses none of them twice.
const STATEMENT_CACHE_ENTRIES: usize = 64;

/// The longest that a call sleeps, on its own thread, while other connections write. Then it fails with [`Error::Busy`].
pub const BUSY_TIMEOUT: Duration = Duration::from_secs(10);

/// What survives a loss of power. The death of a process costs nothing with either.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum Durability {
    /// The file isn't damaged and the chain isn't broken, but the last entries before the loss may be missing.
    #[default]
    Process,
    /// Every entry is on the disk before the call that writes it returns.
    Power,
}

/// How many files SQLite holds open for a journal: the database, its log, and the log's index.
const SQLITE_FILES: usize = 3;

/// Memory of a connection for pages of the database, in KiB. The system caches the file as well, and servers run for days.
const CACHE_KIB: i32 = 512;

/// Longest path of the state folder. SQLite takes paths of up to 512 bytes, with file names and suffixes.
const FOLDER_MAX_BYTES: usize = 440;

/// The header of a file of SQLite, and where it has the numbers of version and application
/// (<https://www.sqlite.org/fileformat.html>).
const HEADER_BYTES: usize = 100;
const VERSION_OFFSET: usize = 60;
const APPLICATION_OFFSET: usize = 68;

/// Opens the journal in `folder` for writing, and creates it if it doesn't exist.
pub(crate) fn to_write(folder: &Path, durability: Durability) -> Result<Connection, Error> {
    if folder.as_os_str().len() > FOLDER_MAX_BYTES {
        let message = format!("the path of its folder is longer than {FOLDER_MAX_BYTES} bytes");
        return Err(Error::Unusable { message });
    }
    let path = folder.join(FILE);
    let mut connection = match connect(&path, OpenFlags::SQLITE_OPEN_READ_WRITE) {
        Err(Error::Absent { .. }) => {
            create(folder, &path)?;
            info!(path = %path.display(), "created the journal");
            connect(&path, OpenFlags::SQLITE_OPEN_READ_WRITE)?
        }
        other => other?,
    };
    if schema::version(&connection)? < schema::newest(MIGRATIONS) {
        schema::migrate(&mut connection, MIGRATIONS)?;
        info!(version = schema::newest(MIGRATIONS), "migrated the journal");
    }
    if connection.is_readonly(rusqlite::MAIN_DB)? {
        return Err(why_unwritable(&path));
    }
    connection.pragma_update(None, "wal_autocheckpoint", LOG_MAX_PAGES)?;
    if durability == Durability::Process {
        connection.pragma_update(None, "synchronous", "NORMAL")?;
    }
    Ok(connection)
}

/// Whether the database is there, and its first bytes are those of a journal of this version. If not, opening it says why, makes it
/// or brings it up to date. No connection of this process may be open: closing the file releases their locks.
pub(crate) fn is_ready(path: &Path) -> bool {
    let mut header = [0; HEADER_BYTES];
    let read = new_file::open_to_read(path).and_then(|file| file.read_exact_at(&mut header, 0));
    let number = |at: usize| {
        let bytes = header.get(at..)?.first_chunk::<4>()?;
        Some(i64::from(u32::from_be_bytes(*bytes)))
    };
    read.is_ok()
        && header.starts_with(b"SQLite format 3\0")
        && number(VERSION_OFFSET) == Some(schema::newest(MIGRATIONS))
        && number(APPLICATION_OFFSET) == Some(APPLICATION_ID)
}

/// Opens the journal in `folder` for reading.
pub(crate) fn to_read(folder: &Path) -> Result<Connection, Error> {
    connect(&folder.join(FILE), OpenFlags::SQLITE_OPEN_READ_ONLY)
}

fn connect(path: &Path, mode: OpenFlags) -> Result<Connection, Error> {
    // SQLite doesn't say why it can't open a file, so the system is asked. Before, not after: SQLite tries to open the
    // file for writing and then for reading, and would take a file that appears in between for a read-only one.
    let found = fs::metadata(path).map_err(|why| Error::from_io(path, &why))?;
    // Opening a named pipe would wait for a writer.
    if !found.is_file() {
        return Err(Error::NotAJournal { path: path.to_owned() });
    }
    // SQLite need not lock: the owner of a connection lets one thread use it at a time.
    let mut connection = Connection::open_with_flags(path, mode | OpenFlags::SQLITE_OPEN_NO_MUTEX)?;
    connection.set_prepared_statement_cache_capacity(STATEMENT_CACHE_ENTRIES);
    wait_for_writers(&mut connection)?;
    connection.set_db_config(DbConfig::SQLITE_DBCONFIG_NO_CKPT_ON_CLOSE, true)?;
    let application: i64 = connection
        .pragma_query_value(None, "application_id", |row| row.get(0))
        .map_err(|error| not_ours(path, error))?;
    let found = schema::version(&connection)?;
    if application != APPLICATION_ID {
        return Err(Error::NotAJournal { path: path.to_owned() });
    }
    if found > schema::newest(MIGRATIONS) {
        return Err(Error::Newer { found, known: schema::newest(MIGRATIONS) });
    }
    // After the file is known to be a journal: SQLite reads it for this, and its error would hide what the file is.
    connection.pragma_update(None, "cache_size", -CACHE_KIB)?;
    Ok(connection)
}

/// Has a connection wait while others write, for [`BUSY_TIMEOUT`] at most.
pub(crate) fn wait_for_writers(connection: &mut Connection) -> Result<(), Error> {
    Ok(connection.busy_handler(Some(wait_while_busy))?)
}

fn not_ours(path: &Path, error: rusqlite::Error) -> Error {
    match error.sqlite_error_code() {
        Some(rusqlite::ErrorCode::NotADatabase) => Error::NotAJournal { path: path.to_owned() },
        // SQLite can't open or create its log in this folder.
        Some(rusqlite::ErrorCode::CannotOpen) => why_unwritable(path),
        _ => error.into(),
    }
}

/// Why SQLite can't open the journal, or only for reading. SQLite doesn't say, so the system is asked. The file itself is not
/// opened: closing it would release the locks that other connections of this process have on it.
fn why_unwritable(path: &Path) -> Error {
    use rustix::fs::{Access, AtFlags, CWD, accessat};
    use rustix::io::Errno;
    let folder = path.parent().unwrap_or(path);
    let is_denied = |path: &Path| {
        let access = accessat(CWD, path, Access::WRITE_OK, AtFlags::EACCESS);
        access.is_err_and(|error| matches!(error, Errno::ROFS | Errno::ACCESS | Errno::PERM))
    };
    if is_denied(path) || is_denied(folder) {
        return Error::ReadOnly;
    }
    let mut held = Vec::new();
    for _ in 0..SQLITE_FILES {
        match fs::File::open(folder) {
            Ok(file) => held.push(file),
            Err(error) => return Error::from_io(folder, &error),
        }
    }
    Error::Unusable { message: format!("SQLite can't open `{}`", path.display()) }
}

/// SQLite calls this when another connection has the lock that it wants: `tries` says how often before, for the same lock.
/// Sleeps and has SQLite try again, until the pauses add up to [`BUSY_TIMEOUT`].
fn wait_while_busy(tries: i32) -> bool {
    let pause = busy_pause(tries);
    match pause {
        Some(pause) => std::thread::sleep(pause),
        None => warn!(tries, "the journal is busy"),
    }
    pause.is_some()
}

/// How long to sleep before the next try: briefly at first, because a transaction takes a tenth of a millisecond.
pub(crate) const fn busy_pause(tries: i32) -> Option<Duration> {
    // 20 × 0.1 ms + 98 × 1 ms + 1980 × 5 ms.
    match tries {
        0..20 => Some(Duration::from_micros(100)),
        20..118 => Some(Duration::from_millis(1)),
        118..2098 => Some(Duration::from_millis(5)),
        _ => None,
    }
}

fn create(folder: &Path, path: &Path) -> Result<(), Error> {
    let _turn = new_file::wait_for_turn(folder);
    if path.exists() {
        return Ok(());
    }
    new_file::remove_abandoned(folder);
    let file = NewFile::create(folder)?;
    let made = Connection::open_with_flags(file.path(), OpenFlags::SQLITE_OPEN_READ_WRITE);
    let mut connection = made.map_err(Error::from)?;
    connection.pragma_update(None, "journal_mode", "WAL")?;
    schema::migrate(&mut connection, MIGRATIONS)?;
    // Closing the last connection copies the log to the main file, but doesn't say when it can't, on a full disk. So the
    // log is copied before. No other connection knows this file: it is never busy.
    let _busy: i64 = connection.query_row("PRAGMA wal_checkpoint(TRUNCATE)", [], |row| row.get(0))?;
    connection.close().map_err(|(_, error)| error)?;
    match file.publish(path) {
        Ok(()) => {}
        Err(error) if error.kind() == std::io::ErrorKind::AlreadyExists => {}
        Err(error) => return Err(Error::from_io(path, &error)),
    }
    // So that the new name survives a loss of power.
    let synced = fs::File::open(folder).and_then(|folder| folder.sync_all());
    synced.map_err(|error| Error::from_io(folder, &error))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_pauses_add_up_to_the_timeout() {
        let pauses = (0..).map_while(busy_pause);
        assert_eq!(pauses.sum::<Duration>(), BUSY_TIMEOUT);
    }
}
