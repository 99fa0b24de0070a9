//! What a command may reach, as data.
//!
//! The engine decides what a command may do and writes it down here; a launcher carries it out. Two commands with equal
//! confinements share a launcher.

use std::path::PathBuf;

use serde::{Deserialize, Serialize};

use crate::path_bytes;

/// What the commands of one launcher may reach. All paths are absolute and without links.
#[derive(Clone, Debug, Default, PartialEq, Eq, Hash, Serialize, Deserialize)]
pub struct Confinement {
    /// Folders and files that can be written. All others are read-only.
    #[serde(with = "path_bytes::list")]
    pub writable: Vec<PathBuf>,
    /// What can be read.
    pub readable: Readable,
    /// Folders and files that stay visible in a private `/tmp`. They can be written only if they are writable.
    #[serde(with = "path_bytes::list")]
    pub visible: Vec<PathBuf>,
    /// Folders and files that can't be read. One that doesn't exist is left out.
    #[serde(with = "path_bytes::list")]
    pub unreadable: Vec<PathBuf>,
    /// Folders and files in an unreadable folder that can be read nevertheless, and written if they are writable.
    #[serde(with = "path_bytes::list")]
    pub exposed: Vec<PathBuf>,
    /// Folders in an unreadable folder whose files can be read by name, and that can't be listed. Where the kernel can't
    /// do that, they are unreadable.
    #[serde(with = "path_bytes::list")]
    pub unlisted: Vec<PathBuf>,
    /// Folders and files beneath a writable one that can't be written, renamed or replaced.
    pub protected: Vec<Protected>,
    /// Links that can't be replaced either, where they lie beneath a writable folder. What they lead to isn't protected by that.
    #[serde(with = "path_bytes::list")]
    pub links: Vec<PathBuf>,
    /// Unix sockets that commands may reach, beside those that their session made. Exact paths without links.
    #[serde(with = "path_bytes::list")]
    pub sockets: Vec<PathBuf>,
    /// Variables with secrets that only these commands get. Commands with other ones have another launcher, and the
    /// kernel lets no command look into processes of another launcher.
    pub variables: Vec<String>,
    /// What the network is.
    pub network: Network,
    /// What `/tmp` is.
    pub temp: Temp,
    /// Whether its commands are traced.
    pub tracing: Tracing,
    /// Whether it is told what its commands do.
    pub observing: Observing,
    /// Whether commands may trace each other.
    pub debugging: Debugging,
}

/// What can be read.
#[derive(Clone, Debug, Default, PartialEq, Eq, Hash, Serialize, Deserialize)]
pub enum Readable {
    /// Everything that isn't unreadable.
    #[default]
    Everything,
    /// These folders and files, and the writable ones. One that doesn't exist is left out.
    Only(#[serde(with = "path_bytes::list")] Vec<PathBuf>),
}

/// A place that can't be changed although a folder above it can. It can't be made either, if it doesn't exist.
#[derive(Clone, Debug, PartialEq, Eq, Hash, Serialize, Deserialize)]
pub struct Protected {
    /// The writable folder.
    #[serde(with = "path_bytes")]
    pub root: PathBuf,
    /// The place, relative to it. In a component, a star at the end stands for any further characters: `config*` is
    /// every name that begins so, `*` is every name.
    #[serde(with = "path_bytes")]
    pub path: PathBuf,
}

impl Protected {
    /// Whether `name` is one that the component `pattern` stands for. Letters match in upper and lower case, because some
    /// file systems take both for the same name.
    #[must_use]
    pub fn is_name(pattern: &[u8], name: &[u8]) -> bool {
        match pattern.strip_suffix(b"*") {
            Some(start) => name.get(..start.len()).is_some_and(|begin| begin.eq_ignore_ascii_case(start)),
            None => name.eq_ignore_ascii_case(pattern),
        }
    }
}

/// What the network is.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Hash, Serialize, Deserialize)]
pub enum Network {
    /// The machine's.
    #[default]
    Host,
    /// One that the session has for itself, with a loopback device and nothing else.
    Private,
}

/// What `/tmp` is.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Hash, Serialize, Deserialize)]
pub enum Temp {
    /// The machine's. It can be written if it is among the writable folders.
    #[default]
    Host,
    /// An empty folder that the session has for itself. It vanishes with the session.
    Private,
}

/// What the keeper is told of what commands do.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Hash, Serialize, Deserialize)]
pub enum Observing {
    /// What was refused, the first refusals of each command.
    #[default]
    Refusals,
    /// Also the files that they write and remove, and what they connect to. The tracer, if there is one, tells the programs.
    Effects,
    /// The effects and every refusal. A trial uses it to find out what a command needs.
    Needs,
}

/// Whether commands may trace each other, as `strace` and `gdb` do. A process has one tracer at most, so this excludes
/// [`Tracing::Programs`].
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Hash, Serialize, Deserialize)]
pub enum Debugging {
    /// They may not.
    #[default]
    No,
    /// They may.
    Allowed,
}

/// Whether commands are traced by the process that starts them.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Hash, Serialize, Deserialize)]
pub enum Tracing {
    /// They aren't.
    #[default]
    No,
    /// They stop before each program that they start. Without a tracer, they can start none.
    Programs,
}

#[cfg(test)]
mod tests {
    use super::Protected;

    #[test]
    fn a_star_stands_for_the_rest_of_a_name() {
        let is = |pattern: &str, name: &str| Protected::is_name(pattern.as_bytes(), name.as_bytes());
        assert!(is("config", "config") && is("config", "CONFIG") && !is("config", "config.lock"));
        assert!(is("config*", "config") && is("config*", "config.worktree") && !is("config*", "confi"));
        assert!(is("*", "any") && !is("", "any"));
    }
}
