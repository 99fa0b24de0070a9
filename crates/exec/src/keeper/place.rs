//! The keeper's place in the world: one socket per session, one keeper behind it.
//!
//! Taking the place and leaving it happen under a lock on the folder of sockets, so that two keepers can't hold one
//! session and none leaves while another believes it is there. Callers need no lock: a connection that was made at
//! the wrong moment ends before the keeper's first word, and they try again.

use std::io;
use std::os::fd::{AsFd, AsRawFd, BorrowedFd, OwnedFd};
use std::path::Path;

use rustix::fs::{AtFlags, FlockOperation, Mode, OFlags};
use rustix::net::{AddressFamily, SocketAddrUnix, SocketFlags, SocketType};

/// The folder of sockets, and the name of one in it.
#[derive(Debug)]
pub(crate) struct Address {
    folder: OwnedFd,
    name: String,
}

impl Address {
    pub(crate) fn new(folder: &Path, name: String) -> io::Result<Self> {
        let flags = OFlags::RDONLY | OFlags::DIRECTORY | OFlags::CLOEXEC;
        Ok(Self { folder: rustix::fs::open(folder, flags, Mode::empty())?, name })
    }

    /// A socket's name has room for 107 bytes, a state folder's path may be longer: go by the descriptor.
    fn socket(&self) -> io::Result<SocketAddrUnix> {
        Ok(SocketAddrUnix::new(format!("/proc/self/fd/{}/{}", self.folder.as_raw_fd(), self.name))?)
    }

    /// Connects to the session's keeper; `None` when there is none.
    pub(crate) fn connect(&self) -> io::Result<Option<OwnedFd>> {
        let socket =
            rustix::net::socket_with(AddressFamily::UNIX, SocketType::STREAM, SocketFlags::CLOEXEC, None)?;
        match rustix::net::connect(&socket, &self.socket()?) {
            Ok(()) => Ok(Some(socket)),
            Err(rustix::io::Errno::NOENT | rustix::io::Errno::CONNREFUSED) => Ok(None),
            Err(error) => Err(error.into()),
        }
    }

    fn lock(&self, operation: FlockOperation) {
        // A lock that can't be had (a file system without) costs the protection against a rare race, not the service.
        let _ = rustix::fs::flock(&self.folder, operation);
    }
}

impl AsFd for Address {
    fn as_fd(&self) -> BorrowedFd<'_> {
        self.folder.as_fd()
    }
}

/// A place that was taken.
#[derive(Debug)]
pub(super) struct Place {
    address: Address,
    listener: OwnedFd,
}

impl Place {
    /// Takes the place, unless somebody has it.
    pub(super) fn take(address: Address) -> io::Result<Option<Self>> {
        address.lock(FlockOperation::LockExclusive);
        let taken = Self::take_locked(address);
        if let Ok(Some(place)) = &taken {
            place.address.lock(FlockOperation::Unlock);
        }
        taken
    }

    fn take_locked(address: Address) -> io::Result<Option<Self>> {
        if address.connect()?.is_some() {
            return Ok(None);
        }
        let _ = rustix::fs::unlinkat(&address.folder, address.name.as_str(), AtFlags::empty());
        let flags = SocketFlags::CLOEXEC | SocketFlags::NONBLOCK;
        let listener = rustix::net::socket_with(AddressFamily::UNIX, SocketType::STREAM, flags, None)?;
        rustix::net::bind(&listener, &address.socket()?)?;
        rustix::net::listen(&listener, 4096)?;
        Ok(Some(Self { address, listener }))
    }

    pub(super) fn listener(&self) -> BorrowedFd<'_> {
        self.listener.as_fd()
    }

    /// The next caller, if one waits.
    pub(super) fn accept(&self) -> Option<OwnedFd> {
        rustix::net::accept_with(&self.listener, SocketFlags::CLOEXEC).ok()
    }

    /// Leaves, unless a caller has come: then that one is returned and the place kept.
    pub(super) fn leave(self) -> Result<(), (Self, OwnedFd)> {
        self.address.lock(FlockOperation::LockExclusive);
        if let Some(caller) = self.accept() {
            self.address.lock(FlockOperation::Unlock);
            return Err((self, caller));
        }
        let _ = rustix::fs::unlinkat(&self.address.folder, self.address.name.as_str(), AtFlags::empty());
        Ok(())
    }
}
