//! Threads for work that blocks.
//!
//! These are our own because the runtime panics when it can't start a thread, and then a call would never be answered. Here
//! work waits for the threads that there are. One thread stays for good, so there is always one.
//!
//! The runtime also panics in a thread that can't wake it, and then sleeps until something else happens. So after a panic it is
//! woken once more: what the work had to say is with it by then.

use std::collections::VecDeque;
use std::io;
use std::panic::{AssertUnwindSafe, catch_unwind};
use std::sync::{Condvar, Mutex, MutexGuard, PoisonError};
use std::time::Duration;

use tokio::runtime::Handle;
use tracing::{error, warn};

use crate::limits::MAX_BLOCKING_THREADS;

/// After this long without work a thread ends, except the last one.
const IDLE_TIMEOUT: Duration = Duration::from_secs(10);

/// How often a thread tries to wake the runtime.
const WAKE_ATTEMPTS: u32 = 100;

/// Time between these attempts.
const WAKE_INTERVAL: Duration = Duration::from_millis(10);

type Work = Box<dyn FnOnce() + Send>;

/// The threads of this process.
static THREADS: WorkerThreads = WorkerThreads { state: Mutex::new(State::new()), added: Condvar::new() };

struct WorkerThreads {
    state: Mutex<State>,
    /// Notified when work was added.
    added: Condvar,
}

struct State {
    waiting: VecDeque<Work>,
    threads: usize,
    idle: usize,
}

impl State {
    const fn new() -> Self {
        Self { waiting: VecDeque::new(), threads: 0, idle: 0 }
    }
}

/// Starts the thread that stays.
///
/// # Errors
/// When the system has no thread for us.
pub(crate) fn prepare() -> io::Result<()> {
    let mut state = THREADS.lock();
    if state.threads == 0 { THREADS.start_thread(&mut state) } else { Ok(()) }
}

/// Has a thread do this. Without any thread it is done here and now.
pub(crate) fn submit(work: impl FnOnce() + Send + 'static) {
    let runtime = Handle::try_current().ok();
    let work = move || {
        // The one who waits for the work notices that it is gone.
        if catch_unwind(AssertUnwindSafe(work)).is_err() {
            error!("work on a thread of its own panicked");
            runtime.iter().for_each(wake);
        }
    };
    let mut state = THREADS.lock();
    state.waiting.push_back(Box::new(work));
    if state.waiting.len() > state.idle
        && state.threads < MAX_BLOCKING_THREADS
        && let Err(error) = THREADS.start_thread(&mut state)
    {
        warn!(%error, threads = state.threads, "no further thread can be started");
    }
    THREADS.added.notify_one();
    if state.threads == 0
        && let Some(work) = state.waiting.pop_back()
    {
        drop(state);
        work();
    }
}

/// Wakes a runtime that may sleep although it has something to do.
fn wake(runtime: &Handle) {
    for _ in 0..WAKE_ATTEMPTS {
        // A new task wakes it, or the attempt panics as the first one did.
        if catch_unwind(AssertUnwindSafe(|| drop(runtime.spawn(async {})))).is_ok() {
            return;
        }
        std::thread::sleep(WAKE_INTERVAL);
    }
    // Clients that see our end know more than clients that wait for ever.
    error!("the runtime can't be woken");
    std::process::abort();
}

impl WorkerThreads {
    fn lock(&self) -> MutexGuard<'_, State> {
        self.state.lock().unwrap_or_else(PoisonError::into_inner)
    }

    fn start_thread(&'static self, state: &mut State) -> io::Result<()> {
        let thread = std::thread::Builder::new().name("shellgate-work".to_owned());
        thread.spawn(|| self.work())?;
        state.threads += 1;
        Ok(())
    }

    fn work(&self) {
        let mut state = self.lock();
        loop {
            if let Some(work) = state.waiting.pop_front() {
                drop(state);
                work();
                state = self.lock();
                continue;
            }
            state.idle += 1;
            let (woken, waited) =
                self.added.wait_timeout(state, IDLE_TIMEOUT).unwrap_or_else(PoisonError::into_inner);
            state = woken;
            state.idle -= 1;
            if waited.timed_out() && state.waiting.is_empty() && state.threads > 1 {
                state.threads -= 1;
                return;
            }
        }
    }
}

#[cfg(test)]
mod tests {
    use std::sync::mpsc::channel;

    use super::*;

    #[test]
    fn work_that_blocks_does_not_hold_up_other_work_and_a_panic_ends_no_thread() {
        let (done, results) = channel();
        let (release, held) = channel::<()>();
        submit(move || held.recv().unwrap());
        submit(|| panic!("on purpose"));
        for number in 0..20 {
            let done = done.clone();
            submit(move || done.send(number).unwrap());
        }
        let mut numbers: Vec<i32> =
            (0..20).map(|_| results.recv_timeout(Duration::from_secs(60)).unwrap()).collect();
        numbers.sort_unstable();
        assert_eq!(numbers, (0..20).collect::<Vec<_>>());
        release.send(()).unwrap();
    }
}
