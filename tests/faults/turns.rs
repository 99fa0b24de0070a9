//! How many runs go on at once, and until when.

use std::path::Path;
use std::sync::{Condvar, Mutex, OnceLock};
use std::time::{Duration, Instant};

/// Runs at the same time, of all scenarios in this process. Most of the time they wait.
pub(super) const WORKERS: usize = 3;

static FREE: Mutex<usize> = Mutex::new(WORKERS);
static FREED: Condvar = Condvar::new();
static UNTIL: OnceLock<Option<Instant>> = OnceLock::new();

/// The right to run.
pub(super) struct Turn;

impl Turn {
    /// Waits for a turn. `None`: the time in `SHELLGATE_FAULTS_MINUTES` is over.
    ///
    /// No turn is given while the file `SHELLGATE_FAULTS_PAUSE` exists, so that a measurement isn't disturbed.
    pub(super) fn wait() -> Option<Self> {
        let pause = std::env::var_os("SHELLGATE_FAULTS_PAUSE");
        while pause.as_ref().is_some_and(|file| Path::new(file).exists()) {
            std::thread::sleep(Duration::from_millis(200));
        }
        let mut free = FREED.wait_while(FREE.lock().unwrap(), |free| *free == 0).unwrap();
        if until().is_some_and(|until| Instant::now() > until) {
            FREED.notify_one();
            return None;
        }
        *free -= 1;
        Some(Self)
    }
}

impl Drop for Turn {
    fn drop(&mut self) {
        *FREE.lock().unwrap() += 1;
        FREED.notify_one();
    }
}

fn until() -> Option<Instant> {
    *UNTIL.get_or_init(|| {
        let minutes: f64 = std::env::var("SHELLGATE_FAULTS_MINUTES").ok()?.parse().unwrap();
        Some(Instant::now() + Duration::from_secs_f64(minutes * 60.0))
    })
}
