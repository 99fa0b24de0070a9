//! Where agents keep their settings, on each system.

use std::ffi::OsString;
use std::path::PathBuf;

/// A file below the first base that this machine has. A base begins with `~` for the user's home, or with `$NAME` for a
/// variable; one whose variable isn't set doesn't count.
#[derive(Clone, Copy, Debug)]
pub(crate) struct FileLocation {
    pub(crate) linux: &'static [&'static str],
    pub(crate) mac: &'static [&'static str],
    pub(crate) windows: &'static [&'static str],
    /// Names that the agent knows the file by. The first that is there counts, else the first.
    pub(crate) names: &'static [&'static str],
}

impl FileLocation {
    /// The same on every system.
    pub(crate) const fn same_everywhere(
        bases: &'static [&'static str],
        names: &'static [&'static str],
    ) -> Self {
        Self { linux: bases, mac: bases, windows: bases, names }
    }

    /// The folder on this machine.
    pub(crate) fn folder(&self) -> Option<PathBuf> {
        let bases = match std::env::consts::OS {
            "macos" => self.mac,
            "windows" => self.windows,
            _ => self.linux,
        };
        bases.iter().find_map(|base| resolve(base))
    }

    /// The file on this machine.
    pub(crate) fn file(&self) -> Option<PathBuf> {
        let folder = self.folder()?;
        let paths = || self.names.iter().map(|name| folder.join(name));
        paths().find(|path| path.exists()).or_else(|| paths().next())
    }
}

fn resolve(base: &str) -> Option<PathBuf> {
    let (first, rest) = base.split_once('/').unwrap_or((base, ""));
    let start = match first.strip_prefix('$') {
        Some(name) => {
            std::env::var_os(name).filter(|value: &OsString| !value.is_empty()).map(PathBuf::from)?
        }
        None => std::env::home_dir()?,
    };
    let path = if rest.is_empty() { start } else { start.join(rest) };
    path.is_absolute().then_some(path)
}
