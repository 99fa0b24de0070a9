//! Standard input of a confined command.
//!
//! A descriptor from outside belongs to a mount of the machine, where nothing is read-only or covered: by a file, a command
//! could change its mode and times; by a folder, also by one that was removed, it could reach all files around it. So what has
//! a path is opened again, where the launcher sees it. Pipes and files without a name have no mount to come from.
//!
//! A socket belongs to the machine's network, and most can be used to reach others than the one at the other end.

use std::os::fd::{AsFd as _, BorrowedFd, OwnedFd};
use std::os::unix::ffi::OsStrExt as _;
use std::path::{Path, PathBuf};
use std::sync::Arc;

use rustix::fs::{FileType, Mode, OFlags, ResolveFlags, SeekFrom, Stat};
use rustix::io::Errno;
use rustix::net::{AddressFamily, SocketType, sockopt};
use shellgate_sandbox::spawn::{SpawnError, Step};

use crate::proc;

/// The files of a launcher's world, for standard input.
#[derive(Debug, Default)]
pub(super) struct Inside {
    /// Its null device. Most commands have it, so it is opened once.
    null: Option<Arc<OwnedFd>>,
    /// Its root folder. It can't be opened while the launcher has made a process ready.
    root: Option<OwnedFd>,
}

impl Inside {
    /// The same file as `launcher` sees it. `None`: it has no path, and is harmless as it is.
    pub(super) fn open(
        &mut self,
        launcher: u32,
        stdin: BorrowedFd<'_>,
    ) -> Result<Option<Arc<OwnedFd>>, SpawnError> {
        let stat = rustix::fs::fstat(stdin).map_err(error)?;
        let is_null = FileType::from_raw_mode(stat.st_mode) == FileType::CharacterDevice
            && stat.st_rdev == rustix::fs::makedev(1, 3);
        if let (true, Some(null)) = (is_null, &self.null) {
            return Ok(Some(Arc::clone(null)));
        }
        let Some(path) = path_of(stdin, &stat).map_err(error)? else {
            return if is_harmless(stdin, &stat) { Ok(None) } else { Err(error(Errno::ISDIR)) };
        };
        let flags = OFlags::PATH | OFlags::DIRECTORY | OFlags::CLOEXEC;
        let root = match &mut self.root {
            Some(root) => root,
            // A launcher that has ended is replaced.
            none => none.insert(
                rustix::fs::open(proc::of(launcher).root(), flags, Mode::empty())
                    .map_err(|_| SpawnError { step: Step::Clone, source: Errno::PIPE.into() })?,
            ),
        };
        let opened = open_same(root.as_fd(), &path, stdin).map(Arc::new).map_err(error)?;
        if is_null {
            self.null = Some(Arc::clone(&opened));
        }
        Ok(Some(opened))
    }
}

fn error(errno: Errno) -> SpawnError {
    SpawnError { step: Step::Input, source: errno.into() }
}

/// Whether commands can have something without a path as it is: no folder, and no socket but one end of a Unix connection.
fn is_harmless(stdin: BorrowedFd<'_>, stat: &Stat) -> bool {
    match FileType::from_raw_mode(stat.st_mode) {
        FileType::Directory => false,
        FileType::Socket => {
            sockopt::socket_domain(stdin) == Ok(AddressFamily::UNIX)
                && sockopt::socket_type(stdin)
                    .is_ok_and(|kind| matches!(kind, SocketType::STREAM | SocketType::SEQPACKET))
        }
        _ => true,
    }
}

/// The path of an open file that has a name in a file system.
fn path_of(file: BorrowedFd<'_>, stat: &Stat) -> Result<Option<PathBuf>, Errno> {
    let kind = FileType::from_raw_mode(stat.st_mode);
    let path = rustix::fs::readlink(proc::path_of_own_descriptor(file), Vec::new())?;
    let path = PathBuf::from(std::ffi::OsStr::from_bytes(path.as_bytes()));
    let is_named = path.is_absolute() && stat.st_nlink > 0 && kind != FileType::Socket;
    Ok(is_named.then_some(path))
}

/// Opens `path` for reading below `root`, without following links, at the place that `file` is read at.
fn open_same(root: BorrowedFd<'_>, path: &Path, file: BorrowedFd<'_>) -> Result<OwnedFd, Errno> {
    let below = path.strip_prefix("/").map_err(|_| Errno::INVAL)?;
    // A named pipe without a writer would hold us.
    let flags = OFlags::RDONLY | OFlags::NONBLOCK | OFlags::NOCTTY | OFlags::CLOEXEC;
    let resolve = ResolveFlags::BENEATH | ResolveFlags::NO_SYMLINKS;
    let opened = rustix::fs::openat2(root, below, flags, Mode::empty(), resolve)?;
    let (before, now) = (rustix::fs::fstat(file)?, rustix::fs::fstat(&opened)?);
    let is_folder = FileType::from_raw_mode(now.st_mode) == FileType::Directory;
    if is_folder || (before.st_dev, before.st_ino) != (now.st_dev, now.st_ino) {
        return Err(Errno::ISDIR);
    }
    rustix::fs::fcntl_setfl(&opened, OFlags::empty())?;
    if let Ok(at) = rustix::fs::tell(file) {
        // Devices have no places.
        let _ = rustix::fs::seek(&opened, SeekFrom::Start(at));
    }
    Ok(opened)
}
