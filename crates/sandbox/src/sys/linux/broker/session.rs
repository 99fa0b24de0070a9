//! What all brokers of a session know together, in memory that they share.
//!
//! It has a fixed size: the sockets that the session made, in a ring; whether it ever made a Unix datagram socket; and
//! threads whose sends the kernel was told to run.
//!
//! Every place of the ring has a version that is odd while the place is written. A reader that saw the version change, or
//! saw it odd, takes the place for empty. A writer that dies leaves one place unused.

use std::hash::{DefaultHasher, Hash, Hasher as _};
use std::os::fd::{AsFd as _, BorrowedFd, OwnedFd};
use std::ptr::NonNull;
use std::sync::atomic::{AtomicU32, AtomicU64, Ordering};

use rustix::fs::{AtFlags, MemfdFlags, SealFlags, StatxFlags};
use rustix::io::Errno;
use rustix::mm::{MapFlags, ProtFlags};
use rustix::process::Pid;

/// A session that makes more sockets forgets the oldest.
const MAX_SOCKETS: usize = 4096;

/// When more threads send at once, further ones are sent for.
const MAX_SENDERS: usize = 1024;

/// The shared memory. All of its numbers may be 0, as they are in a new file.
#[repr(C)]
struct State {
    has_datagram_socket: AtomicU32,
    /// Sends that are about to be left to the kernel, and are not answered yet.
    unanswered: AtomicU32,
    made: AtomicU64,
    senders: [AtomicU32; MAX_SENDERS],
    sockets: [Entry; MAX_SOCKETS],
}

#[repr(C)]
struct Entry {
    version: AtomicU64,
    key: [AtomicU64; 3],
}

/// What identifies a socket: file system, inode and time of creation, or a hash of an abstract name.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) struct SocketKey([u64; 3]);

impl SocketKey {
    /// The key of the file that a descriptor names. The time tells it from a later file with the same number.
    pub(super) fn of_file(file: BorrowedFd<'_>) -> Result<Self, Errno> {
        let wanted = StatxFlags::INO | StatxFlags::BTIME;
        let stat = rustix::fs::statx(file, c"", AtFlags::EMPTY_PATH, wanted)?;
        let device = u64::from(stat.stx_dev_major) << 32 | u64::from(stat.stx_dev_minor);
        let born = stat.stx_btime.tv_sec.cast_unsigned().wrapping_mul(1_000_000_000);
        Ok(Self([device, stat.stx_ino, born.wrapping_add(u64::from(stat.stx_btime.tv_nsec))]))
    }

    /// The key of an abstract name. No device has this number.
    pub(super) fn of_abstract(name: &[u8]) -> Self {
        let hash = |salt: u8| {
            let mut hasher = DefaultHasher::new();
            (salt, name).hash(&mut hasher);
            hasher.finish()
        };
        Self([u64::MAX, hash(0), hash(1)])
    }
}

/// The memory that the brokers of a session share.
pub(super) struct Session {
    state: NonNull<State>,
}

// SAFETY: everything behind the pointer is atomic, and the mapping lives as long as the process.
unsafe impl Send for Session {}
// SAFETY: as above.
unsafe impl Sync for Session {}

/// Makes the memory for a new session.
pub(crate) fn create() -> rustix::io::Result<OwnedFd> {
    let flags = MemfdFlags::CLOEXEC | MemfdFlags::ALLOW_SEALING;
    let memory = rustix::fs::memfd_create("shellgate-session", flags)?;
    rustix::fs::ftruncate(&memory, size_of::<State>() as u64)?;
    rustix::fs::fcntl_add_seals(&memory, SealFlags::SHRINK | SealFlags::GROW | SealFlags::SEAL)?;
    Ok(memory)
}

impl Session {
    /// Maps the memory that [`create`] made.
    pub(super) fn map(memory: &OwnedFd) -> rustix::io::Result<Self> {
        let size = size_of::<State>();
        if rustix::fs::fstat(memory)?.st_size != i64::try_from(size).unwrap_or(0) {
            return Err(Errno::INVAL);
        }
        let access = ProtFlags::READ | ProtFlags::WRITE;
        // SAFETY: a new mapping at a place that the kernel chooses.
        let address = unsafe {
            rustix::mm::mmap(std::ptr::null_mut(), size, access, MapFlags::SHARED, memory.as_fd(), 0)
        }?;
        NonNull::new(address.cast()).map(|state| Self { state }).ok_or(Errno::NOMEM)
    }

    fn state(&self) -> &State {
        // SAFETY: the mapping is as large as the type, page-aligned, never unmapped, and all numbers are valid values.
        unsafe { self.state.as_ref() }
    }

    /// Whether the session ever had a Unix datagram socket.
    pub(super) fn has_datagram_socket(&self) -> bool {
        self.state().has_datagram_socket.load(Ordering::SeqCst) != 0
    }

    /// Notes that the session has one. Returns whether it is the first.
    pub(super) fn note_datagram_socket(&self) -> bool {
        self.state().has_datagram_socket.swap(1, Ordering::SeqCst) == 0
    }

    /// Remembers a socket that the session made.
    pub(super) fn remember(&self, SocketKey(key): SocketKey) {
        let state = self.state();
        let place = state.made.fetch_add(1, Ordering::SeqCst) % MAX_SOCKETS as u64;
        let Some(entry) = usize::try_from(place).ok().and_then(|place| state.sockets.get(place)) else {
            return;
        };
        let version = entry.version.load(Ordering::SeqCst);
        let claimed =
            entry.version.compare_exchange(version & !1, version | 1, Ordering::SeqCst, Ordering::SeqCst);
        if claimed.is_err() {
            return;
        }
        for (word, value) in entry.key.iter().zip(key) {
            word.store(value, Ordering::SeqCst);
        }
        entry.version.store((version | 1).wrapping_add(1), Ordering::SeqCst);
    }

    /// Whether the session made this socket.
    pub(super) fn made(&self, SocketKey(key): SocketKey) -> bool {
        self.state().sockets.iter().any(|entry| {
            let version = entry.version.load(Ordering::SeqCst);
            version != 0
                && version & 1 == 0
                && entry.key.iter().zip(key).all(|(word, value)| word.load(Ordering::SeqCst) == value)
                && entry.version.load(Ordering::SeqCst) == version
        })
    }

    /// Counts a send that is about to be left to the kernel, until [`answered`](Self::answered).
    pub(super) fn begin_answer(&self) {
        self.state().unanswered.fetch_add(1, Ordering::SeqCst);
    }

    /// A send that was counted is answered.
    pub(super) fn answered(&self) {
        self.state().unanswered.fetch_sub(1, Ordering::SeqCst);
    }

    /// Whether a send that was counted is not answered yet.
    pub(super) fn has_unanswered(&self) -> bool {
        self.state().unanswered.load(Ordering::SeqCst) != 0
    }

    /// Notes that the kernel runs a send of this thread. `false`: there is no room.
    pub(super) fn note_sender(&self, thread: Pid) -> bool {
        let number = thread.as_raw_nonzero().get().cast_unsigned();
        let senders = &self.state().senders;
        // A thread has one place, near the one that its number gives.
        let start = number as usize % MAX_SENDERS;
        let near = || senders.iter().cycle().skip(start).take(8);
        near().any(|place| place.load(Ordering::SeqCst) == number)
            || near()
                .any(|place| place.compare_exchange(0, number, Ordering::SeqCst, Ordering::SeqCst).is_ok())
    }

    /// Forgets a thread, which is at another call by now.
    pub(super) fn forget_sender(&self, thread: Pid) {
        let number = thread.as_raw_nonzero().get().cast_unsigned();
        let start = number as usize % MAX_SENDERS;
        for place in self.state().senders.iter().cycle().skip(start).take(8) {
            let _ = place.compare_exchange(number, 0, Ordering::SeqCst, Ordering::SeqCst);
        }
    }

    /// Threads whose sends the kernel may still be running.
    pub(super) fn senders(&self) -> Vec<Pid> {
        let numbers = self.state().senders.iter().map(|place| place.load(Ordering::SeqCst).cast_signed());
        numbers.filter_map(Pid::from_raw).collect()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    #[cfg_attr(miri, ignore = "Miri has no shared mappings")]
    fn a_session_remembers_its_latest_sockets_and_senders() {
        let memory = create().unwrap();
        let (session, other) = (Session::map(&memory).unwrap(), Session::map(&memory).unwrap());
        let key = |number| SocketKey([1, number, 2]);
        (0..5000).for_each(|number| session.remember(key(number)));
        assert!(other.made(key(4999)) && other.made(key(904)) && !other.made(key(903)));
        assert!(!other.has_datagram_socket() && session.note_datagram_socket());
        assert!(other.has_datagram_socket() && !other.note_datagram_socket());
        let thread = Pid::from_raw(1030).unwrap();
        assert!(session.note_sender(thread) && session.note_sender(thread));
        assert_eq!(other.senders(), [thread]);
        other.forget_sender(thread);
        assert!(session.senders().is_empty());
        let crowd = |n: i32| Pid::from_raw(6 + n * 1024).unwrap();
        assert_eq!((0..20).filter(|n| session.note_sender(crowd(*n))).count(), 8, "no room for more");
    }
}
