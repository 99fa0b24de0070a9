//! The socket of a session: one keeper serves it.
//!
//! A keeper creates and removes the socket under a lock on the folder. So a session never has two keepers, and no keeper
//! exits while another one takes it for running. Front ends need no lock: a connection that was made while a keeper exits
//! is reset before its first answer, and they connect again.

use std::io;
use std::os::fd::{AsFd as _, BorrowedFd, OwnedFd};
use std::path::Path;
use std::time::{Duration, Instant};

use rustix::fs::{AtFlags, FlockOperation, Mode, OFlags};
use rustix::io::Errno;
use rustix::net::sockopt::{Timeout, set_socket_timeout};
use rustix::net::{AddressFamily, SocketAddrUnix, SocketFlags, SocketType};

use crate::proc;
use crate::sys::folder_mark::FolderMark;

/// The folder of sockets, and the name of a socket in it.
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

    /// The name of the socket, which begins with the key of the session.
    pub(crate) fn name(&self) -> &str {
        &self.name
    }

    /// The descriptor of the folder, and the name: for a process that is forked off.
    pub(crate) fn into_parts(self) -> (OwnedFd, String) {
        (self.folder, self.name)
    }

    /// The reverse of [`Address::into_parts`].
    pub(crate) fn from_parts(folder: OwnedFd, name: String) -> Self {
        Self { folder, name }
    }

    /// The address to bind or connect to. It goes through the descriptor of the folder, because the path of a socket may
    /// have at most 107 bytes and a state folder's path may be longer.
    fn socket(&self) -> io::Result<SocketAddrUnix> {
        Ok(SocketAddrUnix::new(proc::path_of_own_descriptor(&self.folder).join(&self.name))?)
    }

    /// Connects to the session's keeper. `None`: there is none.
    ///
    /// # Errors
    /// `TimedOut` when it takes no connection: so many wait already.
    pub(crate) fn connect(&self) -> io::Result<Option<OwnedFd>> {
        let socket =
            rustix::net::socket_with(AddressFamily::UNIX, SocketType::STREAM, SocketFlags::CLOEXEC, None)?;
        // Without it, connecting to a keeper that hangs may take for ever.
        set_socket_timeout(&socket, Timeout::Send, Some(ACCEPT_TIMEOUT))?;
        match rustix::net::connect(&socket, &self.socket()?) {
            Ok(()) => Ok(Some(socket)),
            Err(Errno::NOENT | Errno::CONNREFUSED | Errno::NOTSOCK) => Ok(None),
            Err(Errno::AGAIN) => Err(io::Error::new(io::ErrorKind::TimedOut, "it takes no connection")),
            Err(error) => Err(error.into()),
        }
    }

    /// Removes the socket of a keeper that was killed.
    pub(crate) fn sweep(&self) {
        let _locked = self.lock();
        if self.connect().is_ok_and(|keeper| keeper.is_none()) {
            // The next keeper or front end that finds it tries again.
            let _ = rustix::fs::unlinkat(&self.folder, self.name.as_str(), AtFlags::empty());
        }
    }

    /// Locks the folder for a moment. Goes on without the lock when the file system has none, or another process keeps it:
    /// the lock only protects against a rare race.
    fn lock(&self) -> Locked<'_> {
        let until = Instant::now() + LOCK_TIMEOUT;
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

    /// Device and inode of the socket file, to recognise our own.
    fn identity(&self) -> Option<(u64, u64)> {
        let stat = rustix::fs::statat(&self.folder, self.name.as_str(), AtFlags::SYMLINK_NOFOLLOW).ok()?;
        Some((stat.st_dev, stat.st_ino))
    }
}

/// How long a keeper may leave a connection or a message waiting.
const ACCEPT_TIMEOUT: Duration = Duration::from_secs(5);

/// How long to wait for the lock.
const LOCK_TIMEOUT: Duration = Duration::from_secs(2);

/// The folder, locked.
struct Locked<'a>(&'a Address);

impl Drop for Locked<'_> {
    fn drop(&mut self) {
        // The lock also goes with the descriptor.
        let _ = rustix::fs::flock(&self.0.folder, FlockOperation::Unlock);
    }
}

/// The listening socket of a session.
#[derive(Debug)]
pub(super) struct SessionSocket {
    address: Address,
    listener: OwnedFd,
    /// Device and inode of our socket file. Another file of that name belongs to another keeper.
    identity: Option<(u64, u64)>,
    /// By this we are found when the folder has another name.
    _mark: Option<FolderMark>,
}

impl SessionSocket {
    /// Creates the socket. `None`: another keeper has it.
    pub(super) fn take(address: Address) -> io::Result<Option<Self>> {
        let locked = address.lock();
        if address.connect().is_ok_and(|keeper| keeper.is_some()) {
            return Ok(None);
        }
        // There may be no file. Where it can't be removed, `bind` fails and reports that.
        let _ = rustix::fs::unlinkat(&address.folder, address.name.as_str(), AtFlags::empty());
        let flags = SocketFlags::CLOEXEC | SocketFlags::NONBLOCK;
        let listener = rustix::net::socket_with(AddressFamily::UNIX, SocketType::STREAM, flags, None)?;
        rustix::net::bind(&listener, &address.socket()?)?;
        rustix::net::listen(&listener, 4096)?;
        let identity = address.identity();
        let mark = FolderMark::of(&address.folder);
        drop(locked);
        Ok(Some(Self { address, listener, identity, _mark: mark }))
    }

    pub(super) fn listener(&self) -> BorrowedFd<'_> {
        self.listener.as_fd()
    }

    /// The next connection, if there is one.
    ///
    /// # Errors
    /// When there may be one, and the process or the machine has no descriptor or memory for it.
    pub(super) fn accept(&self) -> Result<Option<OwnedFd>, Errno> {
        match rustix::net::accept_with(&self.listener, SocketFlags::CLOEXEC) {
            Ok(caller) => Ok(Some(caller)),
            Err(errno @ (Errno::MFILE | Errno::NFILE | Errno::NOBUFS | Errno::NOMEM)) => Err(errno),
            // None is there, or it is gone already.
            Err(_) => Ok(None),
        }
    }

    /// Removes the socket. If a front end has connected meanwhile, keeps it and returns that connection.
    pub(super) fn leave(self) -> Result<(), (Self, OwnedFd)> {
        let locked = self.address.lock();
        // A keeper that leaves has nothing open, so it has descriptors.
        if let Ok(Some(caller)) = self.accept() {
            drop(locked);
            return Err((self, caller));
        }
        if self.address.identity() == self.identity {
            // A file that stays is removed by the next keeper.
            let _ = rustix::fs::unlinkat(&self.address.folder, self.address.name.as_str(), AtFlags::empty());
        }
        Ok(())
    }
}
