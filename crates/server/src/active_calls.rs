//! The calls under way, and the undoing of canceled ones.
//!
//! A server that ends must not leave the command of a canceled call running: the call may be starting it just now, or be
//! about to stop it.

use std::collections::HashMap;
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};
use std::time::Duration;

use crate::call_completion::CallCompletion;

/// How often the end of canceled calls is checked while the server ends.
const POLL_INTERVAL: Duration = Duration::from_millis(2);

/// The calls under way. Cheap to clone.
#[derive(Clone, Debug, Default)]
pub(crate) struct ActiveCalls(Arc<Mutex<State>>);

#[derive(Debug, Default)]
struct State {
    last: u64,
    /// `None`: the undoing of a canceled call.
    calls: HashMap<u64, Option<CallCompletion>>,
}

/// A call under way, or the undoing of one. Dropping it says that it is over.
#[derive(Debug)]
pub(crate) struct ActiveCall {
    calls: ActiveCalls,
    number: u64,
}

impl ActiveCalls {
    /// A call begins.
    pub(crate) fn begin(&self, completion: CallCompletion) -> ActiveCall {
        self.insert(Some(completion))
    }

    /// The undoing of a canceled call begins.
    pub(crate) fn begin_undo(&self) -> ActiveCall {
        self.insert(None)
    }

    /// Whether no other call is under way.
    pub(crate) fn has_only_one(&self) -> bool {
        self.state().calls.len() <= 1
    }

    fn insert(&self, completion: Option<CallCompletion>) -> ActiveCall {
        let mut state = self.state();
        state.last += 1;
        let number = state.last;
        state.calls.insert(number, completion);
        ActiveCall { calls: self.clone(), number }
    }

    /// Waits until no canceled call is under way.
    pub(crate) async fn canceled_calls_end(&self) {
        // A call that was canceled just now has spawned its undoing: let that begin.
        tokio::task::yield_now().await;
        while self.has_canceled_calls() {
            tokio::time::sleep(POLL_INTERVAL).await;
        }
    }

    fn has_canceled_calls(&self) -> bool {
        self.state().calls.values().any(|call| call.as_ref().is_none_or(CallCompletion::is_canceled))
    }

    fn state(&self) -> MutexGuard<'_, State> {
        self.0.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

impl Drop for ActiveCall {
    fn drop(&mut self) {
        self.calls.state().calls.remove(&self.number);
    }
}
