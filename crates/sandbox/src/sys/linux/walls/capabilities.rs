//! Capabilities: all of them dropped, for good, root's too.
//!
//! A process has five sets. Permitted, effective and inheritable are set to nothing by one call; the ambient set is
//! cleared; the bounding set, which limits what an `exec` may add, is emptied one capability at a time. `no_new_privs`
//! then makes set-user-ID bits and file capabilities mean nothing.
//!
//! The order matters: dropping from the bounding set takes `CAP_SETPCAP`, so it comes before the permitted set is
//! zeroed. Root has that capability, and so has an ordinary user inside a user namespace that it made. An ordinary user
//! without such a namespace has none: its bounding set stays as it is. That opens nothing, because `no_new_privs` keeps
//! an `exec` from adding what the permitted set lacks. [`Bounding`] reports which of the two happened.
//!
//! A launcher keeps one capability until its commands' first `exec` ([`drop_all_but_shield`]). Until then a command's process
//! shares the launcher's memory, which no other command may read: other commands' variables are in it, and the number that lets an
//! `exec` pass the filter. The kernel lets a process look into another one only if it is permitted all that the other is permitted.

use rustix::io::Errno;
use rustix::thread::{self, CapabilitySet, CapabilitySets};

/// Capabilities have numbers below this one: the kernel keeps them in 64 bits.
const MAX_CAPABILITIES: u32 = u64::BITS;

/// Capabilities with which a process can do nothing to others. The first that it has is the shield of a launcher.
const SHIELDS: [CapabilitySet; 4] = [
    CapabilitySet::WAKE_ALARM,
    CapabilitySet::BLOCK_SUSPEND,
    CapabilitySet::AUDIT_WRITE,
    CapabilitySet::NET_BIND_SERVICE,
];

/// What became of the bounding set.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Bounding {
    /// It is empty.
    Emptied,
    /// It still holds these, because the process had no `CAP_SETPCAP`.
    Kept(CapabilitySet),
}

/// Everything that the calling thread holds, read back from the kernel.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct HeldCapabilities {
    /// What it may use without further ado.
    pub effective: CapabilitySet,
    /// What it may make effective.
    pub permitted: CapabilitySet,
    /// What an `exec` may keep.
    pub inheritable: CapabilitySet,
    /// What an `exec` keeps without file capabilities.
    pub ambient: CapabilitySet,
    /// The most that an `exec` may add.
    pub bounding: CapabilitySet,
    /// Whether an `exec` can add nothing at all.
    pub no_new_privs: bool,
}

impl HeldCapabilities {
    /// Whether nothing is held and nothing can be gained. A bounding set that is not empty is no gain under
    /// `no_new_privs`.
    #[must_use]
    pub fn is_nothing(&self) -> bool {
        let held = self.effective | self.permitted | self.inheritable | self.ambient;
        held.is_empty() && self.no_new_privs
    }
}

/// Why capabilities could not be dropped or read.
#[derive(Debug, thiserror::Error)]
pub enum CapabilityError {
    /// `no_new_privs` was refused.
    #[error("can't set no_new_privs: {0}")]
    NoNewPrivs(#[source] Errno),
    /// The ambient set was not cleared.
    #[error("can't clear the ambient capabilities: {0}")]
    Ambient(#[source] Errno),
    /// A capability stayed in the bounding set for another reason than a missing privilege.
    #[error("can't drop capability {number} from the bounding set: {source}")]
    Bounding {
        /// The capability's number.
        number: u32,
        /// What the kernel said.
        source: Errno,
    },
    /// The permitted, effective and inheritable sets were not zeroed.
    #[error("can't drop the permitted capabilities: {0}")]
    Permitted(#[source] Errno),
    /// None of the capabilities that can be a shield is there, or it would outlive an `exec`.
    #[error("no capability is left that keeps commands out of the memory of one that starts")]
    NoShield,
    /// The kernel didn't tell what is held.
    #[error("can't read the capabilities: {0}")]
    Read(#[source] Errno),
}

/// Drops every capability of the calling thread and sets `no_new_privs`.
///
/// Both hold for the calling thread and for what it starts, so call it in a process with one thread.
///
/// # Errors
/// When the kernel refuses a step. Then the process may hold less than before, and nothing should be run in it.
pub fn drop_all() -> Result<Bounding, CapabilityError> {
    drop_all_but(CapabilitySet::empty())
}

/// The same, but `permitted` can be made effective later. The calling thread must hold it.
pub(crate) fn drop_all_but(permitted: CapabilitySet) -> Result<Bounding, CapabilityError> {
    thread::set_no_new_privs(true).map_err(CapabilityError::NoNewPrivs)?;
    match thread::clear_ambient_capability_set() {
        // Kernels before 4.3 have no ambient set, and answer so.
        Ok(()) | Err(Errno::INVAL) => {}
        Err(errno) => return Err(CapabilityError::Ambient(errno)),
    }
    let bounding = empty_bounding_set()?;
    let nothing = CapabilitySet::empty();
    let sets = CapabilitySets { effective: nothing, permitted, inheritable: nothing };
    thread::set_capabilities(None, sets).map_err(CapabilityError::Permitted)?;
    Ok(bounding)
}

/// Drops every capability but one, which can't be used and is gone after an `exec`: see above.
///
/// # Errors
/// As [`drop_all`], and when there is no such capability.
pub fn drop_all_but_shield() -> Result<(), CapabilityError> {
    let permitted = thread::capabilities(None).map_err(CapabilityError::Read)?.permitted;
    let shield = SHIELDS.into_iter().find(|shield| permitted.contains(*shield));
    match drop_all_but(shield.ok_or(CapabilityError::NoShield)?)? {
        Bounding::Emptied => Ok(()),
        // As root, an `exec` would keep it.
        Bounding::Kept(_) => Err(CapabilityError::NoShield),
    }
}

/// Whether this is nothing, or a shield that is gone after an `exec`.
pub(crate) fn is_gone_after_exec(permitted: CapabilitySet) -> Result<bool, Errno> {
    match SHIELDS.into_iter().find(|shield| *shield == permitted) {
        Some(shield) => Ok(!thread::capability_is_in_bounding_set(shield)?),
        None => Ok(permitted.is_empty()),
    }
}

/// Everything that the calling thread holds.
///
/// # Errors
/// When the kernel doesn't tell: a seccomp filter around us may forbid the question.
pub fn held() -> Result<HeldCapabilities, CapabilityError> {
    let CapabilitySets { effective, permitted, inheritable } =
        thread::capabilities(None).map_err(CapabilityError::Read)?;
    Ok(HeldCapabilities {
        effective,
        permitted,
        inheritable,
        ambient: collect(thread::capability_is_in_ambient_set)?,
        bounding: bounding_set()?,
        no_new_privs: thread::no_new_privs().map_err(CapabilityError::Read)?,
    })
}

fn empty_bounding_set() -> Result<Bounding, CapabilityError> {
    for number in 0..MAX_CAPABILITIES {
        match thread::remove_capability_from_bounding_set(nth(number)) {
            Ok(()) => {}
            // The one before was the kernel's last.
            Err(Errno::INVAL) => break,
            Err(Errno::PERM) => return Ok(Bounding::Kept(bounding_set()?)),
            Err(source) => return Err(CapabilityError::Bounding { number, source }),
        }
    }
    Ok(Bounding::Emptied)
}

fn bounding_set() -> Result<CapabilitySet, CapabilityError> {
    collect(thread::capability_is_in_bounding_set)
}

/// The capabilities for which `is_in` answers yes, up to the kernel's last.
fn collect(is_in: impl Fn(CapabilitySet) -> Result<bool, Errno>) -> Result<CapabilitySet, CapabilityError> {
    let mut set = CapabilitySet::empty();
    for number in 0..MAX_CAPABILITIES {
        match is_in(nth(number)) {
            Ok(true) => set |= nth(number),
            Ok(false) => {}
            Err(Errno::INVAL) => break,
            Err(errno) => return Err(CapabilityError::Read(errno)),
        }
    }
    Ok(set)
}

fn nth(number: u32) -> CapabilitySet {
    CapabilitySet::from_bits_retain(1 << number)
}
