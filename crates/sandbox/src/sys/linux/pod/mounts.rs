//! Operations on mounts, each as one function.
//!
//! They use the calls that take descriptors (Linux 5.2, `mount_setattr` 5.12): a tree is copied while the path still shows
//! it, and put in its place after that place was covered or made read-only.

use std::ffi::CStr;
use std::io;
use std::os::fd::{AsFd, AsRawFd as _, BorrowedFd, OwnedFd};
use std::path::Path;

use rustix::fs::{CWD, Mode, OFlags, ResolveFlags};
use rustix::mount::{
    FsMountFlags, FsOpenFlags, MountAttrFlags, MountPropagationFlags, MoveMountFlags, OpenTreeFlags,
    UnmountFlags,
};

/// Attributes to set on mounts.
pub(super) const READ_ONLY: u64 = libc::MOUNT_ATTR_RDONLY;
pub(super) const NO_SETUID: u64 = libc::MOUNT_ATTR_NOSUID;
pub(super) const NO_DEVICES: u64 = libc::MOUNT_ATTR_NODEV;

/// Whether an operation covers the mounts beneath a mount.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Depth {
    /// This mount alone.
    One,
    /// The mounts beneath it too.
    Recursive,
}

/// Cuts this namespace's mounts off from those of other namespaces, in both directions.
pub(super) fn make_private() -> rustix::io::Result<()> {
    rustix::mount::mount_change("/", MountPropagationFlags::PRIVATE | MountPropagationFlags::REC)
}

/// A copy of the tree of mounts at `path`, which is in no place yet. A link at `path` is not followed.
pub(super) fn copy_tree(path: &Path) -> rustix::io::Result<OwnedFd> {
    let flags = OpenTreeFlags::OPEN_TREE_CLONE
        | OpenTreeFlags::OPEN_TREE_CLOEXEC
        | OpenTreeFlags::AT_RECURSIVE
        | OpenTreeFlags::AT_SYMLINK_NOFOLLOW;
    rustix::mount::open_tree(CWD, path, flags)
}

/// The same for a path without links. One that passes a link is not found.
pub(super) fn copy_tree_without_links(path: &Path) -> rustix::io::Result<OwnedFd> {
    let flags = OFlags::PATH | OFlags::NOFOLLOW | OFlags::CLOEXEC;
    let found = rustix::fs::openat2(CWD, path, flags, Mode::empty(), ResolveFlags::NO_SYMLINKS)?;
    let flags = OpenTreeFlags::OPEN_TREE_CLONE
        | OpenTreeFlags::OPEN_TREE_CLOEXEC
        | OpenTreeFlags::AT_RECURSIVE
        | OpenTreeFlags::AT_EMPTY_PATH;
    rustix::mount::open_tree(&found, c"", flags)
}

/// Puts a tree of mounts at `path`. A link at `path` is covered, not followed.
pub(super) fn attach(tree: impl AsFd, path: &Path) -> rustix::io::Result<()> {
    rustix::mount::move_mount(tree, "", CWD, path, MoveMountFlags::MOVE_MOUNT_F_EMPTY_PATH)
}

/// Takes away what is mounted at `path`.
pub(super) fn detach(path: &Path) -> rustix::io::Result<()> {
    rustix::mount::unmount(path, UnmountFlags::DETACH)
}

/// A new file system, which is in no place yet.
pub(super) fn new_filesystem(
    kind: &CStr,
    options: &[(&CStr, &CStr)],
    attributes: MountAttrFlags,
) -> rustix::io::Result<OwnedFd> {
    let context = rustix::mount::fsopen(kind, FsOpenFlags::FSOPEN_CLOEXEC)?;
    for (name, value) in options {
        rustix::mount::fsconfig_set_string(&context, *name, *value)?;
    }
    rustix::mount::fsconfig_create(&context)?;
    rustix::mount::fsmount(&context, FsMountFlags::FSMOUNT_CLOEXEC, attributes)
}

/// Sets attributes on a mount that a descriptor names.
pub(super) fn set_attributes(mount: BorrowedFd<'_>, depth: Depth, attributes: u64) -> io::Result<()> {
    let at = if depth == Depth::Recursive { libc::AT_RECURSIVE } else { 0 };
    let change = libc::mount_attr { attr_set: attributes, attr_clr: 0, propagation: 0, userns_fd: 0 };
    // SAFETY: the descriptor is open, the path is an empty string, and the structure has the size that is given.
    let result = unsafe {
        libc::syscall(
            libc::SYS_mount_setattr,
            mount.as_raw_fd(),
            c"".as_ptr(),
            libc::AT_EMPTY_PATH | at,
            &raw const change,
            size_of::<libc::mount_attr>(),
        )
    };
    if result == 0 { Ok(()) } else { Err(last_error()) }
}

/// The error of the last system call that went through `libc`.
pub(crate) fn last_error() -> io::Error {
    io::Error::last_os_error()
}
