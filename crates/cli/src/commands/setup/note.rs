//! Notes about changes to settings files, in the state folder, so that exactly these changes can be undone.
//!
//! If the file was not changed since, undoing gives it back the same bytes. Otherwise it removes what `setup` added from
//! what the file is now. A note has only the replaced lines of the file, because settings may hold secrets.

use std::fs;
use std::io::Write as _;
use std::path::{Path, PathBuf};

use serde::{Deserialize, Serialize};
use sha2::{Digest as _, Sha256};
use shellgate::{Code, ErrorObject, RecordStore};

use super::edit::{self, Edited, Hunk, Uneditable};
use super::file::SettingsFile;
use super::format::Format;
use super::step::Step;

/// The changes to one file.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
pub(crate) struct Note {
    /// Path of the file, for people who read the note.
    file: String,
    /// SHA-256 of the file after the change.
    sha256: String,
    /// Hunks that restore the file from there.
    hunks: Vec<Hunk>,
    /// Steps that undo the change in a file that was changed since.
    back: Vec<Step>,
    /// Whether the file didn't exist before.
    made: bool,
    /// The folders that were made for it, outermost first.
    folders: Vec<PathBuf>,
}

/// A file without our change.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct Original {
    /// Its content. `None`: there was no file.
    pub(crate) text: Option<String>,
    pub(crate) folders: Vec<PathBuf>,
}

impl Note {
    /// The note about a change of `file`. `earlier`: the note about changes before.
    pub(crate) fn new(file: &SettingsFile, edited: &Edited, earlier: Option<Self>, format: Format) -> Self {
        let now = file.text.as_deref().unwrap_or_default();
        let origin = earlier.as_ref().and_then(|note| note.original(now, format).ok());
        let origin = origin.map_or(file.text.clone(), |before| before.text);
        let earlier = earlier.unwrap_or_default();
        Self {
            file: file.real.display().to_string(),
            sha256: hash(&edited.text),
            hunks: edit::hunks(origin.as_deref().unwrap_or_default(), &edited.text),
            back: edited.back.iter().cloned().chain(earlier.back).collect(),
            made: origin.is_none(),
            folders: earlier.folders,
        }
    }

    pub(crate) fn with_folders(mut self, folders: Vec<PathBuf>) -> Self {
        self.folders.extend(folders);
        self
    }

    /// The file without our change, given its content now.
    pub(crate) fn original(&self, text: &str, format: Format) -> Result<Original, Uneditable> {
        if hash(text) == self.sha256 {
            let before = edit::unpatch(text, &self.hunks);
            let text = (!self.made).then_some(before);
            return Ok(Original { text, folders: self.folders.clone() });
        }
        let rest = edit::edit(format, text, &self.back)?.text;
        let empty = self.made && matches!(rest.trim(), "" | "{}");
        let text = (!empty).then_some(rest);
        Ok(Original { text, folders: self.folders.clone() })
    }
}

fn hash(text: &str) -> String {
    hex(text.as_bytes())
}

fn hex(bytes: &[u8]) -> String {
    Sha256::digest(bytes).iter().map(|byte| format!("{byte:02x}")).collect()
}

/// The notes of this user.
pub(crate) struct Notes {
    folder: PathBuf,
}

impl Notes {
    pub(crate) fn open() -> Result<Self, ErrorObject> {
        Ok(Self { folder: RecordStore::open(None)?.state().path().join("setup") })
    }

    /// The note about a file, if there is a readable one.
    pub(crate) fn find(&self, file: &Path) -> Option<Note> {
        serde_json::from_slice(&fs::read(self.path(file)).ok()?).ok()
    }

    pub(crate) fn save(&self, file: &Path, note: &Note) -> Result<(), ErrorObject> {
        let path = self.path(file);
        let kept = fs::create_dir_all(&self.folder).and_then(|()| {
            let draft = path.with_extension(std::process::id().to_string());
            let mut written = fs::File::create(&draft)?;
            written.write_all(serde_json::to_string_pretty(note)?.as_bytes())?;
            fs::rename(&draft, &path)
        });
        kept.map_err(|error| {
            let message =
                format!("the note about the change can't be written to `{}`: {error}", path.display());
            ErrorObject::new(Code::Config, message)
        })
    }

    pub(crate) fn remove(&self, file: &Path) {
        // A note that stays describes a file whose hash is another now, and does no harm.
        let _ = fs::remove_file(self.path(file));
    }

    fn path(&self, file: &Path) -> PathBuf {
        let name: String = hex(file.as_os_str().as_encoded_bytes()).chars().take(32).collect();
        self.folder.join(format!("{name}.json"))
    }
}
