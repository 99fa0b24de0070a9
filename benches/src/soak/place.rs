//! The soak's own folder: root, state folder, home and a copy of the binary.

use std::path::{Path, PathBuf};
use std::process::{Command, Stdio};

/// Commands may write files without a question, and questions don't wait for long. Journal and output of about two minutes
/// are kept, so that pruning is part of the load.
const SETTINGS: &str =
    "[policy]\nredirects = \"allow\"\n[approval]\ntimeout_s = 30\n[journal]\nkeep_mb = 48\n";

/// The variable by which the processes are known that are never killed.
pub(super) const STEADY: &str = "SHELLGATE_SOAK_STEADY";

pub(super) struct Place {
    folder: PathBuf,
    binary: PathBuf,
}

impl Place {
    pub(super) fn new(binary: &Path) -> Result<Self, String> {
        let folder = tempfile::Builder::new().prefix("shellgate-soak-").tempdir();
        let folder = folder.map_err(|error| format!("no temporary folder: {error}"))?.keep();
        let place = Self { binary: folder.join("shellgate"), folder };
        place.lay_out(binary).map_err(|error| format!("{}: {error}", place.folder.display()))?;
        Ok(place)
    }

    fn lay_out(&self, binary: &Path) -> std::io::Result<()> {
        let settings = self.folder.join("home/.config/shellgate");
        for folder in [self.effects(), self.state(), settings.clone()] {
            std::fs::create_dir_all(folder)?;
        }
        std::fs::write(settings.join("config.toml"), SETTINGS)?;
        // By its path the soak's processes are known, and a build meanwhile doesn't change it.
        std::fs::copy(binary, &self.binary).map(drop)
    }

    pub(super) fn folder(&self) -> &Path {
        &self.folder
    }

    pub(super) fn binary(&self) -> &Path {
        &self.binary
    }

    pub(super) fn root(&self) -> PathBuf {
        self.folder.join("root")
    }

    pub(super) fn state(&self) -> PathBuf {
        self.folder.join("state")
    }

    /// Folder of the files to which commands append their marks.
    pub(super) fn effects(&self) -> PathBuf {
        self.root().join("effects")
    }

    /// Any program in this place.
    pub(super) fn program(&self, program: impl AsRef<std::ffi::OsStr>) -> Command {
        let mut command = Command::new(program);
        command.current_dir(self.root()).env_clear().stdin(Stdio::null());
        command.env("PATH", std::env::var_os("PATH").unwrap_or_default()).env("LANG", "C.UTF-8");
        command.env("HOME", self.folder.join("home")).env("SHELLGATE_HOME", self.state());
        command
    }

    pub(super) fn shellgate<S: AsRef<std::ffi::OsStr>>(&self, words: impl IntoIterator<Item = S>) -> Command {
        let mut command = self.program(&self.binary);
        command.args(words);
        command
    }

    /// `shellgate mcp` for one session. A steady one is never killed.
    pub(super) fn server(&self, session: &str, is_steady: bool, words: &[&str]) -> Command {
        let mut command = self.shellgate(["mcp", "--core", "*", "--exclude", "touch", "--session", session]);
        command.args(words);
        if is_steady {
            command.env(STEADY, "1");
        }
        command
    }

    /// Removes all of it.
    pub(super) fn remove(&self) {
        let _ = std::fs::remove_dir_all(&self.folder);
    }
}
