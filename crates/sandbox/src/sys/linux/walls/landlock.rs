//! Landlock: which files can be changed, and which can be read.
//!
//! A ruleset names the rights that it takes away everywhere ("handled") and, for each path, those that it gives back.
//! [`PathRules`] says it as two lists. Writing, creating, removing, renaming, linking, truncating and device control are
//! always handled. Reading and executing are handled only when there is a list of readable paths.
//!
//! What it can't do: it has no right for `chmod`, `chown`, `utimes` or extended attributes, it takes nothing away below
//! a path that was given back, and files that were open before stay usable. It is the second wall behind read-only
//! mounts. Device nodes can be created nowhere.
//!
//! The crate `landlock` makes the system calls: it knows every version that the kernel has by now (9), checks what it
//! is given, and keeps this module free of `unsafe`. Its own way to do less on an older kernel is not used, because it
//! doesn't tell what was left out. We ask the kernel for its version and name the difference: [`missing`].

use std::os::fd::AsFd;
use std::path::PathBuf;

use landlock::{
    ABI, AccessFs, BitFlags, CompatLevel, Compatible as _, PathBeneath, PathFd, PathFdError,
    Ruleset as KernelRuleset, RulesetAttr as _, RulesetCreated, RulesetCreatedAttr as _, RulesetError,
    Scope as KernelScope, make_bitflags,
};
use rustix::fs::FileType;

use crate::sys::probe;

/// The newest version whose rights are used. Later ones add audit flags (7), thread synchronisation (8) and a right for
/// Unix sockets (9), which are not.
const NEWEST_ABI: u32 = 7;

/// Which paths can be changed and which can be read. A directory stands for everything below it.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct PathRules {
    /// Paths that can be changed, and read. A terminal or another device that is named here, or lies below a directory
    /// that is, also takes `ioctl`.
    pub writable: Vec<PathBuf>,
    /// Paths that can be read and executed. `None`: everything.
    pub readable: Option<Vec<PathBuf>>,
}

/// How far something reaches.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Scope {
    /// The processes of this domain: those that descend from the one that applied the ruleset.
    Domain,
    /// Every process that other rules allow.
    Everything,
}

/// How far signals and connections reach.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Scopes {
    /// Connections to abstract Unix sockets.
    pub abstract_sockets: Scope,
    /// Signals. All commands of one launcher share its domain, so they reach each other either way. With
    /// [`Scope::Domain`], commands of a second launcher of the same session can't signal those of the first, and a
    /// parent-death signal of a process outside doesn't arrive.
    pub signals: Scope,
}

/// Something that an older kernel doesn't restrict. In the order in which kernels got them.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub enum Missing {
    /// Landlock itself (Linux 5.13).
    Everything,
    /// Renaming and linking between directories can't be allowed, so it always fails (Linux 5.19).
    Refer,
    /// Files can be truncated everywhere (Linux 6.2).
    Truncate,
    /// Devices take `ioctl` everywhere (Linux 6.10).
    DeviceControl,
    /// Abstract Unix sockets of other domains can be reached (Linux 6.12).
    AbstractSockets,
    /// Signals reach processes of other domains (Linux 6.12).
    Signals,
}

/// Why no ruleset was made or applied.
#[derive(Debug, thiserror::Error)]
pub enum LandlockError {
    /// The kernel has no Landlock, or it is switched off.
    #[error("the kernel has no landlock")]
    Unavailable,
    /// A path of the rules doesn't exist or can't be reached.
    #[error("can't open {path} for a landlock rule: {source}")]
    Path {
        /// The path.
        path: PathBuf,
        /// Why.
        source: std::io::Error,
    },
    /// The kernel refused a step.
    #[error("landlock: {0}")]
    Kernel(#[from] RulesetError),
}

/// What holds after [`Ruleset::apply`].
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Applied {
    /// The version whose rights are used: the kernel's, or the newest that this module knows.
    pub abi: u32,
    /// What this kernel doesn't restrict.
    pub missing: Vec<Missing>,
}

/// A ruleset that the kernel has checked, and that holds for no process yet.
#[derive(Debug)]
pub struct Ruleset {
    kernel: RulesetCreated,
    abi: u32,
}

impl Ruleset {
    /// Opens every path and makes the ruleset. Paths are looked up now, in the mount namespace of the caller.
    ///
    /// # Errors
    /// When the kernel has no Landlock, a path can't be opened, or the kernel refuses a rule.
    pub fn prepare(rules: &PathRules, scopes: Scopes) -> Result<Self, LandlockError> {
        let abi = probe::landlock().ok_or(LandlockError::Unavailable)?.min(NEWEST_ABI);
        let version = version(abi);
        let reading = if rules.readable.is_some() { READING } else { BitFlags::EMPTY };
        let writing = AccessFs::from_write(version);
        let strict = KernelRuleset::default().set_compatibility(CompatLevel::HardRequirement);
        let mut ruleset = strict.handle_access(writing | reading)?;
        if let Some(scopes) = kernel_scopes(scopes, version) {
            ruleset = ruleset.scope(scopes)?;
        }
        let mut kernel = ruleset.create()?;
        let granted = (writing & !MAKING_DEVICES) | reading;
        for path in &rules.writable {
            kernel = add(kernel, path, granted)?;
        }
        for path in rules.readable.iter().flatten() {
            kernel = add(kernel, path, READING)?;
        }
        Ok(Self { kernel, abi })
    }

    /// Lets a folder be read that no path names any more. Without rules for reading, everything can be read anyway.
    ///
    /// # Errors
    /// When the kernel refuses the rule.
    pub fn allow_reading(mut self, rules: &PathRules, folder: impl AsFd) -> Result<Self, LandlockError> {
        if rules.readable.is_some() {
            self.kernel = self.kernel.add_rule(PathBeneath::new(folder, READING))?;
        }
        Ok(self)
    }

    /// Puts the calling thread, and everything that it starts, into a new domain with these rules. It also sets
    /// `no_new_privs`.
    ///
    /// # Errors
    /// When the kernel refuses, as it does after 16 domains inside each other.
    pub fn apply(self) -> Result<Applied, LandlockError> {
        self.kernel.restrict_self()?;
        Ok(Applied { abi: self.abi, missing: missing(Some(self.abi)) })
    }
}

/// What a kernel with this version of Landlock doesn't restrict. `None`: a kernel without Landlock.
#[must_use]
pub fn missing(abi: Option<u32>) -> Vec<Missing> {
    let since = [
        (1, Missing::Everything),
        (2, Missing::Refer),
        (3, Missing::Truncate),
        (5, Missing::DeviceControl),
        (6, Missing::AbstractSockets),
        (6, Missing::Signals),
    ];
    let abi = abi.unwrap_or(0);
    since.into_iter().filter(|(first, _)| abi < *first).map(|(_, missing)| missing).collect()
}

const READING: BitFlags<AccessFs> = make_bitflags!(AccessFs::{Execute | ReadFile | ReadDir});
const MAKING_DEVICES: BitFlags<AccessFs> = make_bitflags!(AccessFs::{MakeChar | MakeBlock});
/// Rights that mean something for a file that is not a directory. The kernel refuses others in a rule for one.
const FOR_FILES: BitFlags<AccessFs> =
    make_bitflags!(AccessFs::{Execute | ReadFile | WriteFile | Truncate | IoctlDev});

/// The crate's name for a version. A number that it doesn't know can't come in: it is at most [`NEWEST_ABI`].
fn version(abi: u32) -> ABI {
    i32::try_from(abi).map_or(ABI::Unsupported, ABI::from)
}

fn kernel_scopes(scopes: Scopes, version: ABI) -> Option<BitFlags<KernelScope>> {
    let mut wanted = BitFlags::EMPTY;
    if scopes.abstract_sockets == Scope::Domain {
        wanted |= KernelScope::AbstractUnixSocket;
    }
    if scopes.signals == Scope::Domain {
        wanted |= KernelScope::Signal;
    }
    let known = <KernelScope as landlock::Access>::from_all(version);
    // The crate takes no empty set.
    Some(wanted & known).filter(|scopes| !scopes.is_empty())
}

fn add(
    ruleset: RulesetCreated,
    path: &PathBuf,
    rights: BitFlags<AccessFs>,
) -> Result<RulesetCreated, LandlockError> {
    let unreachable = |source| LandlockError::Path { path: path.clone(), source };
    let opened = PathFd::new(path).map_err(|error| match error {
        PathFdError::OpenCall { source, .. } => unreachable(source),
        other => unreachable(std::io::Error::other(other)),
    })?;
    let stat = rustix::fs::fstat(opened.as_fd()).map_err(|errno| unreachable(errno.into()))?;
    let is_directory = FileType::from_raw_mode(stat.st_mode) == FileType::Directory;
    let rights = if is_directory { rights } else { rights & FOR_FILES };
    Ok(ruleset.add_rule(PathBeneath::new(opened, rights))?)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_kernel_misses_what_came_after_it() {
        use Missing::{AbstractSockets, DeviceControl, Everything, Refer, Signals, Truncate};
        let all = [Everything, Refer, Truncate, DeviceControl, AbstractSockets, Signals];
        let from = |abi| missing(Some(abi));
        assert_eq!(missing(None), all);
        assert_eq!(from(1), all[1..]);
        assert_eq!(from(2), all[2..]);
        assert_eq!(from(3), all[3..]);
        assert_eq!(from(4), all[3..], "it brought rules for TCP");
        assert_eq!(from(5), all[4..]);
        assert_eq!(from(6), []);
        assert_eq!(from(NEWEST_ABI), []);
    }

    /// The list of what is missing and the crate's own list of rights agree.
    #[test]
    fn rights_that_are_not_missing_are_handled() {
        for abi in 1..=NEWEST_ABI {
            let missing = missing(Some(abi));
            let rights = AccessFs::from_write(version(abi));
            assert_eq!(rights.contains(AccessFs::Refer), !missing.contains(&Missing::Refer), "{abi}");
            assert_eq!(rights.contains(AccessFs::Truncate), !missing.contains(&Missing::Truncate), "{abi}");
            assert_eq!(
                rights.contains(AccessFs::IoctlDev),
                !missing.contains(&Missing::DeviceControl),
                "{abi}"
            );
            let scopes = kernel_scopes(
                Scopes { abstract_sockets: Scope::Domain, signals: Scope::Domain },
                version(abi),
            );
            assert_eq!(scopes.is_some(), !missing.contains(&Missing::Signals), "{abi}");
            assert!(!rights.intersects(READING) && rights.contains(MAKING_DEVICES), "{abi}");
        }
    }
}
