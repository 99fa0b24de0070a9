//! What a confined process checks about itself before it runs anything.
//!
//! Five system calls at most, no allocation, no `/proc`: it can be used between `clone` and `exec`, in memory that is shared
//! with the parent.
//!
//! The kernel tells no process whether a Landlock domain holds for it. So that wall is checked by its effect:
//! [`refuses_writing`] tries to open a file for writing. Ask before and after [`apply`](super::landlock::Ruleset::apply)
//! with the same file, such as [`PROBE_FILE`]: the answers must differ.

use std::ffi::CStr;

use rustix::fs::{Mode, OFlags};
use rustix::io::Errno;
use rustix::thread::{self, SecureComputingMode};

use super::capabilities;
use crate::sys::probe;

/// A file that every process may open for writing, unless Landlock forbids it. Opening it changes nothing.
pub const PROBE_FILE: &CStr = c"/proc/thread-self/comm";

/// What the kernel says about the calling thread.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Held {
    /// An `exec` adds no privilege.
    pub no_new_privs: bool,
    /// No capability is effective or inheritable, and after an `exec` none is permitted. The ambient set is part of both the
    /// permitted and the inheritable one, so it is empty too.
    pub capabilities_zero: bool,
    /// Whether system calls are filtered.
    pub seccomp: Seccomp,
    /// The version of Landlock that the kernel has; `None` where there is none.
    pub landlock_abi: Option<u32>,
}

/// Whether system calls are filtered.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Seccomp {
    /// They are not.
    Off,
    /// By one or more filters.
    Filtered,
}

/// Why a process doesn't know what holds for it.
#[derive(Clone, Copy, Debug, PartialEq, Eq, thiserror::Error)]
pub enum VerifyError {
    /// `no_new_privs` can't be read.
    #[error("can't read no_new_privs: {0}")]
    NoNewPrivs(#[source] Errno),
    /// The capabilities can't be read.
    #[error("can't read the capabilities: {0}")]
    Capabilities(#[source] Errno),
    /// The state of the filter can't be read.
    #[error("can't read the seccomp mode: {0}")]
    Seccomp(#[source] Errno),
}

impl Held {
    /// Asks the kernel about the calling thread.
    ///
    /// # Errors
    /// When the kernel doesn't tell. A process that gets one should run nothing.
    pub fn read() -> Result<Self, VerifyError> {
        let sets = thread::capabilities(None).map_err(VerifyError::Capabilities)?;
        let usable = sets.effective | sets.inheritable;
        let is_gone = capabilities::is_gone_after_exec(sets.permitted).map_err(VerifyError::Capabilities)?;
        let mode = thread::secure_computing_mode().map_err(VerifyError::Seccomp)?;
        Ok(Self {
            no_new_privs: thread::no_new_privs().map_err(VerifyError::NoNewPrivs)?,
            capabilities_zero: usable.is_empty() && is_gone,
            seccomp: if mode == SecureComputingMode::Disabled { Seccomp::Off } else { Seccomp::Filtered },
            landlock_abi: probe::landlock(),
        })
    }

    /// Whether every wall that can be read back is up. Landlock can't: see [`refuses_writing`].
    #[must_use]
    pub fn is_confined(&self) -> bool {
        self.no_new_privs && self.capabilities_zero && self.seccomp == Seccomp::Filtered
    }
}

/// Whether the kernel refuses to open `file` for writing for want of a right. The file is neither made nor changed.
///
/// # Errors
/// When opening fails for another reason, which shows nothing: the file is missing, or its mount is read-only.
pub fn refuses_writing(file: &CStr) -> Result<bool, Errno> {
    match rustix::fs::open(file, OFlags::WRONLY | OFlags::CLOEXEC | OFlags::NONBLOCK, Mode::empty()) {
        Ok(_) => Ok(false),
        Err(Errno::ACCESS) => Ok(true),
        Err(errno) => Err(errno),
    }
}
