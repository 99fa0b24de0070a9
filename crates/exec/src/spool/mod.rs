//! Where output is kept: two files per execution, byte for byte what was printed.
//!
//! `spool/ID.stdout` and `spool/ID.stderr` in the state folder; for a stream that was too much for its file, `ID.stdout.tail`
//! has the end. The caller opens them and hands the descriptors to
//! the keeper, so that a keeper which is confined later needs no way into the state folder. Whoever holds one holds a
//! shared lock on it: a file that can be locked exclusively is finished, also after a crash ([`prune`]).

mod prune;
mod tail;

use std::fs::File;
use std::io;
use std::path::{Path, PathBuf};

use rustix::fs::{FlockOperation, Mode, OFlags};

pub use prune::{Pruned, prune};
pub(crate) use tail::Tail;

use crate::{ExecId, PerStream, Stream};

/// The two files of one execution.
#[derive(Debug)]
pub struct Spool {
    /// The files, open for reading and writing.
    pub files: PerStream<File>,
    /// Their names, unless they could not be made.
    pub paths: Option<PerStream<PathBuf>>,
}

impl Spool {
    /// Makes the files in `folder`.
    ///
    /// # Errors
    /// When they can't be made there.
    pub fn create(folder: &Path, id: ExecId) -> io::Result<Self> {
        let (stdout_path, stdout) = create(folder, id, Stream::Stdout)?;
        let (stderr_path, stderr) = match create(folder, id, Stream::Stderr) {
            Ok(made) => made,
            Err(error) => {
                let _ = std::fs::remove_file(&stdout_path);
                return Err(error);
            }
        };
        Ok(Self {
            files: PerStream { stdout, stderr },
            paths: Some(PerStream { stdout: stdout_path, stderr: stderr_path }),
        })
    }

    /// Removes the files of an execution that was never started.
    pub(crate) fn remove(self) {
        for path in self.paths.into_iter().flat_map(|paths| [paths.stdout, paths.stderr]) {
            // What can't be removed is pruned in time.
            let _ = std::fs::remove_file(path);
        }
    }

    /// Opens the files of an execution to read.
    ///
    /// # Errors
    /// `NotFound` when they aren't kept any more.
    pub fn open(folder: &Path, id: ExecId) -> io::Result<Self> {
        let path = |stream: Stream| folder.join(format!("{id}.{}", stream.name()));
        let paths = PerStream { stdout: path(Stream::Stdout), stderr: path(Stream::Stderr) };
        let files = PerStream { stdout: File::open(&paths.stdout)?, stderr: File::open(&paths.stderr)? };
        Ok(Self { files, paths: Some(paths) })
    }

    /// The end of a stream whose file is full, as far as somebody has kept it.
    #[must_use]
    pub fn tail(folder: &Path, id: ExecId, stream: Stream) -> Vec<u8> {
        std::fs::read(tail_path(folder, id, stream)).unwrap_or_default()
    }

    /// Keeps the end of a stream whose file is full. Whoever reads it finds all of it, or what was there before.
    pub(crate) fn keep_tail(folder: &Path, id: ExecId, stream: Stream, tail: &[u8]) -> io::Result<()> {
        let path = tail_path(folder, id, stream);
        let temporary = path.with_extension("tail-new");
        let flags = OFlags::RDWR | OFlags::CREATE | OFlags::TRUNC | OFlags::CLOEXEC | OFlags::NOFOLLOW;
        let file = File::from(rustix::fs::open(&temporary, flags, Mode::RUSR | Mode::WUSR)?);
        io::Write::write_all(&mut &file, tail)?;
        std::fs::rename(temporary, path)
    }

    /// For an execution whose files could not be made: it has what the keeper remembers.
    pub(crate) fn nowhere() -> io::Result<Self> {
        let nothing = || File::open("/dev/null");
        Ok(Self { files: PerStream { stdout: nothing()?, stderr: nothing()? }, paths: None })
    }
}

fn tail_path(folder: &Path, id: ExecId, stream: Stream) -> PathBuf {
    folder.join(format!("{id}.{}.tail", stream.name()))
}

fn create(folder: &Path, id: ExecId, stream: Stream) -> io::Result<(PathBuf, File)> {
    let path = folder.join(format!("{id}.{}", stream.name()));
    // Not for appending: the kernel moves bytes out of pipes only to a stated place.
    let flags = OFlags::RDWR | OFlags::CREATE | OFlags::CLOEXEC | OFlags::EXCL;
    let file = rustix::fs::open(&path, flags, Mode::RUSR | Mode::WUSR)?;
    rustix::fs::flock(&file, FlockOperation::NonBlockingLockShared)?;
    Ok((path, File::from(file)))
}
