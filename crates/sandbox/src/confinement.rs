//! What a command may reach, as data.
//!
//! The engine decides what a command may do and writes it down here; a launcher carries it out. Two commands with equal
//! confinements share a launcher.

use std::path::PathBuf;

use serde::{Deserialize, Serialize};

/// What the commands of one launcher may reach. All paths are absolute and without links.
#[derive(Clone, Debug, Default, PartialEq, Eq, Hash, Serialize, Deserialize)]
pub struct Confinement {
    /// Folders and files that can be written. All others are read-only.
    pub writable: Vec<PathBuf>,
    /// What can be read.
    pub readable: Readable,
    /// Folders and files that stay visible in a private `/tmp`. They can be written only if they are writable.
    pub visible: Vec<PathBuf>,
    /// Folders and files that can't be read. One that doesn't exist is left out.
    pub unreadable: Vec<PathBuf>,
    /// Folders and files beneath a writable one that can't be written, renamed or replaced.
    pub protected: Vec<Protected>,
    /// What the network is.
    pub network: Network,
    /// What `/tmp` is.
    pub temp: Temp,
}

/// What can be read.
#[derive(Clone, Debug, Default, PartialEq, Eq, Hash, Serialize, Deserialize)]
pub enum Readable {
    /// Everything that isn't unreadable.
    #[default]
    Everything,
    /// These folders and files, and the writable ones. One that doesn't exist is left out.
    Only(Vec<PathBuf>),
}

/// A place that can't be changed although a folder above it can.
#[derive(Clone, Debug, PartialEq, Eq, Hash, Serialize, Deserialize)]
pub struct Protected {
    /// The writable folder.
    pub root: PathBuf,
    /// The place, relative to it.
    pub path: PathBuf,
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
