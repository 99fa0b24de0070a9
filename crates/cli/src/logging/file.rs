//! A log file: lines are appended, a full file is rotated, a forked process continues in the file of its own role.
//!
//! Several processes append to one file. A line is one write to a file that was opened for appending, so lines don't mix.
//! A process that finds the file full renames it, under a lock that it doesn't wait for. The others notice at their next
//! line that their file is full, see that the name belongs to another file by now, and open that one.
//!
//! Only regular files are written, in a folder of this user: a FIFO in the folder would block everything that logs. A link to
//! a folder is followed, a link to a file isn't.

use std::fs::{File, OpenOptions};
use std::io::{self, Write as _};
use std::os::unix::fs::{DirBuilderExt as _, FileExt as _, MetadataExt as _, OpenOptionsExt as _};
use std::path::{Path, PathBuf};

use rustix::fs::{FlockOperation, OFlags};

/// A file that is longer than this is rotated.
const MAX_FILE_BYTES: u64 = 4 << 20;

/// A file that can't be rotated grows up to this. Then no more lines are written.
const MAX_UNROTATED_BYTES: u64 = 2 * MAX_FILE_BYTES;

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
    /// Whether the process has said that the file can't be rotated or written.
    said: bool,
}

impl LogFile {
    /// Opens the file of `role` in `folder`, and makes both if they are missing. Other users get no access.
    pub(super) fn open(folder: &Path, role: Role) -> io::Result<Self> {
        if !folder.is_dir() {
            std::fs::DirBuilder::new().mode(0o700).create(folder)?;
        }
        let owner = std::fs::metadata(folder)?.uid();
        if owner != rustix::process::geteuid().as_raw() {
            return Err(io::Error::other(format!("it belongs to user {owner}, not to you")));
        }
        let file = open(&path(folder, role, 0))?;
        Ok(Self { folder: folder.to_owned(), role, pid: std::process::id(), file, said: false })
    }

    /// Appends the line that `format` makes for the role of this process. Returns the first error of the process, and its
    /// role: a log that can't be written says so once, and must not stop the work that it is about.
    pub(super) fn write(&mut self, format: impl FnOnce(Role) -> String) -> Result<(), (io::Error, Role)> {
        let written = self.follow_fork().and_then(|()| self.append(&format(self.role)));
        match written {
            Err(error) if !self.said => {
                self.said = true;
                Err((error, self.role))
            }
            _ => Ok(()),
        }
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
        (self.role, self.pid, self.said) = (role, std::process::id(), false);
        Ok(())
    }

    fn append(&mut self, line: &str) -> io::Result<()> {
        let rotated = match self.file.metadata()?.len() >= MAX_FILE_BYTES {
            true => self.rotate(),
            false => Ok(()),
        };
        let length = self.file.metadata()?.len();
        if rotated.is_ok() || length < MAX_UNROTATED_BYTES {
            // A process that was killed while it wrote, or a full disk, may have left half a line.
            let text = if self.ends_with_newline(length)? { line.to_owned() } else { format!("\n{line}") };
            self.file.write_all(text.as_bytes())?;
        }
        rotated.map_err(|error| io::Error::new(error.kind(), format!("it can't be rotated: {error}")))
    }

    fn ends_with_newline(&self, length: u64) -> io::Result<bool> {
        let mut last = [b'\n'];
        if let Some(at) = length.checked_sub(1) {
            self.file.read_at(&mut last, at)?;
        }
        Ok(last == *b"\n")
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
    // A FIFO, a device or a socket must not block or do anything.
    let flags = (OFlags::NOFOLLOW | OFlags::NONBLOCK | OFlags::NOCTTY).bits().cast_signed();
    let file =
        OpenOptions::new().read(true).append(true).create(true).mode(0o600).custom_flags(flags).open(path)?;
    match file.metadata()?.is_file() {
        true => Ok(file),
        false => Err(io::Error::other(format!("`{}` isn't a regular file", path.display()))),
    }
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
    fn only_regular_files_are_written() {
        let folder = tempfile::tempdir().unwrap();
        let path = folder.path().join("keeper.log");
        rustix::fs::mkfifoat(rustix::fs::CWD, &path, 0o600.into()).unwrap();
        assert!(LogFile::open(folder.path(), Role::Keeper).is_err());
        // Also when a process reads it.
        let nonblocking = OFlags::NONBLOCK.bits().cast_signed();
        let _reader = OpenOptions::new().read(true).custom_flags(nonblocking).open(&path).unwrap();
        assert!(LogFile::open(folder.path(), Role::Keeper).is_err());
        std::fs::remove_file(&path).unwrap();
        let _socket = std::os::unix::net::UnixListener::bind(&path).unwrap();
        assert!(LogFile::open(folder.path(), Role::Keeper).is_err());
    }

    #[test]
    fn a_line_never_continues_half_a_line() {
        let folder = tempfile::tempdir().unwrap();
        let path = folder.path().join("keeper.log");
        std::fs::write(&path, "one\nhal").unwrap();
        let mut log = LogFile::open(folder.path(), Role::Keeper).unwrap();
        log.append("two\n").unwrap();
        log.append("three\n").unwrap();
        assert_eq!(std::fs::read_to_string(&path).unwrap(), "one\nhal\ntwo\nthree\n");
    }

    #[test]
    fn a_log_that_cannot_be_rotated_says_so_once_and_goes_on_for_a_while() {
        let folder = tempfile::tempdir().unwrap();
        let mut log = LogFile::open(folder.path(), Role::Keeper).unwrap();
        // A folder that isn't empty can't be replaced by a file.
        std::fs::create_dir_all(folder.path().join("keeper.log.1/x")).unwrap();
        let mut errors = Vec::new();
        for _ in 0..20 {
            errors.extend(log.write(|_| long('a')).err());
        }
        assert_eq!(errors.len(), 1, "{errors:?}");
        assert!(errors[0].0.to_string().starts_with("it can't be rotated: "), "{errors:?}");
        let length = folder.path().join("keeper.log").metadata().unwrap().len();
        assert!((MAX_UNROTATED_BYTES..MAX_UNROTATED_BYTES + (2 << 20)).contains(&length), "{length}");
    }

    #[test]
    fn a_folder_of_another_user_is_refused_and_a_link_to_an_own_one_followed() {
        let place = tempfile::tempdir().unwrap();
        let (link, target) = (place.path().join("log"), place.path().join("elsewhere"));
        std::fs::create_dir(&target).unwrap();
        std::os::unix::fs::symlink(&target, &link).unwrap();
        LogFile::open(&link, Role::Keeper).unwrap().append("one\n").unwrap();
        assert_eq!(names(&target), ["keeper.log"]);
        if rustix::process::geteuid().is_root() {
            std::os::unix::fs::chown(&target, Some(12345), Some(12345)).unwrap();
            let error = LogFile::open(&link, Role::Keeper).unwrap_err();
            assert!(error.to_string().contains("belongs to user 12345"), "{error}");
        }
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
