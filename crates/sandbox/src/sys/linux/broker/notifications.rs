//! The listener of a seccomp filter: receiving held calls and answering them.

use std::ffi::c_int;
use std::mem::MaybeUninit;
use std::os::fd::{AsFd as _, AsRawFd as _, BorrowedFd, OwnedFd};
use std::time::Duration;

use rustix::event::{PollFd, PollFlags};
use rustix::io::Errno;
use rustix::process::Pid;

/// Wakes the waiting side on the same processor (Linux 6.6).
const SYNC_WAKE_UP: u64 = 1;

/// How often a request to the kernel is tried that failed without a reason of its own, such as for want of memory.
const ATTEMPTS: u32 = 8;

/// Time before the second attempt. It doubles with each.
const FIRST_PAUSE: Duration = Duration::from_millis(1);

/// The listener.
#[derive(Debug)]
pub(super) struct Listener(OwnedFd);

/// A call that the kernel holds until it is answered.
#[derive(Clone, Copy, Debug)]
pub(super) struct Held {
    /// The kernel's number for this notification.
    pub(super) id: u64,
    /// The thread that made the call.
    pub(super) thread: Pid,
    /// The number of the system call.
    pub(super) call: i64,
    /// Its arguments, as registers.
    pub(super) arguments: [u64; 6],
}

/// How a held call is answered when nothing failed.
#[derive(Debug)]
pub(super) enum Reply {
    /// The call returns this number.
    Value(i64),
    /// The call returns a descriptor of this file.
    File { file: OwnedFd, is_closed_on_exec: bool },
    /// The kernel runs the call. Only for calls whose registers alone say that they are harmless.
    Continue,
}

impl Listener {
    pub(super) const fn new(listener: OwnedFd) -> Self {
        Self(listener)
    }

    pub(super) fn as_fd(&self) -> BorrowedFd<'_> {
        self.0.as_fd()
    }

    /// Asks the kernel to wake threads on the processor that they are waited for on. Older kernels don't know it.
    pub(super) fn wake_on_same_processor(&self) {
        // SAFETY: the request takes flags as a number.
        let _ = unsafe { libc::ioctl(self.0.as_raw_fd(), libc::SECCOMP_IOCTL_NOTIF_SET_FLAGS, SYNC_WAKE_UP) };
    }

    /// The next held call. `None`: no process has the filter any more.
    pub(super) fn receive(&self) -> Option<Held> {
        loop {
            // SAFETY: plain numbers, for which zero is valid, as the kernel demands.
            let mut raw: libc::seccomp_notif = unsafe { MaybeUninit::zeroed().assume_init() };
            let received = insist(|| {
                // SAFETY: the structure is as large as the request says.
                unsafe { libc::ioctl(self.0.as_raw_fd(), libc::SECCOMP_IOCTL_NOTIF_RECV, &raw mut raw) }
            });
            if received.is_err() {
                // The thread was killed before we had its call.
                if self.is_abandoned() {
                    return None;
                }
                continue;
            }
            let Some(thread) = Pid::from_raw(raw.pid.cast_signed()) else {
                // A process that we can't see can't be answered for.
                self.answer(raw.id, Err(Errno::PERM));
                continue;
            };
            return Some(Held { id: raw.id, thread, call: i64::from(raw.data.nr), arguments: raw.data.args });
        }
    }

    /// Whether no process has the filter any more.
    pub(super) fn is_abandoned(&self) -> bool {
        let mut wanted = [PollFd::new(&self.0, PollFlags::empty())];
        let now = rustix::event::Timespec { tv_sec: 0, tv_nsec: 0 };
        match rustix::event::poll(&mut wanted, Some(&now)) {
            Ok(_) => wanted.iter().any(|fd| fd.revents().intersects(PollFlags::HUP | PollFlags::ERR)),
            // The caller goes on, and asks again.
            Err(_) => false,
        }
    }

    /// Whether the thread still waits: what was read from its process's memory or `/proc` before was its own.
    pub(super) fn is_valid(&self, id: u64) -> bool {
        let answer = insist(|| {
            // SAFETY: the request reads one number.
            unsafe { libc::ioctl(self.0.as_raw_fd(), libc::SECCOMP_IOCTL_NOTIF_ID_VALID, &raw const id) }
        });
        answer.is_ok()
    }

    /// Answers a held call. A thread that is gone needs no answer.
    pub(super) fn answer(&self, id: u64, answer: Result<Reply, Errno>) {
        match answer {
            Ok(Reply::Value(value)) => self.send(id, value, 0, 0),
            Ok(Reply::Continue) => self.send(id, 0, 0, libc::SECCOMP_USER_NOTIF_FLAG_CONTINUE as u32),
            Ok(Reply::File { file, is_closed_on_exec }) => {
                let added = self.add(id, &file, is_closed_on_exec);
                // Ours is closed before the thread goes on. The kernel can add and answer in one step, but then a program
                // that was just written can't be run (`ETXTBSY`), and a pipe has one more end, until we are on again.
                drop(file);
                match added {
                    Ok(number) => self.send(id, i64::from(number), 0, 0),
                    Err(errno) => self.send(id, 0, -errno.raw_os_error(), 0),
                }
            }
            Err(errno) => self.send(id, 0, -errno.raw_os_error(), 0),
        }
    }

    fn send(&self, id: u64, val: i64, error: c_int, flags: u32) {
        let mut raw = libc::seccomp_notif_resp { id, val, error, flags };
        // An error says that the thread is gone.
        let _ = insist(|| {
            // SAFETY: the structure is as large as the request says.
            unsafe { libc::ioctl(self.0.as_raw_fd(), libc::SECCOMP_IOCTL_NOTIF_SEND, &raw mut raw) }
        });
    }

    /// Puts `file` into the waiting process, and returns its number there.
    fn add(&self, id: u64, file: &OwnedFd, is_closed_on_exec: bool) -> Result<c_int, Errno> {
        let raw = libc::seccomp_notif_addfd {
            id,
            flags: 0,
            srcfd: file.as_raw_fd().cast_unsigned(),
            newfd: 0,
            newfd_flags: if is_closed_on_exec { libc::O_CLOEXEC.cast_unsigned() } else { 0 },
        };
        rustix::io::retry_on_intr(|| {
            // SAFETY: the structure is as large as the request says.
            let number =
                unsafe { libc::ioctl(self.0.as_raw_fd(), libc::SECCOMP_IOCTL_NOTIF_ADDFD, &raw const raw) };
            if number >= 0 {
                return Ok(number);
            }
            Err(Errno::from_io_error(&std::io::Error::last_os_error()).unwrap_or(Errno::IO))
        })
    }
}

/// Does a request to the kernel, again if it fails without a reason of its own. A thread whose call is never answered would wait
/// for ever, so this process ends if it can't be done: without a broker held calls fail.
fn insist(mut request: impl FnMut() -> c_int) -> Result<(), Errno> {
    let mut failed = 0;
    while failed < ATTEMPTS {
        if request() == 0 {
            return Ok(());
        }
        match Errno::from_io_error(&std::io::Error::last_os_error()) {
            // No thread waits with this number, or it has its answer.
            Some(errno @ (Errno::NOENT | Errno::INPROGRESS)) => return Err(errno),
            // A signal came.
            Some(Errno::INTR) => {}
            _ => {
                std::thread::sleep(FIRST_PAUSE * 2_u32.pow(failed));
                failed += 1;
            }
        }
    }
    std::process::abort()
}
