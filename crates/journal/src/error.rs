//! Errors, as types: a caller can refuse a command before it starts and say why.

use std::io;
use std::path::{Path, PathBuf};

use rusqlite::ErrorCode;

use crate::body::{EntryKind, QuestionId};
use crate::status::Status;

/// Why a call failed. The failed transaction wrote nothing.
#[derive(Debug, thiserror::Error)]
pub enum Error {
    /// The disk is full.
    #[error("the journal can't be written: the disk is full")]
    Full,
    /// The file or its folder is read-only.
    #[error("the journal can't be written: it is read-only")]
    ReadOnly,
    /// Other processes kept writing for longer than [`BUSY_TIMEOUT`](crate::BUSY_TIMEOUT).
    #[error("the journal is busy: other processes have kept writing for {} s", crate::BUSY_TIMEOUT.as_secs())]
    Busy,
    /// The journal doesn't exist.
    #[error("there is no journal at `{}`", path.display())]
    Absent {
        /// The file.
        path: PathBuf,
    },
    /// A newer shellgate wrote the journal.
    #[error(
        "the journal has version {found}, and this shellgate knows versions up to {known}: use a newer shellgate"
    )]
    Newer {
        /// Its version.
        found: i64,
        /// The newest version that this shellgate knows.
        known: i64,
    },
    /// Another file is in its place.
    #[error("`{}` is not a journal", path.display())]
    NotAJournal {
        /// The file.
        path: PathBuf,
    },
    /// The file is damaged.
    #[error("the journal is damaged: {message}")]
    Damaged {
        /// What is wrong with it.
        message: String,
    },
    /// The system refused to read or write.
    #[error("the journal can't be used: {message}")]
    Unusable {
        /// What the system said.
        message: String,
    },
    /// The output of the export failed.
    #[error("the export can't be written: {0}")]
    Export(io::Error),
    /// The journal has no such execution.
    #[error("no execution `{id}` is in the journal")]
    UnknownExecution {
        /// The name.
        id: String,
    },
    /// The journal has an execution of this name already.
    #[error("an execution `{id}` is in the journal already")]
    DuplicateExecution {
        /// The name.
        id: String,
    },
    /// The entry can't follow the ones that the execution has.
    #[error("execution `{id}` is {status}: `{kind}` can't follow")]
    IllegalMove {
        /// The execution.
        id: String,
        /// The state of the execution.
        status: Status,
        /// The kind of the entry.
        kind: EntryKind,
    },
    /// The execution runs, or may still start.
    #[error("execution `{id}` is {status}: only what has ended can be forgotten")]
    StillOpen {
        /// The execution.
        id: String,
        /// The state of the execution.
        status: Status,
    },
    /// The journal has no such question.
    #[error("no question `{0}` is in the journal")]
    UnknownQuestion(QuestionId),
}

impl Error {
    pub(crate) fn damaged(message: impl ToString) -> Self {
        Self::Damaged { message: message.to_string() }
    }

    /// The error that the system gave for a file or folder.
    pub(crate) fn from_io(path: &Path, error: &io::Error) -> Self {
        match error.kind() {
            io::ErrorKind::StorageFull | io::ErrorKind::QuotaExceeded => Self::Full,
            io::ErrorKind::ReadOnlyFilesystem | io::ErrorKind::PermissionDenied => Self::ReadOnly,
            io::ErrorKind::NotFound => Self::Absent { path: path.to_owned() },
            _ => Self::Unusable { message: format!("`{}`: {error}", path.display()) },
        }
    }
}

impl From<rusqlite::Error> for Error {
    fn from(error: rusqlite::Error) -> Self {
        match error.sqlite_error_code() {
            Some(ErrorCode::DiskFull) => Self::Full,
            Some(ErrorCode::ReadOnly) => Self::ReadOnly,
            Some(ErrorCode::DatabaseBusy | ErrorCode::DatabaseLocked) => Self::Busy,
            Some(ErrorCode::DatabaseCorrupt | ErrorCode::NotADatabase) => Self::damaged(error),
            Some(_) => Self::Unusable { message: error.to_string() },
            // A value in the database has another type than the one that is written there.
            None => Self::damaged(error),
        }
    }
}

impl From<serde_json::Error> for Error {
    fn from(error: serde_json::Error) -> Self {
        Self::damaged(format_args!("a body can't be read: {error}"))
    }
}
