//! The folder with the sockets of keepers, the output of executions and their stored ends.

use std::io;
use std::os::unix::fs::{DirBuilderExt as _, MetadataExt as _, PermissionsExt as _};
use std::path::{Path, PathBuf};

use crate::outcome::plain;

/// Beginnings of the names in a state folder.
const OWN_NAMES: [&str; 7] = ["ends", "journal.", "log", "mcp-keys", "sessions", "setup", "spool"];

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
    /// It holds other things, and other users can open it.
    #[error(
        "the state folder `{path}` holds other files, and other users can open it; name a folder of its own"
    )]
    Shared {
        /// The folder.
        path: PathBuf,
    },
}

impl StateFolder {
    /// Opens the folder at `path`, and creates it when it doesn't exist. Its mode is 0700.
    ///
    /// # Errors
    /// When it can't be created, belongs to another user, or holds other files and is open to other users.
    pub fn open(path: &Path) -> Result<Self, StateError> {
        // Where a link leads: a sandbox has no link in place of the folder.
        let folder = Self { path: path.canonicalize().unwrap_or_else(|_| path.to_owned()) };
        if folder.sockets().is_dir() && folder.spool().is_dir() && folder.ends().is_dir() {
            // Created by an earlier call. The folder itself is still checked each time.
            folder.check(&folder.path)?;
            return Ok(folder);
        }
        folder.refuse_shared()?;
        for path in [folder.path.clone(), folder.sockets(), folder.spool(), folder.ends()] {
            if !path.is_dir() {
                // The mode again, because the umask may take away even the user's own permissions.
                let made = std::fs::DirBuilder::new().recursive(true).mode(0o700).create(&path);
                let made = made.and_then(|()| close_to_others(&path));
                made.map_err(|source| StateError::Unusable { path: path.clone(), source })?;
            }
            folder.check(&path)?;
        }
        let path = folder.path.canonicalize().unwrap_or(folder.path);
        Ok(Self { path })
    }

    /// Refuses a folder that serves others too: closing it would lock them out.
    fn refuse_shared(&self) -> Result<(), StateError> {
        let is_open = self.path.metadata().is_ok_and(|metadata| metadata.mode() & 0o077 != 0);
        let is_own = |entry: std::fs::DirEntry| {
            let name = entry.file_name();
            OWN_NAMES.iter().any(|own| name.to_string_lossy().starts_with(own))
        };
        let holds_others =
            || std::fs::read_dir(&self.path).is_ok_and(|entries| !entries.flatten().all(is_own));
        if is_open && holds_others() {
            return Err(StateError::Shared { path: self.path.clone() });
        }
        Ok(())
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
