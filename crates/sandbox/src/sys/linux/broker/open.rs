//! Opening files that may have to be made.
//!
//! The kernel opens the last name in a folder that we hold, and never follows a link at its end: we do that, name by name,
//! and check each.

use std::ffi::CString;
use std::os::fd::{AsFd as _, BorrowedFd, OwnedFd};

use rustix::fs::{FileType, Mode, OFlags, ResolveFlags};
use rustix::io::Errno;

use super::context::Context;
use super::create::PathArgument;
use super::effects;
use super::kernel::{self, How};
use super::notifications::Reply;
use super::protections::{Standing, own_link};
use super::refusals::Extent;
use super::serve::may_wait;
use super::target::{Folder, Target};
use super::terminal;
use super::walk::{Link, MAX_LINKS, Place, c_string, is_absolute, may_follow, split};
use crate::observation::{Operation, RefusalRule};

const O_CREAT: u64 = libc::O_CREAT as u64;
const O_EXCL: u64 = libc::O_EXCL as u64;
const O_NOFOLLOW: u64 = libc::O_NOFOLLOW as u64;
const O_PATH: u64 = libc::O_PATH as u64;
const O_CLOEXEC: u64 = libc::O_CLOEXEC as u64;
/// A terminal that we open must not become ours.
const O_NOCTTY: u64 = libc::O_NOCTTY as u64;
/// Flags that `open` takes. It ignores all others, where `openat2` fails.
const KNOWN_FLAGS: u64 = 0x007f_ffc3;

const IN_ROOT: u64 = ResolveFlags::IN_ROOT.bits();
const BENEATH: u64 = ResolveFlags::BENEATH.bits();
const NO_SYMLINKS: u64 = ResolveFlags::NO_SYMLINKS.bits();
const NO_MAGICLINKS: u64 = ResolveFlags::NO_MAGICLINKS.bits();

/// The first version of `struct open_how`, and the largest that the kernel looks at.
const HOW_BYTES: usize = 24;
const MAX_HOW_BYTES: usize = 4096;

/// `open`, `openat` and `creat`, whose flags are in a register.
pub(super) fn open(
    context: &Context,
    target: &Target<'_>,
    path: PathArgument,
    (flags, mode): (u32, u32),
) -> Result<Reply, Errno> {
    if flags.cast_signed() & libc::O_PATH != 0 {
        // The kernel then ignores the flag that makes a file.
        return Ok(Reply::Continue);
    }
    if flags.cast_signed() & libc::O_CREAT == 0 {
        // It is held only to be told of.
        return Ok(effects::open_for_writing(context, target, path));
    }
    let how = How { flags: u64::from(flags) & KNOWN_FLAGS, mode: u64::from(mode) & 0o7777, resolve: 0 };
    let odd = (libc::O_DIRECTORY | libc::O_TMPFILE).cast_unsigned();
    if flags & odd != 0
        && let Some(errno) = kernel::flags_error(how)
    {
        return Err(errno);
    }
    open_with(context, target, path, how)
}

/// `openat2`, whose flags are in memory.
pub(super) fn open_by_how(context: &Context, target: &Target<'_>) -> Result<Reply, Errno> {
    let (address, size) = (target.long(2), usize::try_from(target.long(3)).unwrap_or(usize::MAX));
    if size < HOW_BYTES {
        return Err(Errno::INVAL);
    }
    if size > MAX_HOW_BYTES {
        return Err(Errno::TOOBIG);
    }
    let bytes = target.bytes(address, size)?;
    let (known, later) = bytes.split_at(HOW_BYTES);
    if later.iter().any(|byte| *byte != 0) {
        return Err(Errno::TOOBIG);
    }
    let mut numbers = known.as_chunks().0.iter().map(|number| u64::from_ne_bytes(*number));
    let mut next = || numbers.next().unwrap_or(0);
    let how = How { flags: next(), mode: next(), resolve: next() };
    if let Some(errno) = kernel::flags_error(how) {
        return Err(errno);
    }
    open_with(context, target, (target.int(0), target.long(1)), how)
}

fn open_with(
    context: &Context,
    target: &Target<'_>,
    (folder, path): PathArgument,
    how: How,
) -> Result<Reply, Errno> {
    let path = target.path(path)?;
    let walk = context.walk(target);
    // With this flag an absolute path starts in the folder, too.
    let start = match how.resolve & IN_ROOT {
        0 => walk.start(folder, &path)?,
        _ => target.folder(folder)?,
    };
    target.confirm()?;
    let file = match how.flags & O_CREAT {
        0 => open_existing(context, target, start.as_fd(), &path, how)?,
        _ if how.resolve == 0 => create(context, target, start, path.to_bytes(), how)?,
        _ => create_within(context, target, start.as_fd(), path.to_bytes(), how)?,
    };
    Ok(Reply::File { file, is_closed_on_exec: how.flags & O_CLOEXEC != 0 })
}

/// Opens a file without making it.
fn open_existing(
    context: &Context,
    target: &Target<'_>,
    start: BorrowedFd<'_>,
    path: &CString,
    how: How,
) -> Result<OwnedFd, Errno> {
    let ours = How { flags: no_terminal(how.flags), ..how };
    let makes_nameless = libc::O_TMPFILE as u64;
    if how.flags & makes_nameless == makes_nameless {
        rustix::process::umask(target.creation_mask()?);
    }
    let _waiting = may_wait(context, target)?;
    let opened = kernel::open(start, path, ours);
    if let Err(Errno::ROFS) = opened {
        let file = context.walk(target).file(start, path.to_bytes());
        return match file {
            Ok(file) => context.observe_file(target, Operation::Open, file.as_fd(), opened),
            Err(_) => opened,
        };
    }
    if how.resolve != 0 || how.flags & (O_NOFOLLOW | O_PATH) != 0 || opened.is_ok() {
        return opened;
    }
    // It may be a path that means something else for us.
    match opened {
        Err(Errno::NOENT | Errno::LOOP | Errno::NXIO | Errno::ACCESS) => {
            let file = context.walk(target).file(start, path.to_bytes())?;
            reopen(context, target, &file, how)
        }
        result => result,
    }
}

fn no_terminal(flags: u64) -> u64 {
    if flags & O_PATH == 0 { flags | O_NOCTTY | O_CLOEXEC } else { flags | O_CLOEXEC }
}

/// Opens a file, and makes it if there is none.
fn create<'a>(
    context: &'a Context,
    target: &Target<'_>,
    mut start: Folder<'a>,
    path: &[u8],
    how: How,
) -> Result<OwnedFd, Errno> {
    let walk = context.walk(target);
    let mut path = path.to_vec();
    for _ in 0..=MAX_LINKS {
        let place = walk.place(start, &path)?;
        if let Some(opened) = create_at(context, target, &place, how)? {
            return Ok(opened);
        }
        // A link is at the end of the path.
        may_follow(place.folder.as_fd(), &place.name)?;
        path = match walk.link(place.folder.as_fd(), &place.name)? {
            Link::File(file) => return reopen(context, target, &file, how),
            Link::Path(text) => text,
        };
        if path.is_empty() {
            return Err(Errno::NOENT);
        }
        start = if is_absolute(&path) { Folder::Borrowed(context.root.as_fd()) } else { place.folder };
    }
    Err(Errno::LOOP)
}

/// The same for a path that must be resolved in a certain way, by the kernel.
fn create_within(
    context: &Context,
    target: &Target<'_>,
    start: BorrowedFd<'_>,
    path: &[u8],
    how: How,
) -> Result<OwnedFd, Errno> {
    let walk = context.walk(target);
    let mut path = path.to_vec();
    for _ in 0..=MAX_LINKS {
        let place = place_by_kernel(start, &path, how.resolve)?;
        if let Some(opened) = create_at(context, target, &place, how)? {
            return Ok(opened);
        }
        if how.resolve & NO_SYMLINKS != 0 {
            return Err(Errno::LOOP);
        }
        may_follow(place.folder.as_fd(), &place.name)?;
        let confines = how.resolve & (BENEATH | IN_ROOT) != 0;
        match walk.link(place.folder.as_fd(), &place.name)? {
            Link::File(_) if confines || how.resolve & NO_MAGICLINKS != 0 => return Err(Errno::LOOP),
            Link::File(file) => return reopen(context, target, &file, how),
            Link::Path(text) if is_absolute(&text) && how.resolve & BENEATH != 0 => return Err(Errno::XDEV),
            // Written as part of the path, so that the folder that it must stay in is the same.
            Link::Path(text) if is_absolute(&text) => path = text,
            Link::Path(text) => path = [split(&path).0, &text].concat(),
        }
    }
    Err(Errno::LOOP)
}

fn place_by_kernel(start: BorrowedFd<'_>, path: &[u8], resolve: u64) -> Result<Place<'static>, Errno> {
    let (folder, name) = split(path);
    let folder = if folder.is_empty() { b"." } else { folder };
    let flags = OFlags::PATH | OFlags::DIRECTORY | OFlags::CLOEXEC;
    let how = How { flags: u64::from(flags.bits()), mode: 0, resolve };
    Ok(Place { folder: Folder::Owned(kernel::open(start, &c_string(folder)?, how)?), name: c_string(name)? })
}

/// What became of an attempt to open a name.
enum Attempt {
    Opened(OwnedFd),
    /// There is a link, which has to be followed.
    Link,
    /// It was made or removed by another process meanwhile.
    Changed,
}

/// Names that come and go are tried so often.
const MAX_ATTEMPTS: u32 = 64;

/// Opens or makes a file with this name. `None`: there is a link, which has to be followed.
fn create_at(
    context: &Context,
    target: &Target<'_>,
    place: &Place<'_>,
    how: How,
) -> Result<Option<OwnedFd>, Errno> {
    if ends_in_slash(place) {
        return Err(Errno::ISDIR);
    }
    for _ in 0..MAX_ATTEMPTS {
        match attempt(context, target, place, how)? {
            Attempt::Opened(file) => return Ok(Some(file)),
            Attempt::Link => return Ok(None),
            Attempt::Changed => {}
        }
    }
    Err(Errno::AGAIN)
}

fn attempt(context: &Context, target: &Target<'_>, place: &Place<'_>, how: How) -> Result<Attempt, Errno> {
    let names = context.names_stay();
    let (standing, path) = context.standing(place)?;
    let refuse = || Err(context.refuse(target, Operation::Open, RefusalRule::Protected, &path));
    let folder = place.folder.as_fd();
    let kind = match place.file_type() {
        Ok(kind) => kind,
        Err(Errno::NOENT) if standing != Standing::Free => return refuse(),
        // The kernel has its own error for a name that can't be looked up.
        Err(_) => {
            rustix::process::umask(target.creation_mask()?);
            let flags = no_terminal(how.flags) | O_EXCL;
            let opened = kernel::open(folder, &place.name, last(flags, how));
            return match context.observe(target, Operation::Open, (place, Extent::Folder), opened) {
                Err(Errno::EXIST) if how.flags & O_EXCL == 0 => Ok(Attempt::Changed),
                result => result.map(Attempt::Opened),
            };
        }
    };
    if how.flags & O_EXCL != 0 {
        return Err(Errno::EXIST);
    }
    let reads_only = how.flags & (libc::O_ACCMODE | libc::O_TRUNC) as u64 == libc::O_RDONLY as u64;
    match kind {
        FileType::Directory => Err(Errno::ISDIR),
        FileType::Symlink if how.flags & O_NOFOLLOW != 0 => Err(Errno::LOOP),
        // What the kernel makes at the end of a link is checked when we get there.
        FileType::Symlink => Ok(Attempt::Link),
        _ if standing != Standing::Free && !reads_only => refuse(),
        FileType::RegularFile => {
            let mut flags = no_terminal(how.flags);
            // Only in a folder like `/tmp` does the flag mean something for a file that exists.
            if standing != Standing::Free || rustix::fs::fstat(folder)?.st_mode & libc::S_ISVTX == 0 {
                flags &= !O_CREAT;
            } else {
                rustix::process::umask(target.creation_mask()?);
            }
            let opened = kernel::open(folder, &place.name, last(flags, how));
            if opened.is_ok() && !reads_only {
                context.tell_written(target, place);
            }
            match context.observe(target, Operation::Open, (place, Extent::Whole), opened) {
                Err(Errno::NOENT | Errno::LOOP) => Ok(Attempt::Changed),
                result => result.map(Attempt::Opened),
            }
        }
        _ => {
            // Pipes and devices may have to wait, and may be terminals.
            drop(names);
            open_special(context, target, place, how).map(Attempt::Opened)
        }
    }
}

/// How to open a name in a folder that is resolved already, if it is no link. A flag would do that, too, but programs
/// can see the flags of a file.
fn last(flags: u64, how: How) -> How {
    let resolve = how.resolve & ResolveFlags::NO_XDEV.bits() | NO_SYMLINKS;
    How { flags, mode: mode_for(flags, how), resolve }
}

/// The kernel takes no mode for a file that can't be made.
fn mode_for(flags: u64, how: How) -> u64 {
    if flags & O_CREAT == 0 { 0 } else { how.mode }
}

fn ends_in_slash(place: &Place<'_>) -> bool {
    place.name.to_bytes().last() == Some(&b'/')
}

/// Opens a pipe, a device or a socket, which exists.
fn open_special(
    context: &Context,
    target: &Target<'_>,
    place: &Place<'_>,
    how: How,
) -> Result<OwnedFd, Errno> {
    let flags = OFlags::PATH | OFlags::NOFOLLOW | OFlags::CLOEXEC;
    let file = rustix::fs::openat(&place.folder, &*place.name, flags, Mode::empty())?;
    reopen(context, target, &file, how)
}

/// Opens a file that a descriptor names.
fn reopen(context: &Context, target: &Target<'_>, file: &OwnedFd, how: How) -> Result<OwnedFd, Errno> {
    let kind = FileType::from_raw_mode(rustix::fs::fstat(file)?.st_mode);
    if kind == FileType::CharacterDevice && terminal::is_own_terminal(file)? {
        return terminal::of_target(context, target, how.flags);
    }
    let _waiting = match kind {
        FileType::RegularFile | FileType::Directory => None,
        _ => Some(may_wait(context, target)?),
    };
    let link = c_string(own_link(file.as_fd()).as_bytes())?;
    let flags = no_terminal(how.flags) & !O_NOFOLLOW;
    let ours = How { flags, mode: mode_for(flags, how), resolve: 0 };
    match kernel::open(context.proc(), &link, ours) {
        Err(Errno::ACCESS) if kind == FileType::CharacterDevice => {
            // A terminal that the keeper gave lies outside the pod's `/dev`. The command has it open already.
            terminal::same_as(context, target, file, how.flags).ok_or(Errno::ACCESS)
        }
        result => context.observe_file(target, Operation::Open, file.as_fd(), result),
    }
}
