//! Blocking work, off the thread that serves the protocol.
//!
//! Starting a keeper takes milliseconds, and another process may hold the journal's lock for seconds. Meanwhile the server
//! answers everything else. The calls of one session begin one after the other, in the order in which they arrived. Those
//! of other sessions don't wait for them.

use std::collections::HashMap;
use std::panic::{AssertUnwindSafe, catch_unwind};
use std::sync::{Arc, Mutex, PoisonError, Weak};

use tokio::sync::{OwnedMutexGuard, Semaphore, oneshot};
use tokio_util::task::TaskTracker;

use crate::limits::MAX_JOB_WAITS;
use crate::worker_threads;

/// The work panicked.
#[derive(Clone, Copy, Debug, thiserror::Error)]
#[error("its work failed")]
pub(crate) struct WorkFailed;

/// A lock that serves its waiters in order.
type Turn = tokio::sync::Mutex<()>;

/// Runs blocking work in order. Cheap to clone.
#[derive(Clone, Debug)]
pub(crate) struct Workers(Arc<Inner>);

#[derive(Debug)]
struct Inner {
    /// The sessions that a call begins in. `None` is the gate's own.
    sessions: Mutex<HashMap<Option<String>, Weak<Turn>>>,
    /// Held while an end is recorded: the journal has one writer at a time anyway.
    recording: Turn,
    /// The tasks that record ends.
    recordings: TaskTracker,
    /// One permit for each call that waits for a job.
    job_waits: Semaphore,
}

/// The right to begin a call in a session. Dropping it lets the next call begin.
pub(crate) type SessionTurn = OwnedMutexGuard<()>;

impl Default for Workers {
    fn default() -> Self {
        Self(Arc::new(Inner {
            sessions: Mutex::default(),
            recording: Turn::default(),
            recordings: TaskTracker::new(),
            job_waits: Semaphore::new(MAX_JOB_WAITS),
        }))
    }
}

impl Workers {
    /// Waits until all earlier calls of the session have begun.
    pub(crate) async fn turn(&self, session: Option<&str>) -> SessionTurn {
        let turn = {
            let mut sessions = self.0.sessions.lock().unwrap_or_else(PoisonError::into_inner);
            sessions.retain(|_, turn| turn.strong_count() > 0);
            let turn = sessions.entry(session.map(str::to_owned)).or_default();
            turn.upgrade().unwrap_or_else(|| {
                let new = Arc::new(Turn::default());
                *turn = Arc::downgrade(&new);
                new
            })
        };
        turn.lock_owned().await
    }

    /// Starts a task that records an end.
    pub(crate) fn spawn_recording(&self, recording: impl Future<Output = ()> + Send + 'static) {
        self.0.recordings.spawn(recording);
    }

    /// Waits until every end is recorded.
    pub(crate) async fn recordings_end(&self) {
        self.0.recordings.close();
        self.0.recordings.wait().await;
    }

    /// Records something after what was recorded before.
    pub(crate) async fn record(&self, work: impl FnOnce() + Send + 'static) {
        let _turn = self.0.recording.lock().await;
        // An error is a panic in `work`. The keeper still has the end, and the next process records it.
        let _ = run(work).await;
    }

    /// Records something here and now, if nothing else is being recorded. Returns whether it did.
    pub(crate) fn record_here(&self, work: impl FnOnce()) -> bool {
        let Ok(_turn) = self.0.recording.try_lock() else { return false };
        // An error is a panic, as in `record`.
        let _ = run_here(work);
        true
    }

    /// Runs work that waits for a job, perhaps for long. Too many of them would take the threads that calls need to begin,
    /// so some wait for a free place first.
    pub(crate) async fn run_wait<T: Send + 'static>(
        &self,
        work: impl FnOnce() -> T + Send + 'static,
    ) -> Result<T, WorkFailed> {
        // Never closed, so there is always a permit in the end.
        let _permit = self.0.job_waits.acquire().await;
        run(work).await
    }
}

/// Runs work that blocks for a moment.
///
/// # Errors
/// When it panics.
pub(crate) async fn run<T: Send + 'static>(
    work: impl FnOnce() -> T + Send + 'static,
) -> Result<T, WorkFailed> {
    let (done, result) = oneshot::channel();
    worker_threads::submit(move || {
        // The caller may have stopped waiting.
        let _ = done.send(work());
    });
    result.await.map_err(|_| WorkFailed)
}

/// Runs work that blocks for less than the way to a thread would take.
///
/// # Errors
/// When it panics.
pub(crate) fn run_here<T>(work: impl FnOnce() -> T) -> Result<T, WorkFailed> {
    catch_unwind(AssertUnwindSafe(work)).map_err(|_| WorkFailed)
}

#[cfg(test)]
mod tests {
    use std::future::Future as _;
    use std::pin::pin;
    use std::task::{Context, Waker};

    use super::*;

    #[test]
    fn calls_of_a_session_begin_in_order_and_other_sessions_do_not_wait() {
        let workers = Workers::default();
        let mut context = Context::from_waker(Waker::noop());
        let (mut first, mut second, mut third) =
            (pin!(workers.turn(None)), pin!(workers.turn(None)), pin!(workers.turn(None)));
        let first = match first.as_mut().poll(&mut context) {
            std::task::Poll::Ready(turn) => turn,
            std::task::Poll::Pending => panic!("the first call waits"),
        };
        assert!(second.as_mut().poll(&mut context).is_pending());
        assert!(third.as_mut().poll(&mut context).is_pending());
        let mut other = pin!(workers.turn(Some("other")));
        assert!(other.as_mut().poll(&mut context).is_ready());
        drop(first);
        assert!(third.as_mut().poll(&mut context).is_pending(), "the second call is next");
        assert!(second.as_mut().poll(&mut context).is_ready());
    }

    #[test]
    fn a_session_without_calls_is_forgotten() {
        let workers = Workers::default();
        for session in ["a", "b", "c"] {
            let mut turn = pin!(workers.turn(Some(session)));
            assert!(turn.as_mut().poll(&mut Context::from_waker(Waker::noop())).is_ready());
        }
        let sessions = workers.0.sessions.lock().unwrap();
        assert_eq!(sessions.len(), 1, "the last one is removed by the next call");
    }
}
