//! The folder in which a keeper stores the ends of executions whose caller has gone.

use std::io;
use std::os::fd::{AsRawFd as _, OwnedFd};
use std::path::{Path, PathBuf};

use rustix::fs::{Mode, OFlags};

/// `ends` in the state folder. The keeper holds the state folder itself, not its name: a folder that is renamed while a
/// command runs still gets the command's end.
#[derive(Debug)]
pub(super) struct EndsFolder {
    path: PathBuf,
    _state: OwnedFd,
}

impl EndsFolder {
    pub(super) fn open(path: &Path) -> io::Result<Self> {
        let (Some(state), Some(name)) = (path.parent(), path.file_name()) else {
            return Err(io::Error::other("the folder for ends has no parent"));
        };
        let flags = OFlags::PATH | OFlags::DIRECTORY | OFlags::CLOEXEC;
        let state = rustix::fs::open(state, flags, Mode::empty())?;
        let path = Path::new("/proc/self/fd").join(state.as_raw_fd().to_string()).join(name);
        Ok(Self { path, _state: state })
    }

    /// Where it is for this process. A folder that was removed is made again: its files are lost, but no end that comes.
    pub(super) fn path(&self) -> &Path {
        // Where it can't be made, writing into it fails.
        let _ = std::fs::create_dir(&self.path);
        &self.path
    }
}

#[cfg(test)]
mod tests {
    use super::EndsFolder;

    #[test]
    fn a_folder_that_is_renamed_or_removed_is_still_written() {
        let folder = tempfile::tempdir().unwrap();
        let [state, away] = ["state", "away"].map(|name| folder.path().join(name));
        std::fs::create_dir(&state).unwrap();
        let ends = EndsFolder::open(&state.join("ends")).unwrap();
        std::fs::write(ends.path().join("1"), "a").unwrap();
        assert!(state.join("ends/1").exists());
        std::fs::rename(&state, &away).unwrap();
        std::fs::write(ends.path().join("2"), "b").unwrap();
        assert!(away.join("ends/2").exists());
        std::fs::remove_dir_all(away.join("ends")).unwrap();
        std::fs::write(ends.path().join("3"), "c").unwrap();
        assert!(away.join("ends/3").exists() && !state.exists());
    }
}
