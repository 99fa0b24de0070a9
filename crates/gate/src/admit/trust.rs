//! Trust in a project's settings file. A person gives it for the file's exact content.

use std::path::{Path, PathBuf};

use shellgate_journal::{Journal, Sha};

use crate::ErrorObject;
use crate::settings::{TrustStore, project_file};

/// A project's settings file, as it was when it was read.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct ProjectFile {
    path: PathBuf,
    content: Vec<u8>,
}

impl ProjectFile {
    /// The file at this place, if there is one.
    pub(crate) fn read(path: &Path) -> Result<Option<Self>, ErrorObject> {
        Ok(project_file(path)?.map(|content| Self { path: path.to_owned(), content }))
    }

    /// Its path.
    #[must_use]
    pub fn path(&self) -> &Path {
        &self.path
    }

    /// Its text.
    #[must_use]
    pub fn text(&self) -> String {
        String::from_utf8_lossy(&self.content).into_owned()
    }

    /// The hash of its content.
    #[must_use]
    pub fn sha256(&self) -> Sha {
        Sha::of(&[&self.content])
    }
}

/// The journal in a state folder, asked whether a person trusts a project file. It is opened only when there is a file.
#[derive(Debug)]
pub(crate) struct RecordedTrust {
    /// The state folder.
    pub(crate) state: PathBuf,
}

impl TrustStore for RecordedTrust {
    /// A file is untrusted when there is no journal, or when the journal can't be read.
    fn is_trusted(&self, file: &Path, content: &[u8]) -> bool {
        let Some(path) = file.to_str() else { return false };
        let journal = Journal::open_read_only(&self.state);
        journal.is_ok_and(|journal| journal.is_trusted(path, Sha::of(&[content])).unwrap_or(false))
    }
}
