//! Opening and making the file.
//!
//! A journal comes into being whole: it is made under another name and then linked to its own, so nobody ever sees one
//! without tables, and of several processes that make one at once the first wins. After that opening must be cheap,
//! because a front end is often a process for one call: two header fields are read and four settings made. Nothing is
//! written back to the main file on closing; the log is as good a place, and the next hundred calls are spared two
//! `fsync`s each.

use std::fs::{self, OpenOptions};
use std::os::unix::fs::{OpenOptionsExt as _, PermissionsExt as _};
use std::path::{Path, PathBuf};
use std::time::Duration;

use rusqlite::config::DbConfig;
use rusqlite::{Connection, OpenFlags};

use crate::error::Error;
use crate::hash::hex;
use crate::schema::{self, APPLICATION, STEPS};

/// The file in the state folder. SQLite puts `-wal` and `-shm` beside it.
pub(crate) const FILE: &str = "journal.db";

/// Pages in the log before they are copied to the main file; a call writes about ten. Whoever opens the journal when
/// nobody else has it open reads the log, at a microsecond a page; each copying costs two `fsync`s. This is where the
/// sum of both is least on a disk that takes 2 ms for one.
const LOG_PAGES: i64 = 300;

/// How many prepared statements a connection keeps. There are fewer, so that SQLite parses none of them twice.
const STATEMENT_CACHE_ENTRIES: usize = 64;

/// The longest that a call sleeps, on its own thread, while other connections write. Then it fails with [`Error::Busy`].
pub const BUSY_TIMEOUT: Duration = Duration::from_secs(10);

/// What is safe after a loss of power. After the death of a process everything is, in both.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum Durability {
    /// No damage and no broken chain, but the last entries before it may be missing.
    #[default]
    Process,
    /// Every entry is on the disk before its call returns.
    Power,
}

/// The longest path of a folder that SQLite can work in: 512 bytes in all, with the names that we and it put behind.
const LONGEST_FOLDER: usize = 440;

/// Opens the journal in `folder`, and makes it when it isn't there.
pub(crate) fn to_write(folder: &Path, durability: Durability) -> Result<Connection, Error> {
    if folder.as_os_str().len() > LONGEST_FOLDER {
        let message = format!("the path of its folder is longer than {LONGEST_FOLDER} bytes");
        return Err(Error::Unusable { message });
    }
    let path = folder.join(FILE);
    let mut connection = match connect(&path, OpenFlags::SQLITE_OPEN_READ_WRITE) {
        Err(Error::Absent { .. }) => {
            create(folder, &path)?;
            connect(&path, OpenFlags::SQLITE_OPEN_READ_WRITE)?
        }
        other => other?,
    };
    if schema::version(&connection)? < schema::newest(STEPS) {
        schema::migrate(&mut connection, STEPS)?;
    }
    if connection.is_readonly(rusqlite::MAIN_DB)? {
        return Err(Error::ReadOnly);
    }
    connection.pragma_update(None, "wal_autocheckpoint", LOG_PAGES)?;
    if durability == Durability::Process {
        connection.pragma_update(None, "synchronous", "NORMAL")?;
    }
    Ok(connection)
}

/// Opens the journal in `folder` for reading.
pub(crate) fn to_read(folder: &Path) -> Result<Connection, Error> {
    connect(&folder.join(FILE), OpenFlags::SQLITE_OPEN_READ_ONLY)
}

fn connect(path: &Path, mode: OpenFlags) -> Result<Connection, Error> {
    // SQLite doesn't say why it can't open a file; the system does. It is asked before, not after: a file that comes between
    // SQLite's try to write it and the next to read it would be taken for one that can only be read.
    fs::metadata(path).map_err(|why| Error::from_io(path, &why))?;
    // A connection is used by one thread at a time, which its owner sees to: SQLite need not lock.
    let mut connection = Connection::open_with_flags(path, mode | OpenFlags::SQLITE_OPEN_NO_MUTEX)?;
    connection.set_prepared_statement_cache_capacity(STATEMENT_CACHE_ENTRIES);
    connection.busy_handler(Some(wait_while_busy))?;
    connection.set_db_config(DbConfig::SQLITE_DBCONFIG_NO_CKPT_ON_CLOSE, true)?;
    let application: i64 = connection
        .pragma_query_value(None, "application_id", |row| row.get(0))
        .map_err(|error| not_ours(path, error))?;
    let found = schema::version(&connection)?;
    if application != APPLICATION {
        return Err(Error::NotAJournal { path: path.to_owned() });
    }
    if found > schema::newest(STEPS) {
        return Err(Error::Newer { found, known: schema::newest(STEPS) });
    }
    Ok(connection)
}

fn not_ours(path: &Path, error: rusqlite::Error) -> Error {
    match error.sqlite_error_code() {
        Some(rusqlite::ErrorCode::NotADatabase) => Error::NotAJournal { path: path.to_owned() },
        // A folder that takes no log beside the file.
        Some(rusqlite::ErrorCode::CannotOpen) => Error::ReadOnly,
        _ => error.into(),
    }
}

/// SQLite calls this when another connection has the lock that it wants: `tries` says how often before, for the same lock.
/// Sleeps and has SQLite try again, until the pauses add up to [`BUSY_TIMEOUT`].
fn wait_while_busy(tries: i32) -> bool {
    let pause = busy_pause(tries);
    if let Some(pause) = pause {
        std::thread::sleep(pause);
    }
    pause.is_some()
}

/// How long to sleep before the next try: briefly at first, because a transaction takes a tenth of a millisecond.
const fn busy_pause(tries: i32) -> Option<Duration> {
    // 20 × 0.1 ms + 98 × 1 ms + 1980 × 5 ms.
    match tries {
        0..20 => Some(Duration::from_micros(100)),
        20..118 => Some(Duration::from_millis(1)),
        118..2098 => Some(Duration::from_millis(5)),
        _ => None,
    }
}

fn create(folder: &Path, path: &Path) -> Result<(), Error> {
    let draft = TemporaryFile::new(folder)?;
    let made = Connection::open_with_flags(&draft.0, OpenFlags::SQLITE_OPEN_READ_WRITE);
    let mut connection = made.map_err(Error::from)?;
    connection.pragma_update(None, "journal_mode", "WAL")?;
    schema::migrate(&mut connection, STEPS)?;
    // Closing the last connection copies the log to the main file, but doesn't say when it can't, on a full disk. So the
    // log is copied before. No other connection knows this file: it is never busy.
    let _busy: i64 = connection.query_row("PRAGMA wal_checkpoint(TRUNCATE)", [], |row| row.get(0))?;
    connection.close().map_err(|(_, error)| error)?;
    match fs::hard_link(&draft.0, path) {
        Ok(()) => {}
        Err(error) if error.kind() == std::io::ErrorKind::AlreadyExists => {}
        Err(error) => return Err(Error::from_io(path, &error)),
    }
    // The name too is to survive a loss of power.
    let synced = fs::File::open(folder).and_then(|folder| folder.sync_all());
    synced.map_err(|error| Error::from_io(folder, &error))
}

/// A file of our own under a name that nobody else uses, removed with all that SQLite puts beside it.
struct TemporaryFile(PathBuf);

impl TemporaryFile {
    fn new(folder: &Path) -> Result<Self, Error> {
        let path = folder.join(format!("{FILE}.new-{}", hex(&crate::chain::salt()?)));
        let made = OpenOptions::new().write(true).create_new(true).mode(0o600).open(&path);
        let made = made.map_err(|error| match error.kind() {
            std::io::ErrorKind::NotFound => Error::Absent { path: folder.to_owned() },
            _ => Error::from_io(&path, &error),
        })?;
        // The mode again, because our mask may take away even our own rights.
        let draft = Self(path);
        let mode = fs::Permissions::from_mode(0o600);
        made.set_permissions(mode).map_err(|error| Error::from_io(&draft.0, &error))?;
        Ok(draft)
    }
}

impl Drop for TemporaryFile {
    fn drop(&mut self) {
        for beside in ["", "-wal", "-shm", "-journal"] {
            let mut name = self.0.clone().into_os_string();
            name.push(beside);
            // Most of these don't exist. One that can't be removed is an unused file in the state folder.
            let _ = fs::remove_file(name);
        }
    }
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
