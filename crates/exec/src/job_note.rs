//! Notes of executions that no caller waits for any more: jobs, and executions whose caller closed its connection.
//!
//! The file is `ends/.job-ID` in the state folder, and is empty. The keeper creates it before it answers the caller, while
//! it holds the execution. From then on only the keeper knows the end. So when a note is there, no keeper holds the
//! execution and no end is stored, the keeper was killed, even if the process that made the call lives.

use std::collections::BTreeSet;
use std::path::Path;
use std::{fs, io};

use crate::{ExecId, StateFolder};

const PREFIX: &str = ".job-";

/// Creates the note of `id`.
pub(crate) fn write(ends: &Path, id: ExecId) -> io::Result<()> {
    fs::write(ends.join(format!("{PREFIX}{id}")), [])
}

/// The executions that have a note. Read them before you ask the keepers which executions they hold. Else a note could
/// belong to an execution that was started after you asked.
#[must_use]
pub fn job_notes(state: &StateFolder) -> BTreeSet<String> {
    let entries = fs::read_dir(state.ends()).into_iter().flatten().flatten();
    entries.filter_map(|entry| Some(entry.file_name().to_str()?.strip_prefix(PREFIX)?.to_owned())).collect()
}

/// Removes the note of `id`.
pub(crate) fn remove(state: &StateFolder, id: &str) {
    // A note that stays is removed when the record is settled again.
    let _ = fs::remove_file(state.ends().join(format!("{PREFIX}{id}")));
}
