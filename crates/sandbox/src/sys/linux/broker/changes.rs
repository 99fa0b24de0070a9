//! Looking at calls that change a file without opening it for writing: its size, mode, owner, times and attributes.
//!
//! The kernel does them; the broker only tells that the file was written.

use std::os::fd::{AsFd as _, OwnedFd};

use rustix::fs::{FileType, Stat};
use rustix::io::Errno;

use super::context::Context;
use super::effects::{file, is_no_file, is_read_only};
use super::notifications::Reply;
use super::protections::path_of;
use super::target::Target;
use crate::effect::EffectKind;
use crate::observation::Operation;

/// How the arguments of a call name the file that it changes. Numbers are positions of arguments.
#[derive(Clone, Copy)]
enum Named {
    /// A path. A link at its end is followed.
    Path(usize),
    /// A path. A link at its end is itself the file.
    Link(usize),
    /// The descriptor of a folder, a path, and flags that say what happens with a link.
    At(usize, usize, Option<usize>),
    /// A descriptor.
    Descriptor(usize),
}

const CALLS: &[(libc::c_long, Named)] = &[
    (libc::SYS_truncate, Named::Path(0)),
    (libc::SYS_setxattr, Named::Path(0)),
    (libc::SYS_removexattr, Named::Path(0)),
    (libc::SYS_lsetxattr, Named::Link(0)),
    (libc::SYS_lremovexattr, Named::Link(0)),
    (libc::SYS_fchmodat, Named::At(0, 1, None)),
    (libc::SYS_fchmodat2, Named::At(0, 1, Some(3))),
    (libc::SYS_fchownat, Named::At(0, 1, Some(4))),
    (libc::SYS_utimensat, Named::At(0, 1, Some(3))),
    (libc::SYS_fchmod, Named::Descriptor(0)),
    (libc::SYS_fchown, Named::Descriptor(0)),
    (libc::SYS_fsetxattr, Named::Descriptor(0)),
    (libc::SYS_fremovexattr, Named::Descriptor(0)),
];

/// Calls that newer architectures don't have.
#[cfg(target_arch = "x86_64")]
const OLD_CALLS: &[(libc::c_long, Named)] = &[
    (libc::SYS_chmod, Named::Path(0)),
    (libc::SYS_chown, Named::Path(0)),
    (libc::SYS_lchown, Named::Link(0)),
    (libc::SYS_utime, Named::Path(0)),
    (libc::SYS_utimes, Named::Path(0)),
    (libc::SYS_futimesat, Named::At(0, 1, None)),
];

#[cfg(not(target_arch = "x86_64"))]
const OLD_CALLS: &[(libc::c_long, Named)] = &[];

/// Looks at a call, if it is one of these. The kernel does it.
pub(super) fn look(context: &Context, target: &Target<'_>) -> Option<Reply> {
    let known = CALLS.iter().chain(OLD_CALLS).find(|(call, _)| *call == target.held.call);
    let (_, named) = known?;
    // A file that can't be found has the kernel's own error.
    let _ = tell(context, target, *named);
    Some(Reply::Continue)
}

fn tell(context: &Context, target: &Target<'_>, named: Named) -> Result<(), Errno> {
    const HERE: i32 = libc::AT_FDCWD;
    let (folder, path, is_link) = match named {
        Named::Descriptor(number) => {
            return tell_file(context, target, &target.descriptor(target.int(number))?);
        }
        Named::Path(path) => (HERE, target.long(path), false),
        Named::Link(path) => (HERE, target.long(path), true),
        Named::At(folder, path, flags) => {
            let flags = flags.map_or(0, |flags| target.int(flags));
            (target.int(folder), target.long(path), flags & libc::AT_SYMLINK_NOFOLLOW != 0)
        }
    };
    // Without a path the descriptor itself is meant: `futimens`, `AT_EMPTY_PATH`.
    if folder != HERE && (path == 0 || target.path_or_empty(path)?.is_empty()) {
        return tell_file(context, target, &target.descriptor(folder)?);
    }
    if !is_link {
        return tell_file(context, target, &file(context, target, (folder, path))?);
    }
    let place = super::create::place(context, target, (folder, path))?;
    place.file_type()?;
    if is_read_only(place.folder.as_fd()) {
        let whole = context.whole_path(&place).ok_or(Errno::ACCESS)?;
        context.tell_read_only(target, Operation::Change, (&whole, whole.len()));
    } else {
        context.tell_written(target, &place);
    }
    Ok(())
}

fn tell_file(context: &Context, target: &Target<'_>, file: &OwnedFd) -> Result<(), Errno> {
    let stat = rustix::fs::fstat(file)?;
    if !has_name(&stat) {
        return Ok(());
    }
    let path = path_of(context.proc(), file.as_fd())?;
    match is_read_only(file.as_fd()) {
        true if is_no_file(&path) => {}
        true => context.tell_read_only(target, Operation::Change, (&path, path.len())),
        false => context.tell_effect(target, EffectKind::Write, &path),
    }
    Ok(())
}

/// Whether it is a file or folder that has a name: pipes have none, and removed files have none any more.
fn has_name(stat: &Stat) -> bool {
    let kind = FileType::from_raw_mode(stat.st_mode);
    matches!(kind, FileType::RegularFile | FileType::Directory) && stat.st_nlink > 0
}
