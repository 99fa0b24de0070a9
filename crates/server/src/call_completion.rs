//! How a call ends: its answer is sent, or its client cancels it. The transport decides which, once.
//!
//! A call may leave something behind that only its answer names: a job, or a waiting question. rmcp drops the answer of a
//! canceled call, even when the handler has already returned it. So a handler can't know whether the client will learn of
//! the job. It registers here what to undo if the client doesn't.

use std::fmt;
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};

use tokio::runtime::Handle;
use tokio_util::sync::CancellationToken;
use tracing::debug;

/// How one call ends, shared by the transport and the handler.
#[derive(Clone, Debug, Default)]
pub(crate) struct CallCompletion(Arc<Mutex<State>>);

#[derive(Debug)]
enum State {
    Open(Vec<Undo>),
    Answered,
    Canceled,
}

/// An action to take when the call is canceled.
struct Undo(Box<dyn FnOnce() + Send>);

impl Default for State {
    fn default() -> Self {
        Self::Open(Vec::new())
    }
}

impl fmt::Debug for Undo {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("Undo")
    }
}

impl CallCompletion {
    /// The transport sends the answer now. `false`: the call was canceled before, so the answer must not be sent.
    pub(crate) fn mark_answered(&self) -> bool {
        let mut state = self.state();
        if matches!(*state, State::Canceled) {
            return false;
        }
        *state = State::Answered;
        true
    }

    /// The client cancels the call: all registered actions run. `false`: the answer was sent before.
    pub(crate) fn cancel(&self) -> bool {
        let mut state = self.state();
        let State::Open(undos) = &mut *state else { return matches!(*state, State::Canceled) };
        let undos = std::mem::take(undos);
        debug!(undos = undos.len(), "call canceled");
        *state = State::Canceled;
        drop(state);
        undos.into_iter().for_each(|Undo(undo)| undo());
        true
    }

    /// Whether the client has canceled the call.
    pub(crate) fn is_canceled(&self) -> bool {
        matches!(*self.state(), State::Canceled)
    }

    /// Whether the handler or the answer's body still holds it: the call is under way.
    pub(crate) fn is_under_way(&self) -> bool {
        Arc::strong_count(&self.0) > 1
    }

    /// Cancels `token` when the call is canceled.
    pub(crate) fn cancel_token(&self, token: CancellationToken) {
        self.register(move || token.cancel());
    }

    /// Runs `undo` when the call is canceled before its answer was sent.
    pub(crate) fn on_cancel(&self, undo: impl Future<Output = ()> + Send + 'static) {
        // The thread that cancels may not belong to the runtime.
        let runtime = Handle::current();
        self.register(move || drop(runtime.spawn(undo)));
    }

    fn register(&self, undo: impl FnOnce() + Send + 'static) {
        let mut state = self.state();
        match &mut *state {
            State::Open(undos) => undos.push(Undo(Box::new(undo))),
            State::Answered => {}
            State::Canceled => {
                drop(state);
                undo();
            }
        }
    }

    fn state(&self) -> MutexGuard<'_, State> {
        self.0.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_first_of_answer_and_cancellation_decides() {
        let (answered, canceled) = (CallCompletion::default(), CallCompletion::default());
        let tokens = [(); 4].map(|()| CancellationToken::new());
        let [of_answered, late_of_answered, of_canceled, late_of_canceled] = &tokens;
        answered.cancel_token(of_answered.clone());
        canceled.cancel_token(of_canceled.clone());
        assert!(answered.mark_answered());
        assert!(!answered.cancel());
        assert!(canceled.cancel());
        assert!(!canceled.mark_answered());
        answered.cancel_token(late_of_answered.clone());
        canceled.cancel_token(late_of_canceled.clone());
        assert_eq!(tokens.map(|token| token.is_cancelled()), [false, false, true, true]);
    }
}
