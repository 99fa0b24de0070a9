//! Settings that programs take only from root or from their own user.
//!
//! In the user namespace of an ordinary user, files of all others, root's too, are shown as `nobody`'s. `ssh` refuses
//! included settings of `nobody`, and with them to run. So they are copied into a file system of the launcher's own, whose
//! files are the user's.

use std::os::fd::AsFd as _;
use std::path::{Path, PathBuf};

use rustix::mount::MountAttrFlags;

use super::error::{ConfineError, Context as _, Mechanism};
use super::mounts::{self, Depth, NO_DEVICES, NO_SETUID, READ_ONLY};

const FOLDERS: [&str; 1] = ["/etc/ssh/ssh_config.d"];

/// A longer file is left out: it is no settings.
const MAX_FILE_BYTES: u64 = 256 << 10;

/// Lays copies over the folders, unless the user is root, who owns them.
pub(super) fn lay_over() -> Result<(), ConfineError> {
    if rustix::process::geteuid().is_root() {
        return Ok(());
    }
    FOLDERS.iter().try_for_each(|folder| lay_over_folder(Path::new(folder)))
}

fn lay_over_folder(folder: &Path) -> Result<(), ConfineError> {
    let files = readable_files(folder);
    if files.is_empty() {
        return Ok(());
    }
    let at = || folder.display().to_string();
    let attributes = MountAttrFlags::MOUNT_ATTR_NOSUID | MountAttrFlags::MOUNT_ATTR_NODEV;
    let copy = mounts::new_filesystem(c"tmpfs", &[(c"mode", c"755")], attributes)
        .and_then(|copy| mounts::attach(&copy, folder).map(|()| copy))
        .context(Mechanism::Mounts, at())?;
    for (path, bytes) in files {
        std::fs::write(&path, bytes).context(Mechanism::Mounts, path.display().to_string())?;
    }
    mounts::set_attributes(copy.as_fd(), Depth::One, READ_ONLY | NO_SETUID | NO_DEVICES)
        .context(Mechanism::Mounts, at())
}

/// The files of a folder with what they contain. Those that can't be read are left out, as `ssh` would.
fn readable_files(folder: &Path) -> Vec<(PathBuf, Vec<u8>)> {
    let entries = std::fs::read_dir(folder).into_iter().flatten().flatten();
    let paths = entries.map(|entry| entry.path());
    let short = paths
        .filter(|path| path.metadata().is_ok_and(|found| found.is_file() && found.len() <= MAX_FILE_BYTES));
    short.filter_map(|path| std::fs::read(&path).ok().map(|bytes| (path, bytes))).collect()
}
