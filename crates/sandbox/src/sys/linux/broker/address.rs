//! Addresses of sockets, and which Unix sockets can be reached.

use std::ffi::c_int;
use std::os::fd::{AsFd as _, BorrowedFd, OwnedFd};

use rustix::fs::{FileType, Mode, OFlags, ResolveFlags};
use rustix::io::Errno;

use super::context::Context;
use super::kernel;
use super::protections::{own_link, path_of};
use super::session::SocketKey;
use super::target::Target;
use super::walk::c_string;
use crate::observation::{Operation, RefusalRule};

/// Where the path begins in a Unix address.
const FAMILY_BYTES: usize = size_of::<libc::sa_family_t>();

/// The name that the kernel gives a socket by itself has so many characters.
const AUTOMATIC_NAME_BYTES: usize = 5;

/// What a Unix address names.
#[derive(Debug, PartialEq, Eq)]
pub(super) enum UnixName<'a> {
    /// No name: the kernel chooses an abstract one.
    Automatic,
    /// A name that is no file.
    Abstract(&'a [u8]),
    /// A file.
    Path(&'a [u8]),
}

/// The Unix name in an address, or `None` for one of another family.
pub(super) fn unix_name(address: &[u8]) -> Option<UnixName<'_>> {
    let (family, name) = address.split_first_chunk::<FAMILY_BYTES>()?;
    if c_int::from(libc::sa_family_t::from_ne_bytes(*family)) != libc::AF_UNIX {
        return None;
    }
    Some(match name {
        [] => UnixName::Automatic,
        [0, rest @ ..] => UnixName::Abstract(rest),
        _ => UnixName::Path(name.split(|byte| *byte == 0).next().unwrap_or_default()),
    })
}

/// The Unix address of a path.
fn unix_address(path: &[u8]) -> Vec<u8> {
    let family = libc::sa_family_t::try_from(libc::AF_UNIX).unwrap_or_default();
    [&family.to_ne_bytes(), path, &[0]].concat()
}

/// Whether a socket is a Unix one.
pub(super) fn is_unix(socket: BorrowedFd<'_>) -> bool {
    kernel::socket_option(socket, libc::SO_DOMAIN) == Ok(libc::AF_UNIX)
}

/// An address that may be used, with the file that it stands for.
pub(super) struct Reachable {
    pub(super) address: Vec<u8>,
    /// Keeps the file that the address names.
    _file: Option<OwnedFd>,
}

/// Checks whether the thread may reach `address` by `socket`, and returns an address that can mean nothing else.
pub(super) fn reach(
    context: &Context,
    target: &Target<'_>,
    socket: BorrowedFd<'_>,
    address: Vec<u8>,
    operation: Operation,
) -> Result<Reachable, Errno> {
    let as_it_is = |address| Ok(Reachable { address, _file: None });
    let foreign = |path: &[u8]| Err(context.refuse(target, operation, RefusalRule::ForeignSocket, path));
    if !is_unix(socket) {
        return as_it_is(address);
    }
    match unix_name(&address) {
        None | Some(UnixName::Automatic) => as_it_is(address),
        Some(UnixName::Abstract(name)) => {
            // Names that the kernel chose are not known to us. Landlock's scope covers them.
            let is_automatic = name.len() == AUTOMATIC_NAME_BYTES && name.iter().all(u8::is_ascii_hexdigit);
            match is_automatic || context.session.made(SocketKey::of_abstract(name)) {
                true => as_it_is(address),
                false => foreign(&[b"@", name].concat()),
            }
        }
        Some(UnixName::Path(path)) => {
            let walk = context.walk(target);
            let start = walk.start(libc::AT_FDCWD, &c_string(path)?)?;
            target.confirm()?;
            let file = walk.socket(start.as_fd(), path)?;
            if FileType::from_raw_mode(rustix::fs::fstat(&file)?.st_mode) == FileType::Socket {
                let key = SocketKey::of_file(file.as_fd())?;
                if !context.session.made(key) && !is_granted(context, key) {
                    return foreign(&path_of(context.proc(), file.as_fd())?);
                }
            }
            // The working folder of our threads is the machine's `/proc`.
            let address = unix_address(own_link(file.as_fd()).as_bytes());
            Ok(Reachable { address, _file: Some(file) })
        }
    }
}

/// Whether a granted path names this socket now. A link in such a path would lead anywhere.
fn is_granted(context: &Context, key: SocketKey) -> bool {
    context.granted.iter().any(|path| {
        let flags = OFlags::PATH | OFlags::NOFOLLOW | OFlags::CLOEXEC;
        rustix::fs::openat2(&context.root, path, flags, Mode::empty(), ResolveFlags::NO_SYMLINKS)
            .and_then(|file| SocketKey::of_file(file.as_fd()))
            .is_ok_and(|granted| granted == key)
    })
}

#[cfg(test)]
mod tests {
    use super::{UnixName, unix_address, unix_name};

    #[test]
    fn addresses_are_read_as_the_kernel_reads_them() {
        assert_eq!(unix_name(&unix_address(b"/a/b")), Some(UnixName::Path(b"/a/b")));
        assert_eq!(unix_name(&[1, 0, b'x']), Some(UnixName::Path(b"x")));
        assert_eq!(unix_name(&[1, 0, 0, b'x', 0]), Some(UnixName::Abstract(b"x\0")));
        assert_eq!(unix_name(&[1, 0]), Some(UnixName::Automatic));
        assert_eq!(unix_name(&[2, 0, 1, 1]), None);
        assert_eq!(unix_name(&[1]), None);
    }
}
