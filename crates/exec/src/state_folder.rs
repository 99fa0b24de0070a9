//! The folder with the sockets of keepers, the output of executions and their stored ends.

use std::io;
use std::os::unix::fs::{DirBuilderExt as _, MetadataExt as _, PermissionsExt as _};
use std::path::{Path, PathBuf};

use crate::outcome::plain;

/// A folder that only this user can open.
#[derive(Clone, Debug)]
pub struct StateFolder {
    path: PathBuf,
}

/// Why the state folder can't be used.
#[derive(Debug, thiserror::Error)]
pub enum StateError {
    /// It can't be created or read.
    #[error("the state folder `{path}` can't be used: {}", plain(source))]
    Unusable {
        /// The folder, or the folder in it that causes the error.
        path: PathBuf,
        /// What the system said.
        source: io::Error,
    },
    /// It belongs to another user.
    #[error("the state folder `{path}` belongs to user {owner}, not to you")]
    Foreign {
        /// The folder.
        path: PathBuf,
        /// The id of that user.
        owner: u32,
    },
}

impl StateFolder {
    /// Opens the folder at `path`, and creates it when it doesn't exist. Its mode is 0700.
    ///
    /// # Errors
    /// When it can't be created, or belongs to another user.
    pub fn open(path: &Path) -> Result<Self, StateError> {
        let folder = Self { path: path.to_owned() };
        if folder.sockets().is_dir() && folder.spool().is_dir() && folder.ends().is_dir() {
            // Created by an earlier call. The folder itself is still checked each time.
            folder.check(path)?;
            return Ok(folder);
        }
        for path in [path.to_owned(), folder.sockets(), folder.spool(), folder.ends()] {
            if !path.is_dir() {
                // The mode again, because the umask may take away even the user's own permissions.
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

    /// The folder for output.
    #[must_use]
    pub fn spool(&self) -> PathBuf {
        self.path.join("spool")
    }

    /// The paths of the output files of an execution.
    #[must_use]
    pub fn spool_files(&self, id: crate::ExecId) -> (String, String) {
        let file = |stream: crate::Stream| {
            self.spool().join(format!("{id}.{}", stream.name())).display().to_string()
        };
        (file(crate::Stream::Stdout), file(crate::Stream::Stderr))
    }

    /// The folder for logs. It is there once something was logged.
    #[must_use]
    pub fn log(&self) -> PathBuf {
        self.path.join(Self::LOG)
    }

    /// The name of the folder for logs.
    pub const LOG: &str = "log";

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
