//! A settings file on disk: read as it is, and replaced as a whole.
//!
//! A link is follow_links and stays a link. The mode and the owner stay. A file that somebody else changed after we read it is
//! left alone, and so is one that is read-only.

use std::fs::{self, OpenOptions};
use std::io::{self, Write as _};
use std::os::unix::fs::{MetadataExt as _, OpenOptionsExt as _, chown};
use std::path::{Path, PathBuf};

use shellgate::{Code, ErrorObject};

/// A file, as it was when it was read.
#[derive(Clone, Debug)]
pub(crate) struct SettingsFile {
    /// Where the agent looks for it.
    pub(crate) path: PathBuf,
    /// Where it is, links follow_links.
    pub(crate) real: PathBuf,
    /// What it says. `None`: it isn't there.
    pub(crate) text: Option<String>,
    /// Whose it is.
    pub(crate) owner: Owner,
}

/// Who reads a file. One that wasn't there gets its mode by that.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Owner {
    /// The user alone: agents keep keys in such files.
    User,
    /// Everybody who works on the project.
    Project,
}

impl SettingsFile {
    pub(crate) fn read(path: PathBuf, owner: Owner) -> Result<Self, ErrorObject> {
        let real = follow_links(&path).map_err(|error| failure(&path, "followed", &error))?;
        let text = read_text(&real).map_err(|error| failure(&path, "read", &error))?;
        Ok(Self { path, real, text, owner })
    }

    /// Says no to a file that its owner made read-only. It could be replaced all the same, but is so on purpose.
    pub(crate) fn refuse_read_only(&self) -> Result<(), ErrorObject> {
        let Ok(metadata) = fs::metadata(&self.real) else { return Ok(()) };
        let mode = metadata.mode() & 0o7777;
        if mode & 0o200 != 0 {
            return Ok(());
        }
        let (path, real) = (self.path.display(), self.real.display());
        let message = format!("`{path}` is read-only (mode {mode:04o}), and was left as it is");
        let hint = format!("`chmod u+w '{real}'` lets `setup` write it; `--print` shows the change");
        Err(ErrorObject::new(Code::Config, message).token(path.to_string()).hint(hint))
    }

    /// Replaces it by a file that says `text`. The folders that had to be made, outermost first.
    pub(crate) fn write(&self, text: &str) -> Result<Vec<PathBuf>, ErrorObject> {
        let failed = |error: io::Error| failure(&self.path, "written", &error);
        let folder = self.real.parent().unwrap_or_else(|| Path::new("."));
        let mut made: Vec<PathBuf> =
            folder.ancestors().take_while(|folder| !folder.exists()).map(Path::to_owned).collect();
        made.reverse();
        fs::create_dir_all(folder).map_err(failed)?;
        let draft = folder.join(format!(".shellgate-{}", std::process::id()));
        self.replace(&draft, text).inspect_err(|_| drop(fs::remove_file(&draft))).map_err(failed)?;
        Ok(made)
    }

    fn replace(&self, draft: &Path, text: &str) -> io::Result<()> {
        let mode = if self.owner == Owner::User { 0o600 } else { 0o666 };
        let mut file = OpenOptions::new().write(true).create_new(true).mode(mode).open(draft)?;
        if let Ok(metadata) = fs::metadata(&self.real) {
            copy_owner(draft, &metadata)?;
            fs::set_permissions(draft, metadata.permissions())?;
        }
        file.write_all(text.as_bytes())?;
        file.sync_all()?;
        self.require_unchanged()?;
        fs::rename(draft, &self.real)
    }

    /// Takes it away, and these folders if nothing else is in them.
    pub(crate) fn remove(&self, folders: &[PathBuf]) -> Result<(), ErrorObject> {
        let removed = self.require_unchanged().and_then(|()| fs::remove_file(&self.real));
        removed.map_err(|error| failure(&self.path, "removed", &error))?;
        for folder in folders.iter().rev() {
            let _ = fs::remove_dir(folder);
        }
        Ok(())
    }

    fn require_unchanged(&self) -> io::Result<()> {
        if read_text(&self.real)? == self.text {
            return Ok(());
        }
        Err(io::Error::other("somebody else changed it just now; do this again"))
    }
}

/// No settings are longer.
const SETTINGS_MAX_BYTES: u64 = 64 << 20;

/// Says no to what isn't a file of settings: a pipe would be waited for, a device never ends.
pub(crate) fn require_regular(path: &Path) -> io::Result<()> {
    let metadata = fs::metadata(path)?;
    if metadata.is_dir() || (metadata.is_file() && metadata.len() <= SETTINGS_MAX_BYTES) {
        return Ok(());
    }
    Err(io::Error::other("it is no file of settings"))
}

fn read_text(path: &Path) -> io::Result<Option<String>> {
    match require_regular(path).and_then(|()| fs::read(path)) {
        Ok(bytes) => {
            String::from_utf8(bytes).map(Some).map_err(|_| io::Error::other("it isn't text in UTF-8"))
        }
        Err(error) if error.kind() == io::ErrorKind::NotFound => Ok(None),
        Err(error) => Err(error),
    }
}

/// Where links lead, also when nothing is there yet.
fn follow_links(path: &Path) -> io::Result<PathBuf> {
    let mut real = path.to_owned();
    // As many as the system itself follows.
    for _ in 0..40 {
        match fs::read_link(&real) {
            Ok(target) => real = real.parent().unwrap_or_else(|| Path::new(".")).join(target),
            Err(_) => return Ok(canonical(&real)),
        }
    }
    Err(io::Error::other("too many links"))
}

/// The one name of a path, the same before and after there is something: notes are found by it.
fn canonical(path: &Path) -> PathBuf {
    let there = |folder: &&Path| folder.canonicalize().is_ok();
    let Some(folder) = path.ancestors().find(there) else { return path.to_owned() };
    let rest = path.strip_prefix(folder).unwrap_or(Path::new(""));
    let folder = folder.canonicalize().unwrap_or_else(|_| folder.to_owned());
    // Joined to nothing, a path ends in a slash.
    if rest.as_os_str().is_empty() { folder } else { folder.join(rest) }
}

fn copy_owner(draft: &Path, metadata: &fs::Metadata) -> io::Result<()> {
    let own = fs::metadata(draft)?;
    if (own.uid(), own.gid()) == (metadata.uid(), metadata.gid()) {
        return Ok(());
    }
    chown(draft, Some(metadata.uid()), Some(metadata.gid()))
}

fn failure(path: &Path, what: &str, error: &io::Error) -> ErrorObject {
    ErrorObject::new(Code::Config, format!("`{}` can't be {what}: {error}", path.display()))
        .token(path.display().to_string())
        .hint("nothing was changed in it; `--print` shows what to paste")
}
