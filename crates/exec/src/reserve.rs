//! Space that is set aside for the ends of executions.
//!
//! A command's own output may fill the disk, and then its end would be lost. So a file beside the stored ends holds some
//! space. It is given up when an end can't be written otherwise, and taken again when there is space.

use std::io;
use std::path::Path;

use rustix::fs::{FallocateFlags, Mode, OFlags};
use tracing::{info, warn};

/// The name of the file. It begins like no stored end does.
const FILE: &str = ".reserve";

/// Enough for the ends of some hundred executions.
const RESERVED_BYTES: u64 = 256 << 10;

/// What must be free beside it: the record of the next commands needs space, too.
const FREE_BESIDE_BYTES: u64 = 128 << 10;

/// Sets the space aside, unless it is already.
pub(crate) fn fill(ends: &Path) {
    let path = ends.join(FILE);
    if std::fs::symlink_metadata(&path).is_ok_and(|file| file.is_file() && file.len() >= RESERVED_BYTES) {
        return;
    }
    let free = rustix::fs::statvfs(ends).map_or(0, |disk| disk.f_bavail.saturating_mul(disk.f_frsize));
    if free < RESERVED_BYTES + FREE_BESIDE_BYTES {
        info!(free, "no space is set aside for the ends of commands: the disk is almost full");
        return;
    }
    // Something else may stand there: to open a named pipe is to wait for a reader.
    let flags = OFlags::WRONLY | OFlags::CREATE | OFlags::CLOEXEC | OFlags::NONBLOCK | OFlags::NOFOLLOW;
    let filled = rustix::fs::open(&path, flags, Mode::RUSR | Mode::WUSR)
        .and_then(|file| rustix::fs::fallocate(&file, FallocateFlags::empty(), 0, RESERVED_BYTES));
    if let Err(error) = filled {
        // Without space, or on a file system that can't set space aside. A file that holds none is of no use.
        info!(%error, "no space is set aside for the ends of commands");
        let _ = std::fs::remove_file(&path);
    }
}

/// Writes with `write`. If the disk is full, the space is given up and `write` is called again.
pub(crate) fn with_reserve(ends: &Path, write: impl Fn() -> io::Result<()>) -> io::Result<()> {
    match write() {
        Err(error) if is_full(&error) && std::fs::remove_file(ends.join(FILE)).is_ok() => {
            warn!("the disk is full: uses the space that is set aside for ends");
            write()
        }
        written => written,
    }
}

/// Whether an error says that there is no space.
pub(crate) fn is_full(error: &io::Error) -> bool {
    matches!(error.kind(), io::ErrorKind::StorageFull | io::ErrorKind::QuotaExceeded)
}
