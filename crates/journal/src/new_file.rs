//! The file of a journal while it is created, under a name of its own.
//!
//! It is locked as long as the process lives that creates it. So it is known which files killed processes have left, and
//! these are removed. The name appears when the file is locked already, where the file system can do that.

use std::fs::{self, File, OpenOptions};
use std::io;
use std::os::unix::fs::{OpenOptionsExt as _, PermissionsExt as _};
use std::path::{Path, PathBuf};
use std::time::Duration;

use rustix::fs::{AtFlags, CWD, Mode, OFlags, RenameFlags};
use rustix::io::Errno;
use tracing::info;

use crate::error::Error;
use crate::hash::hex;
use crate::open::FILE;

/// What comes between the journal's name and a unique part: of files that are locked from the beginning, and of others.
const LOCKED: &str = ".new-";
const UNLOCKED: &str = ".new.";

/// One that wasn't locked from the beginning, and was not written for this long, was not made just now.
const ABANDONED_AGE: Duration = Duration::from_secs(60);

/// How often a process looks whether another one still creates the journal, and the time between.
const TURN_ATTEMPTS: u32 = 500;
const TURN_INTERVAL: Duration = Duration::from_millis(2);

/// A file with a unique name. Dropping it removes the file and those that SQLite made for it.
#[derive(Debug)]
pub(crate) struct NewFile {
    path: PathBuf,
    _locked: File,
}

impl NewFile {
    pub(crate) fn create(folder: &Path) -> Result<Self, Error> {
        let unique = hex(&crate::chain::salt()?);
        let path = |kind: &str| folder.join(format!("{FILE}{kind}{unique}"));
        let made = create_locked(folder, &path(LOCKED)).map(|file| (path(LOCKED), file));
        let (path, file) = match made {
            Ok(made) => made,
            // The file system has no files without names, or this process has no `/proc`.
            Err(_) => {
                let path = path(UNLOCKED);
                let made = OpenOptions::new().write(true).create_new(true).mode(0o600).open(&path);
                let made = made.and_then(|file| prepare(&file).map(|()| file));
                let file = made.map_err(|error| match error.kind() {
                    io::ErrorKind::NotFound => Error::Absent { path: folder.to_owned() },
                    _ => Error::from_io(&path, &error),
                })?;
                (path, file)
            }
        };
        Ok(Self { path, _locked: file })
    }

    pub(crate) fn path(&self) -> &Path {
        &self.path
    }

    /// Gives the file its name, unless another file has it. Nothing is left of the old name, wherever the process is killed.
    ///
    /// # Errors
    /// `AlreadyExists` when another file has the name.
    pub(crate) fn publish(&self, path: &Path) -> io::Result<()> {
        match rustix::fs::renameat_with(CWD, &self.path, CWD, path, RenameFlags::NOREPLACE) {
            // The file system or the kernel can't do that in one step.
            Err(Errno::INVAL | Errno::NOSYS | Errno::NOTSUP) => fs::hard_link(&self.path, path),
            renamed => Ok(renamed?),
        }
    }
}

/// Opens a file of the state folder that is no database, and creates it if it doesn't exist. It has its owner's rights before it has its
/// name: the umask may remove even those.
pub(crate) fn open_or_create(folder: &Path, name: &str, options: &mut OpenOptions) -> Result<File, Error> {
    let path = folder.join(name);
    options.custom_flags(i32::try_from((OFlags::NOFOLLOW | OFlags::NONBLOCK).bits()).unwrap_or_default());
    let mut opened = options.open(&path);
    if opened.as_ref().is_err_and(|error| error.kind() == io::ErrorKind::NotFound) {
        let file = NewFile::create(folder)?;
        match file.publish(&path) {
            Err(error) if error.kind() != io::ErrorKind::AlreadyExists => {
                return Err(Error::from_io(&path, &error));
            }
            _ => opened = options.open(&path),
        }
    }
    opened.map_err(|error| Error::from_io(&path, &error))
}

/// Opens a file of the state folder to read it. Opening a named pipe would wait for a writer.
pub(crate) fn open_to_read(path: &Path) -> io::Result<File> {
    let flags = i32::try_from((OFlags::NOFOLLOW | OFlags::NONBLOCK).bits()).unwrap_or_default();
    OpenOptions::new().read(true).custom_flags(flags).open(path)
}

impl Drop for NewFile {
    fn drop(&mut self) {
        remove_with_companions(&self.path);
    }
}

/// Makes a file without a name, locks it, and names it.
fn create_locked(folder: &Path, path: &Path) -> io::Result<File> {
    let flags = OFlags::TMPFILE | OFlags::RDWR | OFlags::CLOEXEC;
    let file = File::from(rustix::fs::open(folder, flags, Mode::RUSR | Mode::WUSR)?);
    prepare(&file)?;
    let descriptor = std::os::fd::AsRawFd::as_raw_fd(&file);
    let unnamed = format!("/proc/self/fd/{descriptor}");
    rustix::fs::linkat(CWD, unnamed, CWD, path, AtFlags::SYMLINK_FOLLOW)?;
    Ok(file)
}

fn prepare(file: &File) -> io::Result<()> {
    // The umask may have removed even the owner's rights.
    file.set_permissions(fs::Permissions::from_mode(0o600))?;
    file.lock()
}

fn remove_with_companions(path: &Path) {
    for beside in ["", "-wal", "-shm", "-journal"] {
        let mut name = path.to_owned().into_os_string();
        name.push(beside);
        // Most of these don't exist. Once the journal is there, no process looks for such files again, so a failure is not
        // the last word. One that can't be removed at all is an unused file in the state folder.
        let removed = fs::remove_file(&name);
        if removed.is_err_and(|error| error.kind() != io::ErrorKind::NotFound) {
            let _ = fs::remove_file(&name);
        }
    }
}

/// Waits until no other process creates a journal in this folder. So what a killed process has left there is found by the
/// next one that creates it. Not for long: the other process may be suspended, and two may create one at once.
pub(crate) fn wait_for_turn(folder: &Path) -> Option<File> {
    let folder = File::open(folder).ok()?;
    for _ in 0..TURN_ATTEMPTS {
        if folder.try_lock().is_ok() {
            return Some(folder);
        }
        std::thread::sleep(TURN_INTERVAL);
    }
    None
}

/// Removes the files of processes that were killed while they created a journal.
pub(crate) fn remove_abandoned(folder: &Path) {
    for entry in fs::read_dir(folder).into_iter().flatten().flatten() {
        let name = entry.file_name();
        let Some(name) = name.to_str().and_then(|name| name.strip_prefix(FILE)) else { continue };
        // The names of companions end in letters that the unique part doesn't have.
        let is_new =
            [LOCKED, UNLOCKED].iter().any(|kind| name.starts_with(kind)) && !name.ends_with(['l', 'm']);
        let is_abandoned =
            |file: File| (name.starts_with(LOCKED) || is_old(&file)) && file.try_lock().is_ok();
        if is_new && File::open(entry.path()).is_ok_and(is_abandoned) {
            info!(path = %entry.path().display(), "removes a journal whose creation was cut short");
            remove_with_companions(&entry.path());
        }
    }
}

fn is_old(file: &File) -> bool {
    let written = file.metadata().and_then(|metadata| metadata.modified());
    written.is_ok_and(|written| written.elapsed().is_ok_and(|age| age >= ABANDONED_AGE))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn files_that_a_killed_process_left_are_removed_and_those_of_a_living_one_stay() {
        let folder = tempfile::tempdir().unwrap();
        let named = |kind: &str, unique: &str| folder.path().join(format!("{FILE}{kind}{unique}"));
        for (kind, unique) in [(LOCKED, "0f"), (LOCKED, "0f-wal"), (LOCKED, "0f-shm"), (UNLOCKED, "0a")] {
            fs::write(named(kind, unique), "").unwrap();
        }
        fs::write(named(UNLOCKED, "0b"), "").unwrap();
        let long_ago = std::time::SystemTime::now() - ABANDONED_AGE;
        OpenOptions::new().write(true).open(named(UNLOCKED, "0a")).unwrap().set_modified(long_ago).unwrap();
        let living = NewFile::create(folder.path()).unwrap();
        remove_abandoned(folder.path());
        let names = || {
            let entries = fs::read_dir(folder.path()).unwrap().map(|entry| entry.unwrap().path());
            entries.collect::<std::collections::BTreeSet<_>>()
        };
        assert_eq!(names(), [living.path.clone(), named(UNLOCKED, "0b")].into());
        drop(living);
        assert_eq!(names(), [named(UNLOCKED, "0b")].into());
    }
}
