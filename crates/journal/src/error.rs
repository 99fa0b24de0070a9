//! What can go wrong, as types, so that a caller can refuse a command before it starts and say why.

use std::io;
use std::path::{Path, PathBuf};

use rusqlite::ErrorCode;

use crate::body::{EntryKind, QuestionId};
use crate::status::Status;

/// Why the journal did not do what it was asked. Nothing was written then.
#[derive(Debug, thiserror::Error)]
pub enum Error {
    /// There is no room left.
    #[error("the journal can't be written: the disk is full")]
    Full,
    /// It may not be written.
    #[error("the journal can't be written: it is read-only")]
    ReadOnly,
    /// Others wrote for longer than we waited.
    #[error("the journal is in use by others for too long")]
    Busy,
    /// There is no journal to read.
    #[error("there is no journal at `{}`", path.display())]
    Absent {
        /// Where it was looked for.
        path: PathBuf,
    },
    /// A newer shellgate made it.
    #[error(
        "the journal has version {found}, and this shellgate knows versions up to {known}: use a newer shellgate"
    )]
    Newer {
        /// Its version.
        found: i64,
        /// The newest version that we know.
        known: i64,
    },
    /// Something else is in its place.
    #[error("`{}` is not a journal", path.display())]
    NotAJournal {
        /// The file.
        path: PathBuf,
    },
    /// The file is damaged.
    #[error("the journal is damaged: {message}")]
    Damaged {
        /// What was found.
        message: String,
    },
    /// The system refused to read or write.
    #[error("the journal can't be used: {message}")]
    Unusable {
        /// What it said.
        message: String,
    },
    /// The export could not be written to where it was to go.
    #[error("the export can't be written: {0}")]
    Export(io::Error),
    /// No such execution.
    #[error("no execution `{id}` is in the journal")]
    UnknownExecution {
        /// The name.
        id: String,
    },
    /// The name is taken.
    #[error("an execution `{id}` is in the journal already")]
    DuplicateExecution {
        /// The name.
        id: String,
    },
    /// An entry that can't follow.
    #[error("execution `{id}` is {status}: `{kind}` can't follow")]
    IllegalMove {
        /// The execution.
        id: String,
        /// Where it stands.
        status: Status,
        /// What was to be added.
        kind: EntryKind,
    },
    /// It runs, or may still start.
    #[error("execution `{id}` is {status}: only what has ended can be forgotten")]
    StillOpen {
        /// The execution.
        id: String,
        /// Where it stands.
        status: Status,
    },
    /// No such question.
    #[error("no question `{0}` is in the journal")]
    UnknownQuestion(QuestionId),
}

impl Error {
    pub(crate) fn damaged(message: impl ToString) -> Self {
        Self::Damaged { message: message.to_string() }
    }

    /// What the system said about a file or folder.
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
            // What was stored is not of the type that we store.
            None => Self::damaged(error),
        }
    }
}

impl From<serde_json::Error> for Error {
    fn from(error: serde_json::Error) -> Self {
        Self::damaged(format_args!("a body can't be read: {error}"))
    }
}
