//! Past executions: listing them, their output, and forgetting them.

use std::collections::BTreeSet;
use std::fs::File;
use std::io::{self, Read as _};
use std::path::{Path, PathBuf};

use memchr::memmem::Finder;
use shellgate_exec::{Spool, StoredEnd, Stream, open_regular};
use shellgate_journal::{ForgetReport, PastExecution, Query, Status};

use super::RecordStore;
use super::kept_output::recorded_texts;
use super::store::journal_error;
use crate::admit::inside::{self, RestrictedAction};
use crate::session_name::SessionName;
use crate::{Code, ErrorObject, Hint, approval};

/// How much of a file is searched at once.
const SEARCH_CHUNK_BYTES: usize = 256 << 10;

impl RecordStore {
    /// The executions that match, newest first. The text `containing` is searched in commands and in kept output.
    ///
    /// # Errors
    /// `config` when the record can't be read.
    pub fn history(&self, query: &Query) -> Result<Vec<PastExecution>, ErrorObject> {
        // The journal knows only names: of a path it also finds the sessions of roots below, which don't count.
        let of_root = query.session.as_deref().is_some_and(|name| Path::new(name).is_absolute());
        let limit = if of_root { 0 } else { query.limit };
        let searched = Query { limit, ..query.clone() };
        let mut found = self.journal.history(&searched).map_err(|error| journal_error(&error))?;
        found.retain(|execution| is_of_session(execution, query));
        if query.limit != 0 {
            found.truncate(query.limit);
        }
        let Some(text) = query.containing.as_deref().filter(|text| !text.is_empty()) else {
            return Ok(found);
        };
        for id in self.find_in_output(text) {
            let execution = self.journal.execution(&id).map_err(|error| journal_error(&error))?;
            found.extend(execution.filter(|execution| matches_except_text(execution, query)));
        }
        found.sort_by(|one, other| other.id.cmp(&one.id));
        found.dedup_by(|one, other| one.id == other.id);
        if query.limit != 0 {
            found.truncate(query.limit);
        }
        Ok(found)
    }

    /// The full name of the execution whose name begins with `prefix`.
    ///
    /// # Errors
    /// `unknown_job` when there is none, `invalid_input` when there are several.
    pub fn find(&self, prefix: &str) -> Result<String, ErrorObject> {
        self.jobs(None).find(prefix).map(|execution| execution.id)
    }

    /// The output of an execution as a file, if it is still kept.
    #[must_use]
    pub fn output(&self, execution: &PastExecution, stream: Stream) -> Option<File> {
        match recorded_texts(execution) {
            Some(texts) => {
                let files = Spool::of_texts(&texts).ok()?.files;
                Some(match stream {
                    Stream::Stdout => files.stdout,
                    Stream::Stderr => files.stderr,
                })
            }
            None => open_regular(&self.file(&execution.id, stream)).ok(),
        }
    }

    /// Removes the content of an execution's entries and its output. A tombstone in the journal says so. If the output of an
    /// execution that was forgotten before is still there, because that call was interrupted, it is removed as well.
    ///
    /// # Errors
    /// `unknown_job` when the execution isn't known or was forgotten before, `busy` while it runs.
    pub fn forget(&self, id: &str) -> Result<ForgetReport, ErrorObject> {
        inside::refuse(RestrictedAction::Forget)?;
        let forgotten = self.journal.forget(id, &approval::user());
        let is_forgotten = || {
            let execution = self.journal.execution(id);
            execution.is_ok_and(|execution| {
                execution.is_some_and(|execution| execution.status == Status::Forgotten)
            })
        };
        if forgotten.is_ok() || is_forgotten() {
            self.remove_output(id)?;
        }
        forgotten.map_err(|error| match error {
            shellgate_journal::Error::UnknownExecution { .. } => {
                ErrorObject::new(Code::UnknownJob, format!("execution `{id}` was forgotten before")).token(id)
            }
            shellgate_journal::Error::StillOpen { .. } => {
                ErrorObject::new(Code::Busy, format!("execution `{id}` has not ended yet"))
                    .token(id)
                    .hint(Hint::StopFirst { id: id.to_owned() })
            }
            error => journal_error(&error),
        })
    }

    /// Removes what is kept of an execution outside the journal.
    fn remove_output(&self, id: &str) -> Result<(), ErrorObject> {
        let kept = |stream: Stream| [stream.name().to_owned(), format!("{}.tail", stream.name())];
        for name in [Stream::Stdout, Stream::Stderr].map(kept).concat() {
            match std::fs::remove_file(self.state.spool().join(format!("{id}.{name}"))) {
                Err(error) if error.kind() != io::ErrorKind::NotFound => {
                    let message = format!("the output of execution `{id}` can't be removed: {error}");
                    return Err(ErrorObject::new(Code::Config, message));
                }
                _ => {}
            }
        }
        StoredEnd::remove(&self.state, id);
        Ok(())
    }

    fn file(&self, id: &str, stream: Stream) -> PathBuf {
        self.state.spool().join(format!("{id}.{}", stream.name()))
    }

    /// The executions whose kept output contains `text`.
    fn find_in_output(&self, text: &str) -> BTreeSet<String> {
        let finder = Finder::new(text.as_bytes());
        let entries = std::fs::read_dir(self.state.spool()).into_iter().flatten().flatten();
        let names = entries.filter_map(|entry| {
            let id = entry.file_name().to_str()?.split_once('.')?.0.to_owned();
            // A file that was removed in the meantime contains nothing.
            contains(&entry.path(), &finder).unwrap_or(false).then_some(id)
        });
        names.collect()
    }
}

fn is_of_session(execution: &PastExecution, query: &Query) -> bool {
    let root = execution.asked.as_ref().map(|asked| asked.root.as_str());
    let meant = |name: &String| SessionName::is_meant(name, &execution.session, root);
    query.session.as_ref().is_none_or(meant)
}

/// Whether an execution fulfils every condition of a query but the text.
fn matches_except_text(execution: &PastExecution, query: &Query) -> bool {
    is_of_session(execution, query)
        && (query.statuses.is_empty() || query.statuses.contains(&execution.status))
        && query.since.is_none_or(|since| execution.at >= since)
        && query.until.is_none_or(|until| execution.at < until)
        && query.before.as_ref().is_none_or(|before| execution.id < *before)
}

fn contains(path: &Path, finder: &Finder<'_>) -> io::Result<bool> {
    let mut file = open_regular(path)?;
    let overlap = finder.needle().len().saturating_sub(1);
    let mut chunk: Vec<u8> = Vec::new();
    loop {
        let read = file.by_ref().take(SEARCH_CHUNK_BYTES as u64).read_to_end(&mut chunk)?;
        if read == 0 {
            return Ok(false);
        }
        if finder.find(&chunk).is_some() {
            return Ok(true);
        }
        // The text may begin at the end of this chunk and continue in the next.
        chunk.drain(..chunk.len().saturating_sub(overlap));
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn text_is_found_across_chunks() {
        let folder = tempfile::tempdir().unwrap();
        let path = folder.path().join("x");
        for before in [
            0,
            1,
            SEARCH_CHUNK_BYTES - 3,
            SEARCH_CHUNK_BYTES - 1,
            SEARCH_CHUNK_BYTES,
            2 * SEARCH_CHUNK_BYTES - 2,
        ] {
            let mut bytes = vec![b'.'; before];
            bytes.extend(b"needle and more");
            std::fs::write(&path, bytes).unwrap();
            assert!(contains(&path, &Finder::new(b"needle")).unwrap(), "{before}");
            assert!(!contains(&path, &Finder::new(b"nettle")).unwrap(), "{before}");
        }
    }
}
