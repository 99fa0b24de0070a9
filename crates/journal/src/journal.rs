//! The handle to an open journal, and its transactions.

use std::collections::HashMap;
use std::os::unix::fs::MetadataExt as _;
use std::path::{Path, PathBuf};
use std::sync::{Mutex, MutexGuard, PoisonError, TryLockError};
use std::time::SystemTime;

use rusqlite::Connection;
use tracing::warn;

use crate::body::{EntryBody, Gap, Millis};
use crate::chain::{self, Writer};
use crate::enter::enter_all;
use crate::error::Error;
use crate::hash::Head;
use crate::head_file::HeadFile;
use crate::log::{self, Log};
use crate::long_log;
use crate::open::{self, Durability};

/// An open journal.
///
/// Threads may share it. Quick calls use one connection behind a mutex: SQLite lets one writer in at a time anyway, and a
/// second connection would cost every one-shot process that never uses it. Slow reads (history, verifying, exporting)
/// open a connection for each call, so that they never hold up a writer.
///
/// Don't carry an open journal across a `fork`: open it in the child.
///
/// # Which calls may block
///
/// | calls | wait for | at most |
/// |---|---|---|
/// | `begin` with steps, and the `append` of an end: a line of the log | those who write the log, and those who write the database while they enter it | the same |
/// | every other call that writes: `begin`, `append`, `enter`, `note`, `ask`, `answer`, `cancel`, `time_out`, `expire`, `end_grants`, `trust` | the writers of other processes, and those threads of this one that came before | [`BUSY_TIMEOUT`](crate::BUSY_TIMEOUT) each, then [`Error::Busy`] |
/// | `open`, `open_with`, `open_read_only` | a process that brings the journal to a newer version, or repairs its log after a crash | the same |
/// | `prune` | as a call that writes, once per batch of entries | the same, per batch |
/// | `forget` | as a call that writes, and then for readers to end | the same, twice |
/// | `head`, `poll_answer`, `grants`, `grants_in_force`, `is_trusted` | no other process or thread; some microseconds | |
/// | `history`, `execution`, `open_executions`, `names`, `entries_of`, `pending`, `grant_end`, `verify`, `export` | as a call that writes, if the log has lines; else no other process or thread, but they read as much as they are asked for | |
///
/// Other writers usually take a tenth of a millisecond. With [`Durability::Power`], and once in about thirty calls with
/// [`Durability::Process`], a call that writes also waits for the disk. Where processes read all the time, one call in some
/// hundred also waits for readers, half a second at most. So a thread that must stay responsive, such as the one that runs an
/// event loop, leaves the first five rows to another thread.
#[derive(Debug)]
pub struct Journal {
    pub(crate) folder: PathBuf,
    connection: Mutex<Connection>,
    /// `None`: the journal is open for reading. Locked by those who have the connection.
    writing: Option<Mutex<Writing>>,
    /// `None`: the journal is open for reading.
    log: Option<Log>,
    /// Whether the entries of starts and ends are written to the log first.
    is_log_first: bool,
    /// The executions that this journal has begun in the log, and that have no end yet, with their sessions.
    pub(crate) running: Mutex<HashMap<String, String>>,
}

/// What belongs to the connection of a journal that is open for writing.
#[derive(Debug)]
struct Writing {
    durability: Durability,
    kept_head: HeadFile,
    /// Device and inode of the database. `None`: it was not opened yet.
    file: Option<(u64, u64)>,
    /// The last transaction failed in SQLite. Its connection may have kept a lock that it could not release.
    has_failed: bool,
}

impl Writing {
    fn open(folder: &Path, durability: Durability) -> Result<(Connection, Self), Error> {
        let connection = open::to_write(folder, durability)?;
        let path = folder.join(open::FILE);
        let file = Some(identity(&path).map_err(|why| Error::from_io(&path, &why))?);
        Ok((connection, Self { durability, kept_head: HeadFile::open(folder)?, file, has_failed: false }))
    }

    /// Without a connection: [`reopen_if_needed`](Self::reopen_if_needed) makes the first.
    fn later(folder: &Path) -> Result<Self, Error> {
        let kept_head = HeadFile::open(folder)?;
        Ok(Self { durability: Durability::Process, kept_head, file: None, has_failed: false })
    }

    /// Opens the journal again if its file is not the one that was opened, or if the last transaction failed. Entries that are
    /// written to a file that was removed would be lost.
    fn reopen_if_needed(&mut self, folder: &Path, connection: &mut Connection) -> Result<(), Error> {
        if !self.has_failed && self.file.is_some() && identity(&folder.join(open::FILE)).ok() == self.file {
            return Ok(());
        }
        if self.has_failed || self.file.is_some() {
            warn!(folder = %folder.display(), self.has_failed, "opens the journal again");
        }
        // The old connection is closed first: SQLite keeps one state of the locks for all connections of a process to a file.
        self.has_failed = true;
        *connection = Connection::open_in_memory()?;
        (*connection, *self) = Self::open(folder, self.durability)?;
        Ok(())
    }
}

/// Whether this is a connection to a file. It is not between closing one and opening the next, if that fails.
fn is_open(connection: &Connection) -> bool {
    connection.path().is_some_and(|path| !path.is_empty())
}

fn identity(path: &Path) -> std::io::Result<(u64, u64)> {
    let metadata = std::fs::metadata(path)?;
    Ok((metadata.dev(), metadata.ino()))
}

impl Journal {
    /// Opens the journal in the state folder `folder`, and creates it if it doesn't exist.
    ///
    /// # Errors
    /// When the journal can't be written. Then a command that must be recorded may not start.
    pub fn open(folder: &Path) -> Result<Self, Error> {
        Self::open_with(folder, Durability::default())
    }

    /// Opens the journal as [`open`](Self::open) does, with a choice of what a loss of power may cost.
    ///
    /// # Errors
    /// As [`open`](Self::open).
    pub fn open_with(folder: &Path, durability: Durability) -> Result<Self, Error> {
        let (connection, writing) = Writing::open(folder, durability)?;
        Ok(Self {
            folder: folder.to_owned(),
            connection: Mutex::new(connection),
            writing: Some(Mutex::new(writing)),
            log: Some(Log::open(folder)?),
            // The database writes each entry to the disk, and the log doesn't.
            is_log_first: durability == Durability::Process,
            running: Mutex::default(),
        })
    }

    /// Opens the journal for a process that makes few calls: its database is opened when it is first needed, and a start and its
    /// end don't need it. Opening a database that no other process has open costs milliseconds, since SQLite reads its whole log.
    ///
    /// No other journal of this folder may be open in this process.
    ///
    /// # Errors
    /// As [`open`](Self::open).
    pub fn open_lazily(folder: &Path) -> Result<Self, Error> {
        if !open::is_ready(&folder.join(open::FILE)) {
            return Self::open(folder);
        }
        Ok(Self {
            folder: folder.to_owned(),
            connection: Mutex::new(Connection::open_in_memory()?),
            writing: Some(Mutex::new(Writing::later(folder)?)),
            log: Some(Log::open(folder)?),
            is_log_first: true,
            running: Mutex::default(),
        })
    }

    /// Opens the journal for reading, also where it can't be written. Calls that write fail with [`Error::ReadOnly`].
    ///
    /// # Errors
    /// When the journal doesn't exist or can't be read.
    pub fn open_read_only(folder: &Path) -> Result<Self, Error> {
        Ok(Self {
            folder: folder.to_owned(),
            connection: Mutex::new(open::to_read(folder)?),
            writing: None,
            log: None,
            is_log_first: false,
            running: Mutex::default(),
        })
    }

    /// The number and hash of the last entry. Keep it where those who can write the journal can't, and later pass it to
    /// [`verify_with_head`](Self::verify_with_head).
    ///
    /// # Errors
    /// When the journal can't be read.
    pub fn head(&self) -> Result<Head, Error> {
        match log::head_in(&self.folder) {
            Some(head) => Ok(head),
            None => self.read(chain::head),
        }
    }

    /// The log, if the journal is open for writing.
    pub(crate) fn log(&self) -> Option<&Log> {
        self.log.as_ref()
    }

    /// Whether a start can be recorded without waiting for another process or thread, as far as that is known at once.
    #[must_use]
    pub fn is_free(&self) -> bool {
        self.first_log().is_some_and(Log::is_free)
    }

    /// The log, if entries of starts and ends are written there first.
    pub(crate) fn first_log(&self) -> Option<&Log> {
        self.log().filter(|_| self.is_log_first)
    }

    /// The shared connection. Waits for threads that use it, which may wait for other processes.
    pub(crate) fn lock(&self) -> MutexGuard<'_, Connection> {
        // A panic in another thread left no transaction behind: dropping one rolls it back.
        self.connection.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// The shared connection, if no thread uses it.
    pub(crate) fn try_lock(&self) -> Option<MutexGuard<'_, Connection>> {
        self.connection.try_lock().ok().filter(|connection| is_open(connection))
    }

    /// Runs a quick read of what is entered: questions, grants and trust never wait in the log. It uses the shared connection, or a connection of its own while another thread has that one:
    /// a writer holds it for as long as it waits for other processes.
    /// Where the shared connection fails, another one may not: SQLite keeps a state of locks for each.
    pub(crate) fn read<T>(&self, work: impl Fn(&Connection) -> Result<T, Error>) -> Result<T, Error> {
        let shared = match self.connection.try_lock() {
            Ok(connection) if is_open(&connection) => Some(work(&connection)),
            Err(TryLockError::Poisoned(poisoned)) => Some(work(&poisoned.into_inner())),
            Ok(_) | Err(TryLockError::WouldBlock) => None,
        };
        match shared {
            Some(Ok(read)) => Ok(read),
            Some(Err(_)) | None => work(&open::to_read(&self.folder)?),
        }
    }

    /// A connection for a slow read of everything that is recorded.
    pub(crate) fn reader(&self) -> Result<Connection, Error> {
        match self.enter() {
            Ok(()) => open::to_read(&self.folder),
            Err(Error::Full | Error::ReadOnly) => self.copy_with_log(),
            Err(error) => Err(error),
        }
    }

    /// Runs `work` as one transaction: all of its entries are written, or none.
    pub(crate) fn write<T>(
        &self,
        work: impl FnOnce(&mut Writer<'_>) -> Result<T, Error>,
    ) -> Result<T, Error> {
        self.write_with(&mut self.lock(), work)
    }

    /// Runs `work` as one transaction of this connection.
    pub(crate) fn write_with<T>(
        &self,
        connection: &mut Connection,
        work: impl FnOnce(&mut Writer<'_>) -> Result<T, Error>,
    ) -> Result<T, Error> {
        let writing = self.writing.as_ref();
        let mut writing = writing.map(|writing| writing.lock().unwrap_or_else(PoisonError::into_inner));
        if let Some(writing) = &mut writing {
            writing.reopen_if_needed(&self.folder, connection)?;
        }
        let record = writing.as_ref().map(|writing| &writing.kept_head).zip(self.log());
        let written = Self::transact(connection, record, work);
        if let (Some(writing), Err(Error::Busy | Error::Unusable { .. } | Error::Damaged { .. })) =
            (&mut writing, &written)
        {
            writing.has_failed = true;
        }
        let (result, head) = written?;
        if let (Some(writing), Err(error)) = (&mut writing, long_log::empty(&self.folder, connection, head)) {
            // The entry is written.
            warn!(%error, "the log can't be emptied");
            writing.has_failed = true;
        }
        Ok(result)
    }

    /// Returns the result of `work`, and the last entry.
    fn transact<T>(
        connection: &mut Connection,
        record: Option<(&HeadFile, &Log)>,
        work: impl FnOnce(&mut Writer<'_>) -> Result<T, Error>,
    ) -> Result<(T, Head), Error> {
        let transaction = Transaction::begin(connection)?;
        let (kept_head, mut log) = match record {
            Some((kept, log)) => (Some(kept), Some(log.lock()?)),
            None => (None, None),
        };
        let mut writer = Writer::new(transaction.0, now())?;
        let is_relinked = log.as_ref().map_or(Ok(false), |log| enter_all(&mut writer, log.lines()))?;
        let lost = kept_head.filter(|_| !is_relinked).and_then(|kept| kept.lost_head(writer.head()));
        if let Some(Head { seq, hash }) = lost {
            warn!(from = writer.head().seq + 1, through = seq, "entries of the record were lost");
            writer.append_body(None, None, &EntryBody::Gap(Gap { through: seq, hash }))?;
        }
        let result = work(&mut writer)?;
        let head = writer.head();
        writer.finish()?;
        transaction.commit()?;
        if let Some(kept) = kept_head {
            kept.keep(head, lost.is_some() || is_relinked);
        }
        if let Some(log) = log.as_mut().filter(|log| !log.is_empty()) {
            log.empty();
        }
        Ok((result, head))
    }
}

/// A transaction that is rolled back unless it was committed. Unlike rusqlite's own it uses prepared statements, so that
/// SQLite doesn't parse `BEGIN` and `COMMIT` for every call.
struct Transaction<'a>(&'a Connection);

impl<'a> Transaction<'a> {
    fn begin(connection: &'a mut Connection) -> Result<Self, Error> {
        // Immediate: SQLite refuses a transaction that has read, if another connection wrote before its first write.
        connection.prepare_cached("BEGIN IMMEDIATE")?.execute([])?;
        Ok(Self(connection))
    }

    fn commit(self) -> Result<(), Error> {
        self.0.prepare_cached("COMMIT")?.execute([])?;
        Ok(())
    }
}

impl Drop for Transaction<'_> {
    fn drop(&mut self) {
        if !self.0.is_autocommit() {
            // After a serious error SQLite has rolled back by itself, and then this fails.
            let _ = self.0.execute_batch("ROLLBACK");
        }
    }
}

/// The current time, as it is written to entries.
pub(crate) fn now() -> Millis {
    let since = SystemTime::now().duration_since(SystemTime::UNIX_EPOCH).unwrap_or_default();
    Millis::try_from(since.as_millis()).unwrap_or(Millis::MAX)
}

#[cfg(test)]
mod tests {
    use std::sync::TryLockError;

    use rusqlite::Connection;

    use super::Journal;
    use crate::open::FILE;

    #[test]
    fn quick_reads_go_on_where_the_shared_connection_fails() {
        let folder = tempfile::tempdir().unwrap();
        let journal = Journal::open(folder.path()).unwrap();
        journal.note(None, "first").unwrap();
        // One of another file has no entries.
        *journal.connection.lock().unwrap() = Connection::open(folder.path().join("other")).unwrap();
        assert_eq!(journal.head().unwrap().seq, 1);
        assert!(!journal.is_trusted("/x", crate::Sha::NONE).unwrap());
    }

    #[test]
    fn quick_reads_do_not_wait_for_a_thread_that_waits_to_write() {
        let folder = tempfile::tempdir().unwrap();
        let journal = Journal::open(folder.path()).unwrap();
        journal.note(None, "first").unwrap();
        let other = Connection::open(folder.path().join(FILE)).unwrap();
        other.execute_batch("BEGIN IMMEDIATE").unwrap();
        std::thread::scope(|scope| {
            let writer = scope.spawn(|| journal.note(None, "second"));
            while !matches!(journal.connection.try_lock(), Err(TryLockError::WouldBlock)) {
                std::thread::yield_now();
            }
            assert_eq!(journal.head().unwrap().seq, 1);
            assert!(!journal.is_trusted("/x", crate::Sha::NONE).unwrap());
            assert!(journal.grants("s", "/", ".", 0).unwrap().is_empty());
            // Reading waited for the writer if that has given up by now.
            assert!(!writer.is_finished());
            other.execute_batch("COMMIT").unwrap();
            writer.join().unwrap().unwrap();
        });
        assert_eq!(journal.head().unwrap().seq, 2);
    }
}
