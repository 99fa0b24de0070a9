//! The threads of a broker.
//!
//! Each waits for a held call, does it, and waits again. Some calls may wait for other processes: opening a pipe that
//! no process reads, connecting, sending to a full socket. A thread that begins one makes sure that enough others are left,
//! and starts one if not. The number of threads has a limit; a call that would exceed it fails.
//!
//! A call that waits is watched: when its thread was killed, or has a signal to handle, ours is interrupted.

use std::os::fd::{AsFd as _, BorrowedFd, OwnedFd};
use std::sync::{Mutex, MutexGuard, PoisonError};

use rustix::event::EventfdFlags;
use rustix::io::Errno;
use rustix::process::Pid;

use super::kernel;

/// Threads that wait for calls, beside those that wait within one.
pub(super) const READY_THREADS: usize = 2;

/// More threads than this are ended when they have nothing to do.
const SPARE_THREADS: usize = 4;

/// All threads.
const MAX_THREADS: usize = 128;

/// How often it is tried to say that the list of waiting threads has changed.
const TELL_ATTEMPTS: u32 = 8;

/// The signal that interrupts a thread of the broker.
pub(super) const INTERRUPT: i32 = libc::SIGUSR1;

/// A thread of ours that waits within a call.
#[derive(Clone, Copy, Debug)]
pub(super) struct Waiting {
    /// Our thread.
    worker: Pid,
    /// The kernel's number for the held call.
    pub(super) id: u64,
    /// The thread that made it.
    pub(super) thread: Pid,
}

#[derive(Debug, Default)]
struct Counts {
    threads: usize,
    waiting: Vec<Waiting>,
}

/// The threads of a broker.
#[derive(Debug)]
pub(super) struct Pool {
    counts: Mutex<Counts>,
    /// Can be read when the list of waiting threads isn't empty any more.
    changed: OwnedFd,
}

/// Notes that the calling thread waits, until it is dropped.
pub(super) struct WaitGuard<'a> {
    pool: &'a Pool,
    worker: Pid,
}

impl Drop for WaitGuard<'_> {
    fn drop(&mut self) {
        self.pool.lock().waiting.retain(|waiting| waiting.worker != self.worker);
    }
}

impl Pool {
    pub(super) fn new() -> rustix::io::Result<Self> {
        let changed = rustix::event::eventfd(0, EventfdFlags::CLOEXEC | EventfdFlags::NONBLOCK)?;
        Ok(Self { counts: Mutex::default(), changed })
    }

    fn lock(&self) -> MutexGuard<'_, Counts> {
        self.counts.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// Counts a thread that is about to be started.
    pub(super) fn add_thread(&self) {
        self.lock().threads += 1;
    }

    pub(super) fn remove_thread(&self) {
        self.lock().threads -= 1;
    }

    /// Whether the calling thread has others enough to end. Then it is not counted any more.
    pub(super) fn retire(&self) -> bool {
        let mut counts = self.lock();
        let ready = counts.threads.saturating_sub(counts.waiting.len());
        let is_spare = ready > READY_THREADS + SPARE_THREADS;
        counts.threads -= usize::from(is_spare);
        is_spare
    }

    /// Notes that the calling thread may wait within the held call `id` of `thread`. `start` starts another thread.
    pub(super) fn wait(
        &self,
        id: u64,
        thread: Pid,
        start: impl FnOnce() -> Result<(), Errno>,
    ) -> Result<WaitGuard<'_>, Errno> {
        let worker = rustix::thread::gettid();
        let (needs_thread, is_first) = {
            let mut counts = self.lock();
            let ready = counts.threads.saturating_sub(counts.waiting.len() + 1);
            let needs_thread = ready < READY_THREADS;
            if needs_thread && counts.threads >= MAX_THREADS && ready == 0 {
                return Err(Errno::AGAIN);
            }
            counts.waiting.push(Waiting { worker, id, thread });
            (needs_thread && counts.threads < MAX_THREADS, counts.waiting.len() == 1)
        };
        let guard = WaitGuard { pool: self, worker };
        if needs_thread {
            start()?;
        }
        if is_first {
            self.tell_change();
        }
        Ok(guard)
    }

    /// Has the list looked at.
    fn tell_change(&self) {
        for _ in 0..TELL_ATTEMPTS {
            match rustix::io::write(&self.changed, &1_u64.to_ne_bytes()) {
                // A counter that is full can be read.
                Ok(_) | Err(Errno::AGAIN) => return,
                Err(_) => {}
            }
        }
    }

    /// Can be read after a thread began to wait.
    pub(super) fn changed(&self) -> BorrowedFd<'_> {
        self.changed.as_fd()
    }

    /// Forgets that [`changed`](Self::changed) can be read, and returns the threads that wait.
    pub(super) fn waiting(&self) -> Vec<Waiting> {
        let _ = rustix::io::read(&self.changed, &mut [0; 8]);
        self.lock().waiting.clone()
    }

    /// Interrupts a thread that waits, if it still does.
    pub(super) fn interrupt(&self, waiting: &Waiting) {
        // The lock keeps it from beginning another call meanwhile.
        let counts = self.lock();
        if counts.waiting.iter().any(|other| other.worker == waiting.worker && other.id == waiting.id) {
            kernel::signal_thread(rustix::process::getpid(), waiting.worker, INTERRUPT);
        }
    }
}
