//! The ends of executions whose caller has gone: a file each, until a front end writes them into the record.
//!
//! The file is `ends/ID` in the state folder. The keeper writes it when an execution ends whose caller is gone or was
//! answered before, and when a caller was told the end but closed its connection without saying that the record has it.
//! The file is written under another name and renamed, so that it is complete or absent.

use std::io;
use std::path::Path;
use std::time::{SystemTime, UNIX_EPOCH};

use serde::{Deserialize, Serialize};

use crate::output_times::Moment;
use crate::regular_file::read_regular;
use crate::{ExecId, Outcome, StateFolder, Stream, job_note, reserve};

/// The longest file that is read as an end. With all tails an end has less.
const MAX_BYTES: u64 = 64 << 20;

/// How an execution ended, and when.
#[derive(Clone, Debug, Serialize, Deserialize)]
pub struct StoredEnd {
    /// How it ended.
    pub outcome: Outcome,
    /// When it ended, in milliseconds since 1970.
    pub at_ms: u64,
    /// Whether it was a job.
    pub job: bool,
    /// When it printed what.
    pub times: Vec<Moment>,
}

/// The time, in milliseconds since 1970.
pub(crate) fn now_ms() -> u64 {
    let at = SystemTime::now().duration_since(UNIX_EPOCH).unwrap_or_default();
    u64::try_from(at.as_millis()).unwrap_or(u64::MAX)
}

impl StoredEnd {
    pub(crate) fn now(outcome: Outcome) -> Self {
        Self { outcome, at_ms: now_ms(), job: false, times: Vec::new() }
    }

    /// Writes the file. On a full disk it takes the space that is set aside, and at last leaves out the tails of the output.
    pub(crate) fn write(&self, folder: &Path, id: ExecId) -> io::Result<()> {
        match reserve::with_reserve(folder, || self.write_file(folder, id)) {
            Err(error) if reserve::is_full(&error) => {
                let mut short = self.clone();
                Stream::BOTH.iter().for_each(|stream| short.outcome.output.get_mut(*stream).tail.clear());
                short.write_file(folder, id)
            }
            written => written,
        }
    }

    fn write_file(&self, folder: &Path, id: ExecId) -> io::Result<()> {
        let bytes = postcard::to_stdvec(self).map_err(io::Error::other)?;
        let (temporary, path) = (folder.join(format!(".{id}")), folder.join(id.to_string()));
        let written = std::fs::write(&temporary, bytes).and_then(|()| std::fs::rename(&temporary, path));
        if written.is_err() {
            // A file that was begun is of no use.
            let _ = std::fs::remove_file(temporary);
        }
        written
    }

    /// The stored end of `id`, if there is one.
    ///
    /// # Errors
    /// When there is a file that can't be read.
    pub fn find(state: &StateFolder, id: &str) -> io::Result<Option<Self>> {
        match read_regular(&state.ends().join(id), MAX_BYTES) {
            Ok(bytes) => postcard::from_bytes(&bytes).map(Some).map_err(io::Error::other),
            Err(error) if error.kind() == io::ErrorKind::NotFound => Ok(None),
            Err(error) => Err(error),
        }
    }

    /// Removes the end of `id` and the note that it is a job, once the record has the end.
    pub fn remove(state: &StateFolder, id: &str) {
        job_note::remove(state, id);
        // A file that stays is found in the record already the next time, and removed then. One that a killed keeper has
        // begun goes, too.
        for name in [id.to_owned(), format!(".{id}")] {
            let _ = std::fs::remove_file(state.ends().join(name));
        }
    }

    /// The names of all executions with a stored end.
    #[must_use]
    pub fn all(state: &StateFolder) -> Vec<String> {
        let entries = std::fs::read_dir(state.ends()).into_iter().flatten().flatten();
        let names = entries.filter_map(|entry| entry.file_name().into_string().ok());
        names.filter(|name| !name.starts_with('.')).collect()
    }
}
