//! The thread that made a held call: its memory, descriptors, working folder and creation mask.
//!
//! All of them are copied once. What a copy says is what happens: the thread, or another one that shares its memory, can
//! change the original at any time. After copying, [`Target::confirm`] makes sure that the process id still meant it.

use std::cell::{Cell, OnceCell};
use std::ffi::{CString, c_int};
use std::os::fd::{AsFd, BorrowedFd, OwnedFd};

use rustix::fs::{Mode, OFlags};
use rustix::io::Errno;
use rustix::process::{Pid, PidfdFlags, PidfdGetfdFlags};

use super::kernel;
use super::notifications::{Held, Listener};
use super::privilege::with_access;

/// The longest path that the kernel takes, with its NUL byte.
const MAX_PATH_BYTES: usize = libc::PATH_MAX as usize;

/// The largest address of a socket that the kernel takes.
const MAX_ADDRESS_BYTES: usize = size_of::<libc::sockaddr_storage>();

/// The smallest page of the architectures that we know. Memory can end at each multiple.
const PAGE_BYTES: u64 = 4096;

/// A folder that is ours or borrowed.
#[derive(Debug)]
pub(super) enum Folder<'a> {
    Borrowed(BorrowedFd<'a>),
    Owned(OwnedFd),
}

impl AsFd for Folder<'_> {
    fn as_fd(&self) -> BorrowedFd<'_> {
        match self {
            Self::Borrowed(fd) => fd.as_fd(),
            Self::Owned(fd) => fd.as_fd(),
        }
    }
}

/// The process and thread ids that a thread has in the innermost process namespace, and in ours.
#[derive(Clone, Copy, Debug)]
pub(super) struct Ids {
    pub(super) process: u32,
    pub(super) thread: u32,
    pub(super) outer_process: Pid,
}

/// The thread that made a held call.
#[derive(Debug)]
pub(super) struct Target<'a> {
    pub(super) held: Held,
    listener: &'a Listener,
    /// The machine's `/proc`.
    proc: BorrowedFd<'a>,
    pidfd: OnceCell<OwnedFd>,
    status: OnceCell<String>,
    /// Whether the session counts this call as one that is left to the kernel.
    pub(super) is_counted: Cell<bool>,
}

impl<'a> Target<'a> {
    pub(super) const fn new(held: Held, listener: &'a Listener, proc: BorrowedFd<'a>) -> Self {
        Self {
            held,
            listener,
            proc,
            pidfd: OnceCell::new(),
            status: OnceCell::new(),
            is_counted: Cell::new(false),
        }
    }

    /// Fails unless the thread still waits for us.
    pub(super) fn confirm(&self) -> Result<(), Errno> {
        if self.listener.is_valid(self.held.id) { Ok(()) } else { Err(Errno::SRCH) }
    }

    /// An argument that is a pointer or a long number.
    pub(super) fn long(&self, index: usize) -> u64 {
        self.held.arguments.get(index).copied().unwrap_or(0)
    }

    /// An argument that the kernel takes as an `int`: it ignores the upper half.
    pub(super) fn int(&self, index: usize) -> c_int {
        self.unsigned(index).cast_signed()
    }

    /// The same for an unsigned one.
    pub(super) fn unsigned(&self, index: usize) -> u32 {
        (self.long(index) & u64::from(u32::MAX)) as u32
    }

    /// Copies `length` bytes of memory.
    pub(super) fn bytes(&self, address: u64, length: usize) -> Result<Vec<u8>, Errno> {
        let mut bytes = vec![0; length];
        self.read_into(address, &mut bytes)?;
        Ok(bytes)
    }

    /// Copies memory, all of it.
    pub(super) fn read_into(&self, address: u64, into: &mut [u8]) -> Result<(), Errno> {
        if into.is_empty() {
            return Ok(());
        }
        let length = into.len();
        let read = with_access(|| kernel::read_memory(self.held.thread, &[(address, length)], into))?;
        if read == length { Ok(()) } else { Err(Errno::FAULT) }
    }

    /// Writes to memory, all of it.
    pub(super) fn write(&self, address: u64, bytes: &[u8]) -> Result<(), Errno> {
        let written = with_access(|| kernel::write_memory(self.held.thread, address, bytes))?;
        if written == bytes.len() { Ok(()) } else { Err(Errno::FAULT) }
    }

    /// Copies a path.
    pub(super) fn path(&self, address: u64) -> Result<CString, Errno> {
        let mut bytes = [0; MAX_PATH_BYTES];
        // A path may end right before memory that is not there, so each page is a part of its own.
        let first = usize::try_from(PAGE_BYTES - address % PAGE_BYTES).unwrap_or(1);
        let parts = match first {
            MAX_PATH_BYTES => vec![(address, MAX_PATH_BYTES)],
            _ => vec![(address, first), (address.saturating_add(first as u64), MAX_PATH_BYTES - first)],
        };
        let read = with_access(|| kernel::read_memory(self.held.thread, &parts, &mut bytes))?;
        let read = bytes.get(..read).unwrap_or_default();
        let end = read.iter().position(|byte| *byte == 0);
        match end.and_then(|end| read.get(..end)) {
            Some([]) => Err(Errno::NOENT),
            Some(path) => CString::new(path).map_err(|_| Errno::INVAL),
            None if read.len() == MAX_PATH_BYTES => Err(Errno::NAMETOOLONG),
            None => Err(Errno::FAULT),
        }
    }

    /// Copies a path that may be empty.
    pub(super) fn path_or_empty(&self, address: u64) -> Result<CString, Errno> {
        match self.path(address) {
            Err(Errno::NOENT) => Ok(CString::default()),
            result => result,
        }
    }

    /// Copies the address of a socket.
    pub(super) fn address(&self, address: u64, length: c_int) -> Result<Vec<u8>, Errno> {
        match usize::try_from(length) {
            Ok(length) if length <= MAX_ADDRESS_BYTES => self.bytes(address, length),
            _ => Err(Errno::INVAL),
        }
    }

    /// A copy of a descriptor of the thread.
    pub(super) fn descriptor(&self, number: c_int) -> Result<OwnedFd, Errno> {
        if number < 0 {
            return Err(Errno::BADF);
        }
        let pidfd = self.pidfd()?;
        with_access(|| rustix::process::pidfd_getfd(pidfd, number, PidfdGetfdFlags::empty()))
    }

    /// A copy of a descriptor that calls for sockets take. One for a path alone is none.
    pub(super) fn open_descriptor(&self, number: c_int) -> Result<OwnedFd, Errno> {
        let copy = self.descriptor(number)?;
        match rustix::fs::fcntl_getfl(&copy)?.contains(OFlags::PATH) {
            true => Err(Errno::BADF),
            false => Ok(copy),
        }
    }

    /// A copy of a descriptor of a socket.
    pub(super) fn socket(&self, number: c_int) -> Result<OwnedFd, Errno> {
        let copy = self.open_descriptor(number)?;
        kernel::socket_option(copy.as_fd(), libc::SO_TYPE)?;
        Ok(copy)
    }

    fn pidfd(&self) -> Result<&OwnedFd, Errno> {
        if let Some(pidfd) = self.pidfd.get() {
            return Ok(pidfd);
        }
        let thread = PidfdFlags::from_bits_retain(libc::PIDFD_THREAD);
        let pidfd = match rustix::process::pidfd_open(self.held.thread, thread) {
            // Before Linux 6.9 there are descriptors for processes only. Their first thread shares its descriptors with
            // the others in all programs that we know.
            Err(Errno::INVAL) => rustix::process::pidfd_open(self.ids()?.outer_process, PidfdFlags::empty())?,
            result => result?,
        };
        self.confirm()?;
        Ok(self.pidfd.get_or_init(|| pidfd))
    }

    /// The folder that a relative path starts in.
    pub(super) fn folder(&self, number: c_int) -> Result<Folder<'static>, Errno> {
        if number != libc::AT_FDCWD {
            return self.descriptor(number).map(Folder::Owned);
        }
        let path = self.proc_path("cwd");
        let flags = OFlags::PATH | OFlags::DIRECTORY | OFlags::CLOEXEC;
        let opened = with_access(|| rustix::fs::openat(self.proc, &path, flags, Mode::empty()));
        opened.map(Folder::Owned)
    }

    /// A path relative to the machine's `/proc`.
    fn proc_path(&self, name: &str) -> String {
        format!("{}/{name}", self.held.thread.as_raw_nonzero())
    }

    /// A file about the thread in the machine's `/proc`.
    pub(super) fn proc_text(&self, name: &str) -> Result<String, Errno> {
        read_text(self.proc, &self.proc_path(name))
    }

    fn status(&self) -> Result<&str, Errno> {
        if let Some(status) = self.status.get() {
            return Ok(status);
        }
        let status = self.proc_text("status")?;
        Ok(self.status.get_or_init(|| status))
    }

    /// The mask that takes bits from the modes of new files.
    pub(super) fn creation_mask(&self) -> Result<Mode, Errno> {
        let mask = field(self.status()?, "Umask:").and_then(|mask| u32::from_str_radix(mask, 8).ok());
        mask.map(Mode::from_raw_mode).ok_or(Errno::IO)
    }

    /// The thread's ids. The innermost ones come last in each line.
    pub(super) fn ids(&self) -> Result<Ids, Errno> {
        let status = self.status()?;
        let last = |name| field(status, name)?.split_ascii_whitespace().next_back()?.parse().ok();
        let outer = field(status, "Tgid:").and_then(|id| id.parse().ok()).and_then(Pid::from_raw);
        match (last("NStgid:"), last("NSpid:"), outer) {
            (Some(process), Some(thread), Some(outer_process)) => Ok(Ids { process, thread, outer_process }),
            _ => Err(Errno::SRCH),
        }
    }

    /// Whether a signal waits that the process has a handler for: a call that waits is interrupted then.
    pub(super) fn has_signal_to_handle(proc: BorrowedFd<'_>, thread: Pid) -> bool {
        let Ok(status) = read_text(proc, &format!("{}/status", thread.as_raw_nonzero())) else { return true };
        let set = |name| field(&status, name).and_then(|set| u64::from_str_radix(set, 16).ok()).unwrap_or(0);
        (set("SigPnd:") | set("ShdPnd:")) & !set("SigBlk:") & set("SigCgt:") != 0
    }

    /// Whether the kernel will look for a signal when the thread goes on. For a signal to the whole process that is sure only
    /// if there is no other thread to take it.
    pub(super) fn will_handle_signal(&self) -> bool {
        let Ok(status) = self.proc_text("status") else { return false };
        let set = |name| field(&status, name).and_then(|set| u64::from_str_radix(set, 16).ok()).unwrap_or(0);
        let shared = if field(&status, "Threads:") == Some("1") { set("ShdPnd:") } else { 0 };
        (set("SigPnd:") | shared) & !set("SigBlk:") != 0
    }

    /// Delivers a signal to the thread, as the kernel would have done for its own call.
    pub(super) fn signal(&self, signal: c_int) {
        if let Ok(ids) = self.ids() {
            kernel::signal_thread(ids.outer_process, self.held.thread, signal);
        }
    }
}

/// The text of a file in the machine's `/proc`, up to a page of it.
pub(super) fn read_text(proc: BorrowedFd<'_>, path: &str) -> Result<String, Errno> {
    let file = rustix::fs::openat(proc, path, OFlags::RDONLY | OFlags::CLOEXEC, Mode::empty())?;
    let mut bytes = vec![0; PAGE_BYTES as usize];
    let length = rustix::io::retry_on_intr(|| rustix::io::read(&file, &mut bytes))?;
    bytes.truncate(length);
    Ok(String::from_utf8_lossy(&bytes).into_owned())
}

/// The value of a line that begins with `name`.
pub(super) fn field<'a>(text: &'a str, name: &str) -> Option<&'a str> {
    text.lines().find_map(|line| line.strip_prefix(name)).map(str::trim)
}
