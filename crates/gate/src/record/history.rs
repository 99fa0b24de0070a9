//! Looking back: what was run and printed, the whole story of one execution, and forgetting it.

use std::collections::BTreeSet;
use std::fs::File;
use std::io::{self, Read as _};
use std::path::{Path, PathBuf};

use memchr::memmem::Finder;
use shellgate_exec::{StoredEnd, Stream};
use shellgate_journal::{ForgetReport, PastExecution, Query};

use super::RecordStore;
use super::store::trouble;
use crate::admit::inside::{self, RestrictedAction};
use crate::{Code, ErrorObject, approval};

/// How much of a file is searched at once.
const PIECE: usize = 256 << 10;

impl RecordStore {
    /// The executions that match, newest first. `containing` is looked for in commands and in kept output.
    ///
    /// # Errors
    /// `config` when the record can't be read.
    pub fn history(&self, query: &Query) -> Result<Vec<PastExecution>, ErrorObject> {
        let mut found = self.journal.history(query).map_err(|error| trouble(&error))?;
        let Some(text) = query.containing.as_deref().filter(|text| !text.is_empty()) else {
            return Ok(found);
        };
        for id in self.printed(text) {
            let execution = self.journal.execution(&id).map_err(|error| trouble(&error))?;
            found.extend(execution.filter(|execution| wanted(execution, query)));
        }
        found.sort_by(|one, other| other.id.cmp(&one.id));
        found.dedup_by(|one, other| one.id == other.id);
        if query.limit != 0 {
            found.truncate(query.limit);
        }
        Ok(found)
    }

    /// The name that begins with `prefix`.
    ///
    /// # Errors
    /// `unknown_job` when there is none, `invalid_input` when there are several.
    pub fn find(&self, prefix: &str) -> Result<String, ErrorObject> {
        self.jobs(None).find(prefix).map(|execution| execution.id)
    }

    /// The file that holds what an execution printed, if it is still kept.
    #[must_use]
    pub fn output(&self, id: &str, stream: Stream) -> Option<File> {
        File::open(self.file(id, stream)).ok()
    }

    /// Removes what an execution said, did and printed, and leaves a note that it did.
    ///
    /// # Errors
    /// `unknown_job` when there is none or it was forgotten before, `busy` while it runs.
    pub fn forget(&self, id: &str) -> Result<ForgetReport, ErrorObject> {
        inside::refuse(RestrictedAction::Forget)?;
        let forgotten = self.journal.forget(id, &approval::user()).map_err(|error| match error {
            shellgate_journal::Error::UnknownExecution { .. } => {
                ErrorObject::new(Code::UnknownJob, format!("execution `{id}` was forgotten before")).token(id)
            }
            shellgate_journal::Error::StillOpen { .. } => {
                ErrorObject::new(Code::Busy, format!("execution `{id}` has not ended yet"))
                    .token(id)
                    .hint(format!("stop it first: `shellgate stop {id}`"))
            }
            error => trouble(&error),
        })?;
        let kept = |stream: Stream| [stream.name().to_owned(), format!("{}.tail", stream.name())];
        for name in [Stream::Stdout, Stream::Stderr].map(kept).concat() {
            match std::fs::remove_file(self.state.spool().join(format!("{id}.{name}"))) {
                Err(error) if error.kind() != io::ErrorKind::NotFound => {
                    let message = format!("its output can't be removed: {error}");
                    return Err(ErrorObject::new(Code::Config, message));
                }
                _ => {}
            }
        }
        StoredEnd::remove(&self.state, id);
        Ok(forgotten)
    }

    fn file(&self, id: &str, stream: Stream) -> PathBuf {
        self.state.spool().join(format!("{id}.{}", stream.name()))
    }

    /// The executions whose kept output has `text` in it.
    fn printed(&self, text: &str) -> BTreeSet<String> {
        let finder = Finder::new(text.as_bytes());
        let entries = std::fs::read_dir(self.state.spool()).into_iter().flatten().flatten();
        let names = entries.filter_map(|entry| {
            let id = entry.file_name().to_str()?.split_once('.')?.0.to_owned();
            // A file that goes while we look holds nothing any more.
            contains(&entry.path(), &finder).unwrap_or(false).then_some(id)
        });
        names.collect()
    }
}

/// Whether a query would give this execution, whatever text it looks for.
fn wanted(execution: &PastExecution, query: &Query) -> bool {
    let of_session = |session: &String| {
        let rest = execution.session.strip_prefix(session.as_str());
        rest.is_some_and(|rest| rest.is_empty() || rest.starts_with('/'))
    };
    query.session.as_ref().is_none_or(of_session)
        && (query.statuses.is_empty() || query.statuses.contains(&execution.status))
        && query.since.is_none_or(|since| execution.at >= since)
        && query.until.is_none_or(|until| execution.at < until)
        && query.before.as_ref().is_none_or(|before| execution.id < *before)
}

fn contains(path: &Path, finder: &Finder<'_>) -> io::Result<bool> {
    let mut file = File::open(path)?;
    let overlap = finder.needle().len().saturating_sub(1);
    let mut held: Vec<u8> = Vec::new();
    loop {
        let read = file.by_ref().take(PIECE as u64).read_to_end(&mut held)?;
        if read == 0 {
            return Ok(false);
        }
        if finder.find(&held).is_some() {
            return Ok(true);
        }
        // The text may begin here and go on in the next piece.
        held.drain(..held.len().saturating_sub(overlap));
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn text_is_found_across_pieces() {
        let folder = tempfile::tempdir().unwrap();
        let path = folder.path().join("x");
        for before in [0, 1, PIECE - 3, PIECE - 1, PIECE, 2 * PIECE - 2] {
            let mut bytes = vec![b'.'; before];
            bytes.extend(b"needle and more");
            std::fs::write(&path, bytes).unwrap();
            assert!(contains(&path, &Finder::new(b"needle")).unwrap(), "{before}");
            assert!(!contains(&path, &Finder::new(b"nettle")).unwrap(), "{before}");
        }
    }
}
