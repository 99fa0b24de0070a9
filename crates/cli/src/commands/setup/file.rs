//! A settings file on disk: read, and replaced as a whole.
//!
//! A symbolic link is followed and stays a link. Mode and owner stay. A file that another program changed after we read
//! it is not written, and neither is a read-only file.

use std::fs::{self, OpenOptions};
use std::io::{self, Write as _};
use std::os::unix::fs::{MetadataExt as _, OpenOptionsExt as _, chown};
use std::path::{Path, PathBuf};

use shellgate::{Code, ErrorObject};
use shellgate_policy::paths::resolve;

/// A file as it was when we read it.
#[derive(Clone, Debug)]
pub(crate) struct SettingsFile {
    /// The path that the agent reads.
    pub(crate) path: PathBuf,
    /// The same path with links followed.
    pub(crate) real: PathBuf,
    /// Its content. `None`: there is no file.
    pub(crate) text: Option<String>,
    /// Who uses it.
    pub(crate) owner: Owner,
}

/// Who uses a file. This decides the mode of a new file.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Owner {
    /// The user only: agents keep credentials in such files.
    User,
    /// All who work on the project.
    Project,
}

impl SettingsFile {
    pub(crate) fn read(path: PathBuf, owner: Owner) -> Result<Self, ErrorObject> {
        let real = follow_links(&path).map_err(|error| failure(&path, "followed", &error))?;
        let text = read_text(&real).map_err(|error| failure(&path, "read", &error))?;
        Ok(Self { path, real, text, owner })
    }

    /// Refuses a file that its owner made read-only. We could replace it, but it was made so on purpose.
    pub(crate) fn refuse_read_only(&self) -> Result<(), ErrorObject> {
        let Ok(metadata) = fs::metadata(&self.real) else { return Ok(()) };
        let mode = metadata.mode() & 0o7777;
        if mode & 0o200 != 0 {
            return Ok(());
        }
        let (path, real) = (self.path.display(), self.real.display());
        let message = format!("`{path}` is read-only (mode {mode:04o}) and was not changed");
        let hint = format!("`chmod u+w '{real}'` lets `setup` write it; `--print` shows the change");
        Err(ErrorObject::new(Code::Config, message).token(path.to_string()).hint(hint))
    }

    /// Replaces the file's content by `text`. Returns the folders that had to be made, outermost first.
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

    /// Removes the file, and these folders if they are empty then.
    pub(crate) fn remove(&self, folders: &[PathBuf]) -> Result<(), ErrorObject> {
        let removed = self.require_unchanged().and_then(|()| fs::remove_file(&self.real));
        removed.map_err(|error| failure(&self.path, "removed", &error))?;
        for folder in folders.iter().rev() {
            // It fails for a folder with other files, which stays.
            let _ = fs::remove_dir(folder);
        }
        Ok(())
    }

    fn require_unchanged(&self) -> io::Result<()> {
        if read_text(&self.real)? == self.text {
            return Ok(());
        }
        Err(io::Error::other("another program changed it just now; try again"))
    }
}

/// Larger files are not settings.
const SETTINGS_MAX_BYTES: u64 = 64 << 20;

/// Refuses what can't be a settings file: reading a pipe could block, and a device has no end.
pub(crate) fn require_regular(path: &Path) -> io::Result<()> {
    let metadata = fs::metadata(path)?;
    if metadata.is_dir() || (metadata.is_file() && metadata.len() <= SETTINGS_MAX_BYTES) {
        return Ok(());
    }
    Err(io::Error::other("it is not a settings file"))
}

fn read_text(path: &Path) -> io::Result<Option<String>> {
    match require_regular(path).and_then(|()| fs::read(path)) {
        Ok(bytes) => String::from_utf8(bytes).map(Some).map_err(|_| io::Error::other("it is not UTF-8 text")),
        Err(error) if error.kind() == io::ErrorKind::NotFound => Ok(None),
        Err(error) => Err(error),
    }
}

/// Follows links, also to a file that doesn't exist yet. The result is the same before and after the file exists: notes are
/// found by it.
fn follow_links(path: &Path) -> io::Result<PathBuf> {
    resolve(&std::path::absolute(path)?).map_err(|_| io::Error::other("too many links"))
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
        .hint("the file was not changed; `--print` shows what to paste")
}
