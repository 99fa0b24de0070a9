//! What was changed in a settings file, written down in the state folder, so that exactly that can be taken back.
//!
//! As long as nobody else changed the file, it gets back the very bytes that it had. Else what we put there is taken out of
//! what it is now. A note has no more of the file than the lines that were replaced: settings may hold secrets.

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
    /// The file, for whoever reads this.
    file: String,
    /// The hash of the file after the change.
    sha256: String,
    /// What leads back from there.
    hunks: Vec<Hunk>,
    /// What takes the change back in whatever the file is by then.
    back: Vec<Step>,
    /// Whether there was no file.
    made: bool,
    /// The folders that were made for it, outermost first.
    folders: Vec<PathBuf>,
}

/// What a file was before us, as far as that is known.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct Original {
    /// `None`: there was none.
    pub(crate) text: Option<String>,
    pub(crate) folders: Vec<PathBuf>,
}

impl Note {
    /// The note about a change of `file`, of which `earlier` was noted before.
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

    /// What the file was, now that it says `text`.
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

    /// The note about a file, if there is one that can be read.
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
            let message = format!("what is changed can't be noted in `{}`: {error}", path.display());
            ErrorObject::new(Code::Config, message)
        })
    }

    pub(crate) fn remove(&self, file: &Path) {
        let _ = fs::remove_file(self.path(file));
    }

    fn path(&self, file: &Path) -> PathBuf {
        let name: String = hex(file.as_os_str().as_encoded_bytes()).chars().take(32).collect();
        self.folder.join(format!("{name}.json"))
    }
}
