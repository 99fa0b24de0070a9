//! The locations of agents' settings files, per operating system.

use std::ffi::OsString;
use std::path::PathBuf;

/// A file in the first usable base folder. A base begins with `~`, the user's home, or with `$NAME`, a variable; a base
/// whose variable isn't set is not usable.
#[derive(Clone, Copy, Debug)]
pub(crate) struct FileLocation {
    pub(crate) linux: &'static [&'static str],
    pub(crate) mac: &'static [&'static str],
    pub(crate) windows: &'static [&'static str],
    /// File names that the agent accepts. The first that exists is used, else the first.
    pub(crate) names: &'static [&'static str],
}

impl FileLocation {
    /// The same location on every system.
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
