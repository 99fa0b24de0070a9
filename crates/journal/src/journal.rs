//! The handle.

use std::path::{Path, PathBuf};
use std::sync::{Mutex, MutexGuard, PoisonError};
use std::time::SystemTime;

use rusqlite::Connection;

use crate::body::Millis;
use crate::chain::{self, Writer};
use crate::error::Error;
use crate::hash::Head;
use crate::open::{self, Durability};

/// An open journal.
///
/// Threads may share it. What is quick (every append, and looking for an answer) goes through one connection behind a
/// lock: SQLite lets one writer in at a time anyway, and a second connection would cost every one-shot process that
/// never uses it. What may take long (history, verifying, exporting) opens a connection for itself, so that it never
/// holds up an append.
///
/// Don't carry an open journal across a `fork`: open it in the child.
#[derive(Debug)]
pub struct Journal {
    folder: PathBuf,
    connection: Mutex<Connection>,
}

impl Journal {
    /// Opens the journal in the state folder `folder`, and makes it when it isn't there.
    ///
    /// # Errors
    /// When it can't be written: no command may start then that must be recorded.
    pub fn open(folder: &Path) -> Result<Self, Error> {
        Self::open_with(folder, Durability::default())
    }

    /// The same, with a choice of what a loss of power may cost.
    ///
    /// # Errors
    /// As [`open`](Self::open).
    pub fn open_with(folder: &Path, durability: Durability) -> Result<Self, Error> {
        let connection = Mutex::new(open::to_write(folder, durability)?);
        Ok(Self { folder: folder.to_owned(), connection })
    }

    /// Opens a journal that is to be read only, also where it can't be written. Whatever would write fails with
    /// [`Error::ReadOnly`].
    ///
    /// # Errors
    /// When there is none, or it can't be read.
    pub fn open_read_only(folder: &Path) -> Result<Self, Error> {
        Ok(Self { folder: folder.to_owned(), connection: Mutex::new(open::to_read(folder)?) })
    }

    /// The last entry, to be kept where nobody who could change the journal can change it.
    ///
    /// # Errors
    /// When the journal can't be read.
    pub fn head(&self) -> Result<Head, Error> {
        chain::head(&self.lock())
    }

    /// The shared connection.
    pub(crate) fn lock(&self) -> MutexGuard<'_, Connection> {
        // A panic in another thread left no transaction behind: dropping one rolls it back.
        self.connection.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// A connection for something that takes its time.
    pub(crate) fn reader(&self) -> Result<Connection, Error> {
        open::to_read(&self.folder)
    }

    /// Runs `work` as one transaction that either happens wholly or not at all.
    pub(crate) fn write<T>(
        &self,
        work: impl FnOnce(&mut Writer<'_>) -> Result<T, Error>,
    ) -> Result<T, Error> {
        write(&mut self.lock(), work)
    }
}

pub(crate) fn write<T>(
    connection: &mut Connection,
    work: impl FnOnce(&mut Writer<'_>) -> Result<T, Error>,
) -> Result<T, Error> {
    let transaction = Transaction::begin(connection)?;
    let mut writer = Writer::new(transaction.0, now())?;
    let result = work(&mut writer)?;
    writer.finish()?;
    transaction.commit()?;
    Ok(result)
}

/// One that is rolled back unless it was committed. Every call makes two; rusqlite's own has SQLite read its words each time.
struct Transaction<'a>(&'a Connection);

impl<'a> Transaction<'a> {
    fn begin(connection: &'a mut Connection) -> Result<Self, Error> {
        // Immediate: a transaction that reads first and then wants to write can find that somebody else wrote between.
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

/// The time, as entries have it.
pub(crate) fn now() -> Millis {
    let since = SystemTime::now().duration_since(SystemTime::UNIX_EPOCH).unwrap_or_default();
    Millis::try_from(since.as_millis()).unwrap_or(Millis::MAX)
}
