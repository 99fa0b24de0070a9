//! The head of the chain in a file of its own, beside the database.
//!
//! If SQLite's log is damaged or removed, SQLite drops the entries in it and says nothing: the database is whole, but
//! shorter. The file tells how long it was. It is written after each transaction, so it is never ahead of a database that
//! lost nothing.

use std::fs::{File, OpenOptions};
use std::io;
use std::os::unix::fs::{FileExt as _, OpenOptionsExt as _};
use std::path::Path;

use rustix::fs::{FlockOperation, OFlags, flock};
use tracing::warn;

use crate::error::Error;
use crate::hash::Head;
use crate::new_file::NewFile;

/// Name of the file in the state folder.
const FILE: &str = "journal.head";

/// Twenty digits, a colon, 64 digits and a newline. The length is always the same, so that writing a new head needs no space.
const LENGTH_BYTES: usize = 86;

#[derive(Debug)]
pub(crate) struct HeadFile(File);

impl HeadFile {
    /// Opens the file, and creates it if it doesn't exist.
    pub(crate) fn open(folder: &Path) -> Result<Self, Error> {
        let path = folder.join(FILE);
        let mut opened = open(&path);
        if opened.as_ref().is_err_and(|error| error.kind() == io::ErrorKind::NotFound) {
            create(folder, &path)?;
            opened = open(&path);
        }
        opened.map(Self).map_err(|error| Error::from_io(&path, &error))
    }

    /// The head in the file of this folder. `None`: there is none, or the file is damaged.
    ///
    /// # Errors
    /// When the file can't be opened or read: then it isn't known whether entries are lost.
    pub(crate) fn in_folder(folder: &Path) -> Result<Option<Head>, Error> {
        let path = folder.join(FILE);
        let unknown = |error: &io::Error| Error::from_io(&path, error);
        // Opening a named pipe would wait for a writer.
        let flags = i32::try_from((OFlags::NOFOLLOW | OFlags::NONBLOCK).bits()).unwrap_or_default();
        match OpenOptions::new().read(true).custom_flags(flags).open(&path) {
            Ok(file) => try_read(&file).map_err(|error| unknown(&error)),
            Err(error) if error.kind() == io::ErrorKind::NotFound => Ok(None),
            Err(error) => Err(unknown(&error)),
        }
    }

    /// The head in the file, if a database that ends at `head` has lost entries.
    pub(crate) fn lost_head(&self, head: Head) -> Option<Head> {
        let is_lost = |kept: &Head| kept.seq > head.seq || kept.seq == head.seq && kept.hash != head.hash;
        read(&self.0).filter(is_lost)
    }

    /// Writes the head, unless another process wrote a later one. `after_loss`: also then.
    pub(crate) fn keep(&self, head: Head, after_loss: bool) {
        if let Err(error) = self.try_keep(head, after_loss) {
            // The entries are written. Only their loss would not be noticed.
            warn!(%error, "can't write the head of the record outside the database");
        }
    }

    fn try_keep(&self, head: Head, after_loss: bool) -> io::Result<()> {
        flock(&self.0, FlockOperation::LockExclusive)?;
        let is_later = read(&self.0).is_none_or(|kept| kept.seq < head.seq);
        let written = match is_later || after_loss {
            true => self.0.write_all_at(format!("{:020}:{}\n", head.seq, head.hash).as_bytes(), 0),
            false => Ok(()),
        };
        flock(&self.0, FlockOperation::Unlock)?;
        written
    }
}

fn open(path: &Path) -> io::Result<File> {
    let flags = i32::try_from(OFlags::NOFOLLOW.bits()).unwrap_or_default();
    OpenOptions::new().read(true).write(true).custom_flags(flags).open(path)
}

/// Makes the file, with its owner's rights before it has its name: the umask may remove even those.
fn create(folder: &Path, path: &Path) -> Result<(), Error> {
    let file = NewFile::create(folder)?;
    match file.publish(path) {
        Err(error) if error.kind() != io::ErrorKind::AlreadyExists => Err(Error::from_io(path, &error)),
        _ => Ok(()),
    }
}

fn read(file: &File) -> Option<Head> {
    try_read(file).ok().flatten()
}

/// The head in a file. `None`: the file is damaged.
fn try_read(file: &File) -> io::Result<Option<Head>> {
    let mut text = [0; LENGTH_BYTES];
    match file.read_exact_at(&mut text, 0) {
        Ok(()) => Ok(str::from_utf8(&text).ok().and_then(|text| text.parse().ok())),
        Err(error) if error.kind() == io::ErrorKind::UnexpectedEof => Ok(None),
        Err(error) => Err(error),
    }
}

#[cfg(test)]
mod tests {
    use super::HeadFile;
    use crate::hash::{Head, Sha};

    fn head(seq: u64) -> Head {
        Head { seq, hash: Sha::of(&[&seq.to_be_bytes()]) }
    }

    #[test]
    fn the_latest_head_stays() {
        let folder = tempfile::tempdir().unwrap();
        let file = HeadFile::open(folder.path()).unwrap();
        assert_eq!(file.lost_head(head(0)), None, "no head was kept yet");
        file.keep(head(5), false);
        file.keep(head(4), false);
        assert_eq!(HeadFile::in_folder(folder.path()).unwrap(), Some(head(5)));
        assert_eq!(file.lost_head(head(5)), None);
        assert_eq!(file.lost_head(head(6)), None);
        assert_eq!(file.lost_head(head(4)), Some(head(5)));
        assert_eq!(file.lost_head(Head { seq: 5, hash: Sha::NONE }), Some(head(5)), "another entry 5");
        file.keep(head(3), true);
        assert_eq!(HeadFile::in_folder(folder.path()).unwrap(), Some(head(3)));
    }

    #[test]
    fn a_damaged_file_holds_no_head() {
        let folder = tempfile::tempdir().unwrap();
        let file = HeadFile::open(folder.path()).unwrap();
        for text in ["", "5:", &"x".repeat(86), "00000000000000000005:00"] {
            std::fs::write(folder.path().join(super::FILE), text).unwrap();
            assert_eq!(file.lost_head(head(0)), None, "{text}");
        }
        file.keep(head(1), false);
        assert_eq!(HeadFile::in_folder(folder.path()).unwrap(), Some(head(1)));
    }
    /// What can't be read is not "no head": entries may be lost.
    #[test]
    fn a_file_that_can_t_be_read_is_an_error() {
        let folder = tempfile::tempdir().unwrap();
        assert_eq!(HeadFile::in_folder(folder.path()).unwrap(), None, "there is none");
        let file = folder.path().join(super::FILE);
        std::fs::create_dir(&file).unwrap();
        assert!(HeadFile::in_folder(folder.path()).is_err(), "a folder");
        std::fs::remove_dir(&file).unwrap();
        rustix::fs::mkfifoat(rustix::fs::CWD, &file, rustix::fs::Mode::RWXU).unwrap();
        assert!(HeadFile::in_folder(folder.path()).is_err(), "a named pipe, without waiting for a writer");
    }
}
