//! A log file: lines are appended, a full file is rotated, a forked process continues in the file of its own role.
//!
//! Several processes append to one file. A line is one write to a file that was opened for appending, so lines don't mix.
//! A process that finds the file full renames it, under a lock that it doesn't wait for. The others notice at their next
//! line that their file is full, see that the name belongs to another file by now, and open that one.

use std::fs::{File, OpenOptions};
use std::io::{self, Write as _};
use std::os::unix::fs::{DirBuilderExt as _, MetadataExt as _, OpenOptionsExt as _};
use std::path::{Path, PathBuf};

use rustix::fs::{FlockOperation, OFlags};

/// A file that is longer than this is rotated.
const MAX_FILE_BYTES: u64 = 4 << 20;

/// How many full files are kept beside the current one.
const OLD_FILES: u32 = 2;

/// What a process is.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Role {
    /// A command line for one call.
    FrontEnd,
    /// `shellgate mcp`.
    Server,
    /// The process that runs a session's commands.
    Keeper,
    /// The process that takes over from a keeper that was killed.
    Standby,
}

impl Role {
    pub(super) const fn name(self) -> &'static str {
        match self {
            Self::FrontEnd => "front-end",
            Self::Server => "server",
            Self::Keeper => "keeper",
            Self::Standby => "standby",
        }
    }

    /// The role of a process that was forked off. It has given itself a name by then.
    fn of_this_process(before: Self) -> Self {
        match rustix::thread::name() {
            Ok(name) if name.as_c_str() == c"shellgate-keep" => Self::Keeper,
            Ok(name) if name.as_c_str() == c"shellgate-stby" => Self::Standby,
            _ => before,
        }
    }
}

/// The log of this process.
#[derive(Debug)]
pub(super) struct LogFile {
    folder: PathBuf,
    role: Role,
    /// The process that opened the file.
    pid: u32,
    file: File,
}

impl LogFile {
    /// Opens the file of `role` in `folder`, and makes both if they are missing. Other users get no access.
    pub(super) fn open(folder: &Path, role: Role) -> io::Result<Self> {
        if !folder.is_dir() {
            std::fs::DirBuilder::new().mode(0o700).create(folder)?;
        }
        let file = open(&path(folder, role, 0))?;
        Ok(Self { folder: folder.to_owned(), role, pid: std::process::id(), file })
    }

    /// Appends the line that `format` makes for the role of this process.
    pub(super) fn write(&mut self, format: impl FnOnce(Role) -> String) -> io::Result<()> {
        self.follow_fork()?;
        self.append(&format(self.role))
    }

    /// A process that was forked off has no open file, and perhaps another role.
    fn follow_fork(&mut self) -> io::Result<()> {
        if self.pid == std::process::id() {
            return Ok(());
        }
        let role = Role::of_this_process(self.role);
        let file = open(&path(&self.folder, role, 0))?;
        // Its descriptor was closed with all others, and the number may belong to another file now.
        std::mem::forget(std::mem::replace(&mut self.file, file));
        (self.role, self.pid) = (role, std::process::id());
        Ok(())
    }

    fn append(&mut self, line: &str) -> io::Result<()> {
        if self.file.metadata()?.len() >= MAX_FILE_BYTES {
            self.rotate()?;
        }
        self.file.write_all(line.as_bytes())
    }

    fn rotate(&mut self) -> io::Result<()> {
        let folder = File::open(&self.folder)?;
        if rustix::fs::flock(&folder, FlockOperation::NonBlockingLockExclusive).is_err() {
            // Another process is at it. Until it is done, lines go to the full file.
            return Ok(());
        }
        let current = path(&self.folder, self.role, 0);
        if is_same(&current, &self.file) {
            for age in (0..OLD_FILES).rev() {
                let older = path(&self.folder, self.role, age + 1);
                match std::fs::rename(path(&self.folder, self.role, age), older) {
                    Err(error) if error.kind() != io::ErrorKind::NotFound => return Err(error),
                    _ => {}
                }
            }
        }
        self.file = open(&current)?;
        Ok(())
    }
}

/// The file of a role: 0 is the current one, higher numbers are older.
fn path(folder: &Path, role: Role, age: u32) -> PathBuf {
    match age {
        0 => folder.join(format!("{}.log", role.name())),
        age => folder.join(format!("{}.log.{age}", role.name())),
    }
}

fn open(path: &Path) -> io::Result<File> {
    let no_links = OFlags::NOFOLLOW.bits().cast_signed();
    OpenOptions::new().append(true).create(true).mode(0o600).custom_flags(no_links).open(path)
}

fn is_same(path: &Path, file: &File) -> bool {
    let identity =
        |metadata: io::Result<std::fs::Metadata>| metadata.ok().map(|file| (file.dev(), file.ino()));
    identity(path.symlink_metadata()) == identity(file.metadata())
}

#[cfg(test)]
mod tests {
    use std::os::unix::fs::PermissionsExt as _;

    use super::*;

    fn names(folder: &Path) -> Vec<String> {
        let mut names: Vec<String> = folder
            .read_dir()
            .unwrap()
            .map(|entry| entry.unwrap().file_name().into_string().unwrap())
            .collect();
        names.sort();
        names
    }

    /// A line that fills a quarter of a file.
    fn long(letter: char) -> String {
        let length = usize::try_from(MAX_FILE_BYTES / 4).unwrap();
        format!("{}\n", letter.to_string().repeat(length))
    }

    #[test]
    fn folder_and_files_are_closed_to_others() {
        let place = tempfile::tempdir().unwrap();
        let folder = place.path().join("log");
        let mut log = LogFile::open(&folder, Role::Keeper).unwrap();
        log.append("one\n").unwrap();
        let mode = |path: &Path| path.metadata().unwrap().permissions().mode() & 0o777;
        assert_eq!((mode(&folder), mode(&folder.join("keeper.log"))), (0o700, 0o600));
    }

    #[test]
    fn three_files_are_kept_and_the_newest_lines_are_in_the_first() {
        let folder = tempfile::tempdir().unwrap();
        let mut log = LogFile::open(folder.path(), Role::Server).unwrap();
        for letter in ('a'..='z').flat_map(|letter| [letter; 4]) {
            log.append(&long(letter)).unwrap();
        }
        log.append("last\n").unwrap();
        assert_eq!(names(folder.path()), ["server.log", "server.log.1", "server.log.2"]);
        assert_eq!(std::fs::read_to_string(folder.path().join("server.log")).unwrap(), "last\n");
        for (name, letter) in [("server.log.1", 'z'), ("server.log.2", 'y')] {
            let text = std::fs::read_to_string(folder.path().join(name)).unwrap();
            assert!(text.starts_with(letter) && text.len() < 5 << 20, "{name}");
        }
    }

    #[test]
    fn a_process_follows_when_another_one_has_rotated() {
        let folder = tempfile::tempdir().unwrap();
        let mut one = LogFile::open(folder.path(), Role::FrontEnd).unwrap();
        let mut other = LogFile::open(folder.path(), Role::FrontEnd).unwrap();
        for _ in 0..4 {
            one.append(&long('a')).unwrap();
        }
        one.append("one\n").unwrap();
        other.append("other\n").unwrap();
        assert_eq!(std::fs::read_to_string(folder.path().join("front-end.log")).unwrap(), "one\nother\n");
        assert_eq!(names(folder.path()), ["front-end.log", "front-end.log.1"]);
    }

    #[test]
    fn a_lock_is_not_waited_for() {
        let folder = tempfile::tempdir().unwrap();
        let mut log = LogFile::open(folder.path(), Role::Keeper).unwrap();
        let lock = File::open(folder.path()).unwrap();
        rustix::fs::flock(&lock, FlockOperation::LockExclusive).unwrap();
        for letter in ['a'; 5] {
            log.append(&long(letter)).unwrap();
        }
        assert_eq!(names(folder.path()), ["keeper.log"]);
        drop(lock);
        log.append("after\n").unwrap();
        assert_eq!(names(folder.path()), ["keeper.log", "keeper.log.1"]);
    }

    #[test]
    fn a_link_is_not_followed() {
        let folder = tempfile::tempdir().unwrap();
        let target = folder.path().join("target");
        std::fs::write(&target, "").unwrap();
        std::os::unix::fs::symlink(&target, folder.path().join("keeper.log")).unwrap();
        assert!(LogFile::open(folder.path(), Role::Keeper).is_err());
    }

    #[test]
    fn a_removed_file_is_made_again_when_full() {
        let folder = tempfile::tempdir().unwrap();
        let mut log = LogFile::open(folder.path(), Role::Keeper).unwrap();
        for letter in ['a'; 4] {
            log.append(&long(letter)).unwrap();
        }
        std::fs::remove_file(folder.path().join("keeper.log")).unwrap();
        log.append("again\n").unwrap();
        assert_eq!(std::fs::read_to_string(folder.path().join("keeper.log")).unwrap(), "again\n");
    }
}
