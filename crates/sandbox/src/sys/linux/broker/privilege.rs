//! The one capability that the broker keeps, and uses for one call at a time.
//!
//! Where Yama restricts `ptrace` to parents, reading a command's memory and copying its descriptors takes `CAP_SYS_PTRACE`.
//! The capability is permitted and not effective: a path that a command gave is always resolved without it.

use rustix::io::Errno;
use rustix::thread::{self, CapabilitySet, CapabilitySets};

use crate::sys::walls::capabilities::{self, CapabilityError};

const KEPT: CapabilitySet = CapabilitySet::SYS_PTRACE;

/// Drops every other capability of the calling process, which must have one thread.
pub(super) fn keep_only_needed() -> Result<(), CapabilityError> {
    let has = thread::capabilities(None).map_err(CapabilityError::Read)?.permitted.contains(KEPT);
    let permitted = if has { KEPT } else { CapabilitySet::empty() };
    capabilities::drop_all_but(permitted)?;
    Ok(())
}

/// Calls `body`. If the kernel refuses it, calls it again with the capability.
pub(super) fn with_access<T>(mut body: impl FnMut() -> Result<T, Errno>) -> Result<T, Errno> {
    match body() {
        Err(Errno::PERM | Errno::ACCESS) if set_effective(KEPT).is_ok() => {
            let result = body();
            // Lowering it can't fail.
            let _ = set_effective(CapabilitySet::empty());
            result
        }
        result => result,
    }
}

fn set_effective(effective: CapabilitySet) -> Result<(), Errno> {
    let sets = CapabilitySets { effective, permitted: KEPT, inheritable: CapabilitySet::empty() };
    thread::set_capabilities(None, sets)
}
