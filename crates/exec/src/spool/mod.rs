//! The files for output: two per execution, byte for byte what it printed.
//!
//! Most commands end at once and print little. Their output is in memory first ([`Spool::in_memory`]), because creating two files
//! can take as long as the command. It gets files when the command prints more, runs for longer or goes on as a job: from the keeper;
//! or else when its end is recorded: from the caller ([`Spool::save`]).
//!
//! They are `spool/ID.stdout` and `spool/ID.stderr` in the state folder. When a stream is longer than its file may be,
//! `ID.stdout.tail` has its last bytes. The caller creates the files and sends the descriptors to the keeper, so that a
//! confined keeper needs no access to the state folder. A process that has a file open has a shared lock on it. So a file
//! that can be locked exclusively is finished, also after a crash ([`prune()`]).

mod prune;
mod tail;

use std::fs::File;
use std::io;
use std::os::unix::fs::FileExt as _;
use std::path::{Path, PathBuf};

use rustix::fs::{FlockOperation, MemfdFlags, Mode, OFlags};

pub use prune::{Pruned, prune};
pub(crate) use tail::Tail;

use crate::regular_file::{open_regular, read_regular};
use crate::{ExecId, PerStream, Stream};

/// How much of output in memory is copied at once.
const COPY_BYTES: usize = 16 << 10;

/// The longest file that is read as a tail.
const TAIL_MAX_BYTES: u64 = 16 << 20;

/// The two files of one execution.
#[derive(Debug)]
pub struct Spool {
    /// The files, open for reading and writing.
    pub files: PerStream<File>,
    /// Their paths. `None`: they could not be created.
    pub paths: Option<PerStream<PathBuf>>,
    /// Whether the files are in memory, and the paths lead nowhere yet.
    is_in_memory: bool,
}

impl Spool {
    /// Creates the files in `folder`.
    ///
    /// # Errors
    /// When they can't be created there.
    pub fn create(folder: &Path, id: ExecId) -> io::Result<Self> {
        let (stdout_path, stdout) = create(folder, id, Stream::Stdout)?;
        let (stderr_path, stderr) = match create(folder, id, Stream::Stderr) {
            Ok(made) => made,
            Err(error) => {
                // A file that stays is pruned later.
                let _ = std::fs::remove_file(&stdout_path);
                return Err(error);
            }
        };
        Ok(Self {
            files: PerStream { stdout, stderr },
            paths: Some(PerStream { stdout: stdout_path, stderr: stderr_path }),
            is_in_memory: false,
        })
    }

    /// Output in memory, in files that [`memory_files`] made. They are saved in `folder` later.
    pub(crate) fn in_memory(files: PerStream<File>, folder: &Path, id: ExecId) -> Self {
        Self { files, paths: Some(paths(folder, id)), is_in_memory: true }
    }

    /// Whether the output is in memory.
    #[must_use]
    pub fn is_in_memory(&self) -> bool {
        self.is_in_memory
    }

    /// Gives output that is in memory its files.
    ///
    /// # Errors
    /// When they can't be written. Then there are none, and the output stays in memory.
    pub fn save(&mut self, folder: &Path, id: ExecId) -> io::Result<()> {
        if !std::mem::take(&mut self.is_in_memory) {
            return Ok(());
        }
        let saved = copy_to_files(folder, id, &self.files);
        self.paths = self.paths.take().filter(|_| saved.is_ok());
        saved.map(drop)
    }

    /// Removes the files of an execution that was never started.
    pub(crate) fn remove(self) {
        let paths = self.paths.filter(|_| !self.is_in_memory);
        for path in paths.into_iter().flat_map(|paths| [paths.stdout, paths.stderr]) {
            // A file that stays is pruned later.
            let _ = std::fs::remove_file(path);
        }
    }

    /// Opens the files of an execution for reading.
    ///
    /// # Errors
    /// `NotFound` when they were pruned.
    pub fn open(folder: &Path, id: ExecId) -> io::Result<Self> {
        let paths = paths(folder, id);
        let files = PerStream { stdout: open_regular(&paths.stdout)?, stderr: open_regular(&paths.stderr)? };
        Ok(Self { files, paths: Some(paths), is_in_memory: false })
    }

    /// The last bytes of a stream whose file is full, or nothing if they were not stored.
    #[must_use]
    pub fn tail(folder: &Path, id: ExecId, stream: Stream) -> Vec<u8> {
        read_regular(&tail_path(folder, id, stream), TAIL_MAX_BYTES).unwrap_or_default()
    }

    /// Stores the last bytes of a stream whose file is full. The file is replaced as a whole.
    pub(crate) fn keep_tail(folder: &Path, id: ExecId, stream: Stream, tail: &[u8]) -> io::Result<()> {
        let path = tail_path(folder, id, stream);
        let temporary = path.with_extension("tail-new");
        let flags = OFlags::RDWR | OFlags::CREATE | OFlags::TRUNC | OFlags::CLOEXEC | OFlags::NOFOLLOW;
        let file = File::from(rustix::fs::open(&temporary, flags, Mode::RUSR | Mode::WUSR)?);
        let kept = io::Write::write_all(&mut &file, tail).and_then(|()| std::fs::rename(&temporary, path));
        if kept.is_err() {
            // A file that was begun is of no use.
            let _ = std::fs::remove_file(temporary);
        }
        kept
    }

    /// Output that is in no file, as files in memory.
    ///
    /// # Errors
    /// When the process has no descriptor left, or the kernel no memory.
    pub fn of_texts(texts: &PerStream<String>) -> io::Result<Self> {
        let file = |stream: Stream| -> io::Result<File> {
            let file = File::from(rustix::fs::memfd_create(stream.name(), MemfdFlags::CLOEXEC)?);
            file.write_all_at(texts.get(stream).as_bytes(), 0)?;
            Ok(file)
        };
        let files = PerStream { stdout: file(Stream::Stdout)?, stderr: file(Stream::Stderr)? };
        Ok(Self { files, paths: None, is_in_memory: false })
    }

    /// Empty files, for an execution whose files could not be created or are not kept any more.
    ///
    /// # Errors
    /// When the process has no descriptor left.
    pub fn nowhere() -> io::Result<Self> {
        let nothing = || File::open("/dev/null");
        let files = PerStream { stdout: nothing()?, stderr: nothing()? };
        Ok(Self { files, paths: None, is_in_memory: false })
    }
}

/// Two empty files in memory.
///
/// # Errors
/// When the process has no descriptor left, or the kernel no memory.
pub(crate) fn memory_files() -> io::Result<PerStream<File>> {
    let create = |stream: Stream| -> io::Result<File> {
        Ok(rustix::fs::memfd_create(stream.name(), MemfdFlags::CLOEXEC)?.into())
    };
    Ok(PerStream { stdout: create(Stream::Stdout)?, stderr: create(Stream::Stderr)? })
}

/// Copies output that is in memory to files.
///
/// # Errors
/// When it can't be written. Then no file is left.
pub(crate) fn copy_to_files(
    folder: &Path,
    id: ExecId,
    memory: &PerStream<File>,
) -> io::Result<PerStream<File>> {
    let named = Spool::create(folder, id)?;
    for stream in Stream::BOTH {
        if let Err(error) = copy(memory.get(stream), named.files.get(stream)) {
            named.remove();
            return Err(error);
        }
    }
    Ok(named.files)
}

fn copy(from: &File, to: &File) -> io::Result<()> {
    let mut buffer = vec![0; COPY_BYTES];
    let mut at = 0;
    loop {
        match from.read_at(&mut buffer, at) {
            Ok(0) => return Ok(()),
            Ok(count) => {
                to.write_all_at(buffer.get(..count).unwrap_or_default(), at)?;
                at += count as u64;
            }
            Err(error) if error.kind() == io::ErrorKind::Interrupted => {}
            Err(error) => return Err(error),
        }
    }
}

fn paths(folder: &Path, id: ExecId) -> PerStream<PathBuf> {
    let path = |stream: Stream| folder.join(format!("{id}.{}", stream.name()));
    PerStream { stdout: path(Stream::Stdout), stderr: path(Stream::Stderr) }
}

fn tail_path(folder: &Path, id: ExecId, stream: Stream) -> PathBuf {
    folder.join(format!("{id}.{}.tail", stream.name()))
}

fn create(folder: &Path, id: ExecId, stream: Stream) -> io::Result<(PathBuf, File)> {
    let path = folder.join(format!("{id}.{}", stream.name()));
    // Not for appending: `splice` needs a file that isn't opened with `O_APPEND`.
    let flags = OFlags::RDWR | OFlags::CREATE | OFlags::CLOEXEC | OFlags::EXCL;
    let file = rustix::fs::open(&path, flags, Mode::RUSR | Mode::WUSR)?;
    rustix::fs::flock(&file, FlockOperation::NonBlockingLockShared)?;
    Ok((path, File::from(file)))
}
