//! Making, linking and renaming files.
//!
//! Every name is resolved to a folder that we hold and a last component, checked by the folder's own path, and used in
//! that folder. The kernel follows no link at the end of these names.

use std::os::fd::AsFd as _;

use rustix::fs::AtFlags;
use rustix::io::Errno;

use super::context::Context;
use super::kernel;
use super::notifications::Reply;
use super::protections::{Standing, own_link, path_of};
use super::refusals::Extent;
use super::target::Target;
use super::walk::Place;
use crate::observation::{Operation, RefusalRule};

/// A path argument: the descriptor of its folder, and its address.
pub(super) type PathArgument = (i32, u64);

/// The place that a path argument names.
pub(super) fn place<'a>(
    context: &'a Context,
    target: &'a Target<'_>,
    (folder, path): PathArgument,
) -> Result<Place<'a>, Errno> {
    let path = target.path(path)?;
    let walk = context.walk(target);
    let start = walk.start(folder, &path)?;
    target.confirm()?;
    walk.place(start, path.to_bytes())
}

/// Fails if a new name is protected. A folder above a protected name may be made, but nothing else may be put there:
/// it could have a protected name in it already, or lead to one.
fn check_new(
    context: &Context,
    target: &Target<'_>,
    place: &Place<'_>,
    operation: Operation,
) -> Result<(), Errno> {
    let (standing, path) = context.standing(place)?;
    match standing {
        Standing::Free => Ok(()),
        Standing::Above if operation == Operation::MakeFolder => Ok(()),
        // The kernel's own answer comes first.
        _ if place.file_type().is_ok() => Err(Errno::EXIST),
        _ => Err(context.refuse(target, operation, RefusalRule::Protected, &path)),
    }
}

/// `mkdir` and `mkdirat`.
pub(super) fn make_folder(
    context: &Context,
    target: &Target<'_>,
    path: PathArgument,
    mode: u32,
) -> Result<Reply, Errno> {
    let place = place(context, target, path)?;
    let mask = target.creation_mask()?;
    let _names = context.names_stay();
    check_new(context, target, &place, Operation::MakeFolder)?;
    rustix::process::umask(mask);
    let made = kernel::make_folder(place.folder.as_fd(), &place.name, mode);
    context.observe(target, Operation::MakeFolder, (&place, Extent::Folder), made).map(Reply::Value)
}

/// `mknod` and `mknodat`. The filter refuses devices.
pub(super) fn make_node(
    context: &Context,
    target: &Target<'_>,
    path: PathArgument,
    (mode, device): (u32, u32),
) -> Result<Reply, Errno> {
    let place = place(context, target, path)?;
    let mask = target.creation_mask()?;
    let _names = context.names_stay();
    check_new(context, target, &place, Operation::MakeNode)?;
    rustix::process::umask(mask);
    let made = kernel::make_node(place.folder.as_fd(), &place.name, mode, u64::from(device));
    context.observe(target, Operation::MakeNode, (&place, Extent::Folder), made).map(Reply::Value)
}

/// `symlink` and `symlinkat`.
pub(super) fn make_link(
    context: &Context,
    target: &Target<'_>,
    leads_to: u64,
    path: PathArgument,
) -> Result<Reply, Errno> {
    let leads_to = target.path(leads_to)?;
    let place = place(context, target, path)?;
    let _names = context.names_change()?;
    check_new(context, target, &place, Operation::MakeLink)?;
    let made = rustix::fs::symlinkat(&*leads_to, &place.folder, &*place.name);
    context.observe(target, Operation::MakeLink, (&place, Extent::Folder), made)?;
    Ok(Reply::Value(0))
}

/// `link` and `linkat`.
pub(super) fn link(
    context: &Context,
    target: &Target<'_>,
    (folder, old): PathArgument,
    new: PathArgument,
    flags: u32,
) -> Result<Reply, Errno> {
    let known = AtFlags::SYMLINK_FOLLOW | AtFlags::EMPTY_PATH;
    if flags & !known.bits() != 0 {
        return Err(Errno::INVAL);
    }
    let flags = AtFlags::from_bits_retain(flags);
    let path = match flags.contains(AtFlags::EMPTY_PATH) {
        true => target.path_or_empty(old)?,
        false => target.path(old)?,
    };
    let walk = context.walk(target);
    let start = walk.start(folder, &path)?;
    target.confirm()?;
    if path.is_empty() || flags.contains(AtFlags::SYMLINK_FOLLOW) {
        let file = match path.is_empty() {
            true => rustix::io::fcntl_dupfd_cloexec(&start, 3)?,
            false => walk.file(start.as_fd(), path.to_bytes())?,
        };
        let new = place(context, target, new)?;
        let _names = context.names_change()?;
        check_new(context, target, &new, Operation::Link)?;
        let (standing, path) =
            context.protections.path_standing(context.proc(), path_of(context.proc(), file.as_fd())?)?;
        if standing == Standing::Protected {
            return Err(context.refuse(target, Operation::Link, RefusalRule::Protected, &path));
        }
        let own = own_link(file.as_fd());
        let flags = AtFlags::SYMLINK_FOLLOW;
        let linked = rustix::fs::linkat(context.proc(), &own, &new.folder, &*new.name, flags);
        context.observe(target, Operation::Link, (&new, Extent::Folder), linked)?;
    } else {
        let old = walk.place(start, path.to_bytes())?;
        let new = place(context, target, new)?;
        let _names = context.names_change()?;
        check_new(context, target, &new, Operation::Link)?;
        let (standing, path) = context.standing(&old)?;
        if standing == Standing::Protected {
            return Err(context.refuse(target, Operation::Link, RefusalRule::Protected, &path));
        }
        let flags = AtFlags::empty();
        let linked = rustix::fs::linkat(&old.folder, &*old.name, &new.folder, &*new.name, flags);
        context.observe(target, Operation::Link, (&new, Extent::Folder), linked)?;
    }
    Ok(Reply::Value(0))
}

/// Whether the mount that a place is on is read-only.
fn is_read_only(place: &Place<'_>) -> bool {
    let found = rustix::fs::fstatvfs(&place.folder);
    found.is_ok_and(|found| found.f_flag.contains(rustix::fs::StatVfsMountFlags::RDONLY))
}

/// `rename`, `renameat` and `renameat2`.
pub(super) fn rename(
    context: &Context,
    target: &Target<'_>,
    old: PathArgument,
    new: PathArgument,
    flags: u32,
) -> Result<Reply, Errno> {
    let known = libc::RENAME_NOREPLACE | libc::RENAME_EXCHANGE | libc::RENAME_WHITEOUT;
    if flags & !known != 0 {
        return Err(Errno::INVAL);
    }
    let (old, new) = (place(context, target, old)?, place(context, target, new)?);
    let _names = context.names_change()?;
    for (place, is_new) in [(&old, false), (&new, true)] {
        let (standing, path) = context.standing(place)?;
        if standing != Standing::Free {
            // A name that doesn't exist has the kernel's own error.
            old.file_type()?;
            if is_new && flags & libc::RENAME_NOREPLACE != 0 && new.file_type().is_ok() {
                return Err(Errno::EXIST);
            }
            return Err(context.refuse(target, Operation::Rename, RefusalRule::Protected, &path));
        }
    }
    let (from, to) = ((old.folder.as_fd(), &*old.name), (new.folder.as_fd(), &*new.name));
    let renamed = kernel::rename(from, to, flags);
    if let Err(errno @ (Errno::ROFS | Errno::XDEV)) = renamed {
        // Between two mounts the kernel doesn't look further. Programs then copy the file and remove the old one, and the
        // broker doesn't see removals.
        let folder = |place: &Place<'_>| path_of(context.proc(), place.folder.as_fd());
        let is_one_folder = folder(&old) == folder(&new);
        for place in [&old, &new].into_iter().skip(usize::from(is_one_folder)) {
            if errno == Errno::ROFS || is_read_only(place) {
                let refused: Result<(), Errno> = Err(Errno::ROFS);
                // The command gets its own error.
                let _ = context.observe(target, Operation::Rename, (place, Extent::Folder), refused);
            }
        }
    }
    if renamed.is_ok() {
        context.tell_renamed(target, (&old, &new));
    }
    renamed.map(Reply::Value)
}
