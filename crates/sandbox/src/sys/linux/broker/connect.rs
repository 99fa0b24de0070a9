//! Connecting and binding sockets.
//!
//! Both are done with a copy of the descriptor and of the address, for all families: a descriptor number can mean
//! another socket a moment later.

use std::os::fd::{AsFd as _, BorrowedFd};

use rustix::fs::OFlags;
use rustix::io::Errno;

use super::address::{UnixName, is_unix, reach, unix_name};
use super::context::Context;
use super::kernel;
use super::name_watch::NameWatch;
use super::needs;
use super::notifications::Reply;
use super::protections::Standing;
use super::refusals::Extent;
use super::serve::may_wait;
use super::session::SocketKey;
use super::target::{Folder, Target};
use super::walk::is_absolute;
use crate::observation::{Operation, RefusalRule};

/// `connect`.
pub(super) fn connect(context: &Context, target: &Target<'_>) -> Result<Reply, Errno> {
    let socket = target.open_descriptor(target.int(0))?;
    let address = target.address(target.long(1), target.int(2))?;
    target.confirm()?;
    let reachable = reach(context, target, socket.as_fd(), address, Operation::Connect)?;
    let _waiting = if waits(socket.as_fd()) { Some(may_wait(context, target)?) } else { None };
    let connected = kernel::connect(socket.as_fd(), &reachable.address);
    if matches!(connected, Ok(_) | Err(Errno::INPROGRESS)) {
        context.tell_connected(target, &reachable.address);
    }
    needs::connected(context, target, socket.as_fd(), (&reachable.address, connected.err()));
    connected.map(Reply::Value)
}

/// Whether a call on this socket may wait.
pub(super) fn waits(socket: BorrowedFd<'_>) -> bool {
    !rustix::fs::fcntl_getfl(socket).is_ok_and(|flags| flags.contains(OFlags::NONBLOCK))
}

/// `bind`.
pub(super) fn bind(context: &Context, target: &Target<'_>) -> Result<Reply, Errno> {
    let socket = target.socket(target.int(0))?;
    let address = target.address(target.long(1), target.int(2))?;
    target.confirm()?;
    let name = if is_unix(socket.as_fd()) { unix_name(&address) } else { None };
    match name {
        None => kernel::bind(socket.as_fd(), &address).map(Reply::Value),
        Some(UnixName::Automatic | UnixName::Abstract(_)) => {
            let bound = kernel::bind(socket.as_fd(), &address)?;
            if let Some(UnixName::Abstract(name)) = unix_name(&kernel::own_address(socket.as_fd())?) {
                context.session.remember(SocketKey::of_abstract(name));
            }
            Ok(Reply::Value(bound))
        }
        Some(UnixName::Path(path)) => bind_path(context, target, socket.as_fd(), (&address, path)),
    }
}

/// Binds a socket to a path.
///
/// The address that programs see later is the one that was bound, so it has to be the command's own text, which the
/// kernel resolves once more. While no name of the session changes, it leads to the same place.
fn bind_path(
    context: &Context,
    target: &Target<'_>,
    socket: BorrowedFd<'_>,
    (address, path): (&[u8], &[u8]),
) -> Result<Reply, Errno> {
    let walk = context.walk(target);
    let folder = target.folder(libc::AT_FDCWD)?;
    // The same folder for both: another thread may change it meanwhile.
    let start = if is_absolute(path) { context.root.as_fd() } else { folder.as_fd() };
    let mask = target.creation_mask()?;
    target.confirm()?;
    let _names = context.names_change()?;
    let place = walk.place(Folder::Borrowed(start), path)?;
    let (standing, whole) = context.standing(&place)?;
    if standing != Standing::Free {
        return match place.file_type() {
            Ok(_) => Err(Errno::ADDRINUSE),
            Err(_) => Err(context.refuse(target, Operation::Bind, RefusalRule::Protected, &whole)),
        };
    }
    let watch = NameWatch::start(&context.name_events, place.folder.as_fd());
    rustix::process::umask(mask);
    rustix::process::fchdir(&folder)?;
    let bound = kernel::bind(socket, address);
    // The machine's `/proc` can always be entered.
    rustix::process::fchdir(context.proc())?;
    let bound = context.observe(target, Operation::Bind, (&place, Extent::Folder), bound)?;
    let flags = OFlags::PATH | OFlags::NOFOLLOW | OFlags::CLOEXEC;
    // The name may be that of another socket by now, which the session must not reach. What isn't remembered can't be reached.
    if let (Ok(watch), Ok(file)) =
        (watch, rustix::fs::openat(&place.folder, &*place.name, flags, rustix::fs::Mode::empty()))
        && watch.was_only_made(place.bare_name())
    {
        context.session.remember(SocketKey::of_file(file.as_fd())?);
    }
    Ok(Reply::Value(bound))
}
