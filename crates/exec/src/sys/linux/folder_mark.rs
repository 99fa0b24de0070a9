//! The name that a keeper's folder of sockets had when the keeper began, where other processes can read it.
//!
//! A state folder may be renamed while commands run, and another one gets its name. The keeper's descriptors then tell the new
//! name, and who looks for keepers under the old name would say that nothing runs. So a keeper holds an empty file in memory, and
//! the name of that file has the folder's first name.

use std::ffi::{CString, OsString};
use std::os::fd::OwnedFd;
use std::os::unix::ffi::{OsStrExt as _, OsStringExt as _};
use std::path::{Path, PathBuf};

use rustix::fs::MemfdFlags;

use crate::proc::{self, Link};

/// How the names of these files begin.
const PREFIX: &str = "shellgate-keeps:";

/// The kernel takes 249 bytes for the name of a file in memory. Of a longer path its end is kept.
const MAX_NAME_BYTES: usize = 249;

/// The file, for as long as the keeper lives.
#[derive(Debug)]
pub(crate) struct FolderMark {
    _file: OwnedFd,
}

impl FolderMark {
    /// Marks this process with the present name of an open folder. `None`: the system has no descriptor or memory for it.
    pub(crate) fn of(folder: &OwnedFd) -> Option<Self> {
        let path = std::fs::read_link(proc::path_of_own_descriptor(folder)).ok()?;
        let name = CString::new(name(&path)).ok()?;
        Some(Self { _file: rustix::fs::memfd_create(name, MemfdFlags::CLOEXEC).ok()? })
    }
}

/// What a descriptor of a process with this mark is open on.
pub(crate) fn link(folder: &Path) -> Link {
    let target = [b"/memfd:", name(folder).as_slice(), b" (deleted)"].concat();
    Link::File(PathBuf::from(OsString::from_vec(target)))
}

fn name(folder: &Path) -> Vec<u8> {
    let path = folder.as_os_str().as_bytes();
    let left_out = (PREFIX.len() + path.len()).saturating_sub(MAX_NAME_BYTES);
    [PREFIX.as_bytes(), path.get(left_out..).unwrap_or_default()].concat()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_mark_is_seen_by_the_first_name_of_the_folder_however_long_it_is() {
        let parent = tempfile::tempdir().unwrap();
        for name in ["a".to_owned(), "b c\n(deleted)".to_owned(), "d".repeat(255)] {
            let (first, second) = (parent.path().join(&name), parent.path().join("second"));
            std::fs::create_dir(&first).unwrap();
            let folder = OwnedFd::from(std::fs::File::open(&first).unwrap());
            let mark = FolderMark::of(&folder).unwrap();
            std::fs::rename(&first, &second).unwrap();
            let links = || proc::of(std::process::id()).links();
            assert!(links().contains(&link(&first)), "{name:?}");
            assert!(!links().contains(&link(&second)), "{name:?}");
            drop(mark);
            assert!(!links().contains(&link(&first)), "{name:?}");
            std::fs::remove_dir(&second).unwrap();
        }
    }
}
