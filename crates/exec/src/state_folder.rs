//! The folder where sockets and output are.

use std::io;
use std::os::unix::fs::{DirBuilderExt as _, MetadataExt as _, PermissionsExt as _};
use std::path::{Path, PathBuf};

use crate::outcome::plain;

/// A folder that is ours alone, for sockets and output.
#[derive(Clone, Debug)]
pub struct StateFolder {
    path: PathBuf,
}

/// Why the state folder can't be used.
#[derive(Debug, thiserror::Error)]
pub enum StateError {
    /// It can't be made or read.
    #[error("the state folder `{path}` can't be used: {}", plain(source))]
    Unusable {
        /// The folder, or the one in it that is the trouble.
        path: PathBuf,
        /// What the system said.
        source: io::Error,
    },
    /// It belongs to somebody else.
    #[error("the state folder `{path}` belongs to user {owner}, not to you")]
    Foreign {
        /// The folder.
        path: PathBuf,
        /// Whose it is.
        owner: u32,
    },
}

impl StateFolder {
    /// Opens `path`, and makes it when it isn't there. Nobody else gets in: mode 0700.
    ///
    /// # Errors
    /// When it can't be made, or is somebody else's.
    pub fn open(path: &Path) -> Result<Self, StateError> {
        let folder = Self { path: path.to_owned() };
        if folder.sockets().is_dir() && folder.spool().is_dir() && folder.ends().is_dir() {
            // Made by an earlier call; the folder itself is checked each time all the same.
            folder.check(path)?;
            return Ok(folder);
        }
        for path in [path.to_owned(), folder.sockets(), folder.spool(), folder.ends()] {
            if !path.is_dir() {
                // The mode again, because our mask may take away even our own rights.
                let made = std::fs::DirBuilder::new().recursive(true).mode(0o700).create(&path);
                let made = made.and_then(|()| close_to_others(&path));
                made.map_err(|source| StateError::Unusable { path: path.clone(), source })?;
            }
            folder.check(&path)?;
        }
        Ok(folder)
    }

    fn check(&self, path: &Path) -> Result<(), StateError> {
        let unusable = |source| StateError::Unusable { path: path.to_owned(), source };
        let metadata = std::fs::metadata(path).map_err(unusable)?;
        if metadata.uid() != rustix::process::geteuid().as_raw() {
            return Err(StateError::Foreign { path: path.to_owned(), owner: metadata.uid() });
        }
        if metadata.mode() & 0o077 != 0 {
            close_to_others(path).map_err(unusable)?;
        }
        Ok(())
    }

    /// The folder itself.
    #[must_use]
    pub fn path(&self) -> &Path {
        &self.path
    }

    /// Where output is kept.
    #[must_use]
    pub fn spool(&self) -> PathBuf {
        self.path.join("spool")
    }

    /// The files that the output of an execution goes to.
    #[must_use]
    pub fn spool_files(&self, id: crate::ExecId) -> (String, String) {
        let file = |stream: crate::Stream| {
            self.spool().join(format!("{id}.{}", stream.name())).display().to_string()
        };
        (file(crate::Stream::Stdout), file(crate::Stream::Stderr))
    }

    pub(crate) fn ends(&self) -> PathBuf {
        self.path.join("ends")
    }

    pub(crate) fn sockets(&self) -> PathBuf {
        self.path.join("sessions")
    }
}

fn close_to_others(path: &Path) -> io::Result<()> {
    std::fs::set_permissions(path, std::fs::Permissions::from_mode(0o700))
}
