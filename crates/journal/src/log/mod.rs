//! The log: entries that are written, and not in the database yet.
//!
//! A command may start when its entries survive the death of any process. Appending a line to a file is enough for that, and
//! takes a tenth of the time of a transaction. So a start and an end are lines of `journal.log` first. Three kinds of calls enter
//! them into the database ([`Journal::enter`](crate::Journal::enter)): every other call that writes, every call that reads the record, and
//! the recording of an end when the log is long. The lines go on with the chain of the entries: each has the hash of the one before.
//!
//! ```text
//!  begin, end ──▶ journal.log ──enter──▶ journal.db
//!                 (one write)            (one transaction for many)
//! ```
//!
//! A process locks the log while it appends or empties. A process that needs both locks takes that of the database first. A line counts
//! as written when its end is there: the next process that appends removes what a full disk cut off.

mod line;

use std::fs::{File, OpenOptions};
use std::io::{self, BufRead as _, BufReader, Write as _};
use std::os::unix::fs::{FileExt as _, MetadataExt as _};
use std::path::{Path, PathBuf};
use std::sync::{Mutex, MutexGuard, PoisonError};

use rustix::fs::{FlockOperation, flock};
use rustix::io::Errno;
use tracing::warn;

pub(crate) use line::{Line, write as write_line};

use crate::error::Error;
use crate::hash::Head;
use crate::head_file::HeadFile;
use crate::new_file;
use crate::open::busy_pause;

/// Name of the file in the state folder.
pub(crate) const FILE: &str = "journal.log";

/// The log of an open journal.
#[derive(Debug)]
pub(crate) struct Log {
    folder: PathBuf,
    /// Threads share one lock of the file, so they also have this one.
    files: Mutex<Files>,
}

#[derive(Debug)]
struct Files {
    log: File,
    kept_head: HeadFile,
}

impl Files {
    fn open(folder: &Path) -> Result<Self, Error> {
        let log = new_file::open_or_create(folder, FILE, OpenOptions::new().read(true).append(true))?;
        Ok(Self { log, kept_head: HeadFile::open(folder)? })
    }
}

/// The log while its lock is held.
pub(crate) struct LockedLog<'a> {
    files: MutexGuard<'a, Files>,
    bytes: u64,
}

impl Log {
    /// Opens the log, and creates it if it doesn't exist.
    pub(crate) fn open(folder: &Path) -> Result<Self, Error> {
        Ok(Self { folder: folder.to_owned(), files: Mutex::new(Files::open(folder)?) })
    }

    /// Waits for the lock, as long as for that of the database at most.
    pub(crate) fn lock(&self) -> Result<LockedLog<'_>, Error> {
        let mut files = self.files.lock().unwrap_or_else(PoisonError::into_inner);
        loop {
            wait_for_lock(&files.log)?;
            let metadata = files.log.metadata().map_err(|error| self.unusable(&error))?;
            if metadata.nlink() > 0 {
                return Ok(LockedLog { files, bytes: metadata.len() });
            }
            // The file was removed: a line written to it now would be lost.
            warn!(folder = %self.folder.display(), "opens the log of the record again");
            *files = Files::open(&self.folder)?;
        }
    }

    /// Whether its lock is free. It may be taken the next moment.
    pub(crate) fn is_free(&self) -> bool {
        let Ok(files) = self.files.try_lock() else { return false };
        flock(&files.log, FlockOperation::NonBlockingLockExclusive).is_ok()
            && flock(&files.log, FlockOperation::Unlock).is_ok()
    }

    /// How long it is. It may be another length the next moment.
    pub(crate) fn bytes(&self) -> u64 {
        std::fs::metadata(self.folder.join(FILE)).map_or(0, |metadata| metadata.len())
    }

    fn unusable(&self, error: &io::Error) -> Error {
        Error::from_io(&self.folder.join(FILE), error)
    }
}

/// The last entry of the log in this folder. `None`: it has none.
pub(crate) fn head_in(folder: &Path) -> Option<Head> {
    let file = new_file::open_to_read(&folder.join(FILE)).ok()?;
    let bytes = file.metadata().ok()?.len();
    line::head_before(&file, bytes)
}

/// The lines of the log in this folder, as they are now.
pub(crate) fn lines_in(folder: &Path) -> Result<impl Iterator<Item = Result<Line, Error>>, Error> {
    let path = folder.join(FILE);
    Ok(lines(new_file::open_to_read(&path).map_err(|error| Error::from_io(&path, &error))?))
}

fn lines(from: impl io::Read) -> impl Iterator<Item = Result<Line, Error>> {
    let mut reader = BufReader::new(from);
    std::iter::from_fn(move || {
        let mut text = Vec::new();
        match reader.read_until(b'\n', &mut text) {
            Ok(0) => None,
            // What a full disk cut off was never written.
            Ok(_) if text.last() != Some(&b'\n') => None,
            Ok(_) => Some(Line::read(&text)),
            Err(error) => Some(Err(Error::from_io(Path::new(FILE), &error))),
        }
    })
}

fn wait_for_lock(file: &File) -> Result<(), Error> {
    let mut tries = 0;
    loop {
        match flock(file, FlockOperation::NonBlockingLockExclusive) {
            Ok(()) => return Ok(()),
            Err(Errno::INTR) => {}
            Err(Errno::WOULDBLOCK) => {
                std::thread::sleep(busy_pause(tries).ok_or(Error::Busy)?);
                tries += 1;
            }
            Err(errno) => return Err(Error::Unusable { message: format!("`{FILE}`: {errno}") }),
        }
    }
}

impl LockedLog<'_> {
    /// The last entry of the chain: that of the log, or the one that was kept outside of the database. `None`: only the database
    /// knows it.
    pub(crate) fn head(&self) -> Option<Head> {
        if self.bytes == 0 {
            self.files.kept_head.read()
        } else {
            line::head_before(&self.files.log, self.bytes)
        }
    }

    /// How long it is.
    pub(crate) const fn bytes(&self) -> u64 {
        self.bytes
    }

    /// Whether it has no line.
    pub(crate) const fn is_empty(&self) -> bool {
        self.bytes == 0
    }

    /// Appends lines, the last of which is the entry `head`. All of them are written, or none.
    pub(crate) fn append(&mut self, lines: &str, head: Head) -> Result<(), Error> {
        if let Err(error) = (&self.files.log).write_all(lines.as_bytes()) {
            // If that fails too, the next who appends removes what has no end.
            let _ = self.files.log.set_len(self.bytes);
            return Err(Error::from_io(Path::new(FILE), &error));
        }
        self.bytes += lines.len() as u64;
        self.files.kept_head.write(head);
        Ok(())
    }

    /// Reads the lines, in order. One that can't be read is an error of its own.
    pub(crate) fn lines(&self) -> impl Iterator<Item = Result<Line, Error>> {
        lines(At { file: &self.files.log, offset: 0, end: self.bytes })
    }

    /// Removes all lines: the database has them.
    pub(crate) fn empty(&mut self) {
        match self.files.log.set_len(0) {
            Ok(()) => self.bytes = 0,
            // They are known by their numbers, and not entered again.
            Err(error) => warn!(%error, "the log of the record can't be emptied"),
        }
    }

    /// Removes what stands behind the last line that has an end.
    pub(crate) fn repair(&mut self) -> Result<(), Error> {
        let unusable = |error: io::Error| Error::from_io(Path::new(FILE), &error);
        let mut end = 0;
        let mut reader = BufReader::new(At { file: &self.files.log, offset: 0, end: self.bytes });
        let mut text = Vec::new();
        while reader.read_until(b'\n', &mut text).map_err(unusable)? > 0 && text.last() == Some(&b'\n') {
            end += text.len() as u64;
            text.clear();
        }
        warn!(from = self.bytes, to = end, "removes the rest of a line from the log of the record");
        self.files.log.set_len(end).map_err(unusable)?;
        self.bytes = end;
        Ok(())
    }
}

impl Drop for LockedLog<'_> {
    fn drop(&mut self) {
        // Closing the file would unlock it, too.
        let _ = flock(&self.files.log, FlockOperation::Unlock);
    }
}

/// A part of a file, read without moving the file's own position.
struct At<'a> {
    file: &'a File,
    offset: u64,
    end: u64,
}

impl io::Read for At<'_> {
    fn read(&mut self, buffer: &mut [u8]) -> io::Result<usize> {
        let left = usize::try_from(self.end.saturating_sub(self.offset)).unwrap_or(usize::MAX);
        let wanted = buffer.len().min(left);
        let read = self.file.read_at(buffer.get_mut(..wanted).unwrap_or_default(), self.offset)?;
        self.offset += read as u64;
        Ok(read)
    }
}
