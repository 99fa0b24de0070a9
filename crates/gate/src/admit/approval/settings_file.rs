//! Replaces a settings file as a whole, so that no process reads half of it. Links are followed: the file that a link names
//! is replaced, and the link stays.

use std::fs::File;
use std::io::{self, Write as _};
use std::os::unix::fs::{MetadataExt as _, OpenOptionsExt as _};
use std::path::{Path, PathBuf};
use std::sync::atomic::{AtomicU32, Ordering};
use std::time::{Duration, Instant};

use rustix::fs::{FlockOperation, flock};

/// How many links are followed, as Linux does.
const MAX_LINKS: usize = 40;

/// How long to wait for another process that edits a file of the same folder.
const LOCK_TIMEOUT: Duration = Duration::from_secs(2);
const LOCK_POLL_INTERVAL: Duration = Duration::from_millis(5);

/// The largest file that is read.
const MAX_FILE_BYTES: u64 = 16 << 20;

/// A settings file that is being edited. No other shellgate edits a file of its folder meanwhile.
#[derive(Debug)]
pub(super) struct EditedFile {
    /// The file itself, not a link to it.
    target: PathBuf,
    /// The folder, locked.
    _lock: File,
}

/// The new content of a settings file, beside the file. Without [`commit`](Self::commit) it is removed again.
#[derive(Debug)]
pub(crate) struct FileDraft {
    edited: EditedFile,
    draft: PathBuf,
}

impl EditedFile {
    /// Begins to edit `file`. Creates its folder if there is none.
    pub(super) fn open(file: &Path) -> io::Result<Self> {
        let target = follow_links(file)?;
        let folder = folder_of(&target);
        std::fs::create_dir_all(folder)?;
        let lock = File::open(folder)?;
        let until = Instant::now() + LOCK_TIMEOUT;
        while let Err(errno) = flock(&lock, FlockOperation::NonBlockingLockExclusive) {
            // Some network file systems have no locks. Then two edits at the same moment are not kept apart.
            if errno != rustix::io::Errno::AGAIN {
                break;
            }
            if Instant::now() > until {
                return Err(io::Error::other("another process is editing a file of this folder"));
            }
            std::thread::sleep(LOCK_POLL_INTERVAL);
        }
        Ok(Self { target, _lock: lock })
    }

    /// The present content. Empty when there is no file.
    ///
    /// # Errors
    /// When the file can't be read or written, or isn't a regular file.
    pub(super) fn read(&self) -> io::Result<String> {
        // A file that its owner made read-only is not replaced, although the folder would permit it. A FIFO must not block.
        let flags = rustix::fs::OFlags::NONBLOCK.bits().cast_signed();
        let opened = File::options().read(true).write(true).custom_flags(flags).open(&self.target);
        let file = match opened {
            Ok(file) => file,
            Err(error) if error.kind() == io::ErrorKind::NotFound => return Ok(String::new()),
            Err(error)
                if matches!(
                    error.kind(),
                    io::ErrorKind::PermissionDenied | io::ErrorKind::ReadOnlyFilesystem
                ) =>
            {
                return Err(read_only());
            }
            Err(error) => return Err(error),
        };
        let metadata = file.metadata()?;
        if !metadata.is_file() {
            return Err(io::Error::other("it isn't a regular file"));
        }
        // The system lets root write it all the same.
        if metadata.permissions().readonly() {
            return Err(read_only());
        }
        io::read_to_string(io::Read::take(file, MAX_FILE_BYTES))
    }

    /// Writes the new content beside the file.
    pub(super) fn draft(self, content: &str) -> io::Result<FileDraft> {
        static DRAFTS: AtomicU32 = AtomicU32::new(0);
        let number = DRAFTS.fetch_add(1, Ordering::Relaxed);
        let name = self.target.file_name().unwrap_or_default().to_string_lossy();
        let draft = format!(".{name}.draft-{}-{number}", std::process::id());
        let draft = folder_of(&self.target).join(draft);
        let mut file = File::options().write(true).create_new(true).open(&draft)?;
        // From here on, dropping it removes the file.
        let kept = FileDraft { edited: self, draft };
        file.write_all(content.as_bytes())?;
        if let Ok(metadata) = std::fs::metadata(&kept.edited.target) {
            if metadata.uid() != file.metadata()?.uid() {
                std::os::unix::fs::fchown(&file, Some(metadata.uid()), Some(metadata.gid()))?;
            }
            file.set_permissions(metadata.permissions())?;
        }
        file.sync_all()?;
        Ok(kept)
    }
}

fn read_only() -> io::Error {
    io::Error::other("it is read-only")
}

impl FileDraft {
    /// The file with the new content.
    pub(super) fn path(&self) -> &Path {
        &self.draft
    }

    /// Replaces the file.
    pub(crate) fn commit(self) -> io::Result<()> {
        std::fs::rename(&self.draft, &self.edited.target)
    }
}

impl Drop for FileDraft {
    fn drop(&mut self) {
        // After a commit there is none.
        let _ = std::fs::remove_file(&self.draft);
    }
}

fn folder_of(file: &Path) -> &Path {
    match file.parent() {
        Some(folder) if !folder.as_os_str().is_empty() => folder,
        _ => Path::new("."),
    }
}

/// The file that `path` names in the end. It need not exist.
fn follow_links(path: &Path) -> io::Result<PathBuf> {
    let mut path = path.to_owned();
    for _ in 0..MAX_LINKS {
        match std::fs::read_link(&path) {
            // An absolute path replaces the folder.
            Ok(next) => path = folder_of(&path).join(next),
            // It isn't a link, or doesn't exist.
            Err(error) if matches!(error.kind(), io::ErrorKind::InvalidInput | io::ErrorKind::NotFound) => {
                return Ok(path);
            }
            Err(error) => return Err(error),
        }
    }
    Err(io::Error::other("too many links"))
}
