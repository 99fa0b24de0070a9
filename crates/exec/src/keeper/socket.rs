//! The keeper's place in the world: one socket per session, one keeper behind it.
//!
//! Taking the place and leaving it happen under a lock on the folder of sockets, so that two keepers can't hold one
//! session and none leaves while another believes it is there. Callers need no lock: a connection that was made at
//! the wrong moment ends before the keeper's first word, and they try again.

use std::io;
use std::os::fd::{AsFd as _, BorrowedFd, OwnedFd};
use std::path::Path;
use std::time::{Duration, Instant};

use rustix::fs::{AtFlags, FlockOperation, Mode, OFlags};
use rustix::io::Errno;
use rustix::net::{AddressFamily, SocketAddrUnix, SocketFlags, SocketType};

use crate::proc;

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

    /// The descriptor of the folder, and the name: for a process that is forked off.
    pub(crate) fn into_parts(self) -> (OwnedFd, String) {
        (self.folder, self.name)
    }

    /// The reverse of [`Address::into_parts`].
    pub(crate) fn from_parts(folder: OwnedFd, name: String) -> Self {
        Self { folder, name }
    }

    /// A socket's name has room for 107 bytes, a state folder's path may be longer: go by the descriptor.
    fn socket(&self) -> io::Result<SocketAddrUnix> {
        Ok(SocketAddrUnix::new(proc::path_of_own_descriptor(&self.folder).join(&self.name))?)
    }

    /// Connects to the session's keeper; `None` when there is none.
    pub(crate) fn connect(&self) -> io::Result<Option<OwnedFd>> {
        let socket =
            rustix::net::socket_with(AddressFamily::UNIX, SocketType::STREAM, SocketFlags::CLOEXEC, None)?;
        match rustix::net::connect(&socket, &self.socket()?) {
            Ok(()) => Ok(Some(socket)),
            Err(Errno::NOENT | Errno::CONNREFUSED | Errno::NOTSOCK) => Ok(None),
            Err(error) => Err(error.into()),
        }
    }

    /// Removes the socket of a keeper that was killed.
    pub(crate) fn sweep(&self) {
        let _locked = self.lock();
        if self.connect().is_ok_and(|keeper| keeper.is_none()) {
            let _ = rustix::fs::unlinkat(&self.folder, self.name.as_str(), AtFlags::empty());
        }
    }

    /// Locks the folder, for a moment. A lock that can't be had (a file system without, somebody who keeps it) costs the
    /// protection against a rare race, not the service.
    fn lock(&self) -> Locked<'_> {
        let until = Instant::now() + PATIENCE;
        while let Err(Errno::AGAIN) =
            rustix::fs::flock(&self.folder, FlockOperation::NonBlockingLockExclusive)
        {
            if Instant::now() > until {
                break;
            }
            std::thread::sleep(Duration::from_millis(1));
        }
        Locked(self)
    }

    /// What the file at our name is, to tell ours from another's.
    fn identity(&self) -> Option<(u64, u64)> {
        let stat = rustix::fs::statat(&self.folder, self.name.as_str(), AtFlags::SYMLINK_NOFOLLOW).ok()?;
        Some((stat.st_dev, stat.st_ino))
    }
}

/// How long the lock is waited for.
const PATIENCE: Duration = Duration::from_secs(2);

/// The folder, locked.
struct Locked<'a>(&'a Address);

impl Drop for Locked<'_> {
    fn drop(&mut self) {
        let _ = rustix::fs::flock(&self.0.folder, FlockOperation::Unlock);
    }
}

/// A place that was taken.
#[derive(Debug)]
pub(super) struct Place {
    address: Address,
    listener: OwnedFd,
    /// Our socket. A file of that name that is another one is another keeper's.
    identity: Option<(u64, u64)>,
}

impl Place {
    /// Takes the place, unless somebody has it.
    pub(super) fn take(address: Address) -> io::Result<Option<Self>> {
        let locked = address.lock();
        if address.connect().is_ok_and(|keeper| keeper.is_some()) {
            return Ok(None);
        }
        let _ = rustix::fs::unlinkat(&address.folder, address.name.as_str(), AtFlags::empty());
        let flags = SocketFlags::CLOEXEC | SocketFlags::NONBLOCK;
        let listener = rustix::net::socket_with(AddressFamily::UNIX, SocketType::STREAM, flags, None)?;
        rustix::net::bind(&listener, &address.socket()?)?;
        rustix::net::listen(&listener, 4096)?;
        let identity = address.identity();
        drop(locked);
        Ok(Some(Self { address, listener, identity }))
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
        let locked = self.address.lock();
        if let Some(caller) = self.accept() {
            drop(locked);
            return Err((self, caller));
        }
        if self.address.identity() == self.identity {
            let _ = rustix::fs::unlinkat(&self.address.folder, self.address.name.as_str(), AtFlags::empty());
        }
        Ok(())
    }
}
