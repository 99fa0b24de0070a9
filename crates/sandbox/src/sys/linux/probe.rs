//! What this kernel can do that confinement will need, found by asking it.

use super::{descriptors, fork, trace};

/// Whether a process of this user may make a user namespace, found by making one in a process that ends at once. `None`:
/// it could not be tried.
#[must_use]
pub fn user_namespaces() -> Option<bool> {
    let code = fork::run_in_child(|| {
        // SAFETY: no memory is involved; the process has one thread and ends after this.
        let made = unsafe { libc::unshare(libc::CLONE_NEWUSER) };
        i32::from(made != 0)
    });
    code.ok().flatten().map(|code| code == 0)
}

/// Whether this process may trace its children, which the guard needs. It is tried on one.
///
/// # Errors
/// When the kernel forbids it: Yama's `ptrace_scope` is 3, or a container's filter refuses `ptrace`.
pub fn tracing() -> std::io::Result<()> {
    trace::probe()
}

/// Whether many descriptors can be closed at once; else a keeper that starts closes them one by one.
#[must_use]
pub fn close_range() -> bool {
    descriptors::has_close_range()
}

/// The version of Landlock; `None` where there is none.
#[must_use]
pub fn landlock() -> Option<u32> {
    const ASK_VERSION: libc::c_long = 1;
    let nothing = std::ptr::null::<libc::c_void>();
    // SAFETY: with this flag the kernel takes no memory and makes nothing: it answers with a number.
    let version = unsafe { libc::syscall(libc::SYS_landlock_create_ruleset, nothing, 0_usize, ASK_VERSION) };
    u32::try_from(version).ok().filter(|version| *version > 0)
}

/// Whether system calls can be filtered.
#[must_use]
pub fn seccomp() -> bool {
    let errno = libc::SECCOMP_RET_ERRNO;
    // SAFETY: asks whether an action is known; the kernel only reads the number that it is given.
    let known =
        unsafe { libc::syscall(libc::SYS_seccomp, libc::SECCOMP_GET_ACTION_AVAIL, 0_u32, &raw const errno) };
    known == 0
}
