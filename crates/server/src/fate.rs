//! Whether a call is answered or taken back: one of the two, decided once, by the transport.
//!
//! A call may leave something that only its answer tells of: a job, or a question that waits. rmcp drops the answer to a
//! call that is taken back, also in the moment between its handler's end and its turn to be sent. So a handler can't know
//! whether its client will hear of a job, and leaves here what to do if not.

use std::fmt;
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};

use tokio::runtime::Handle;
use tokio_util::sync::CancellationToken;

/// What becomes of one call's answer, as the transport and the handler both see it.
#[derive(Clone, Debug, Default)]
pub(crate) struct Fate(Arc<Mutex<State>>);

#[derive(Debug)]
enum State {
    Open(Vec<Undo>),
    Answered,
    TakenBack,
}

/// Something to do when a call is taken back.
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

impl Fate {
    /// The answer goes out: what was left stays. `false`: the call was taken back before, so it must not.
    pub(crate) fn answer(&self) -> bool {
        let mut state = self.state();
        if matches!(*state, State::TakenBack) {
            return false;
        }
        *state = State::Answered;
        true
    }

    /// The client doesn't want the answer any more. `false`: it has gone out.
    pub(crate) fn take_back(&self) -> bool {
        let mut state = self.state();
        let State::Open(left) = &mut *state else { return matches!(*state, State::TakenBack) };
        let left = std::mem::take(left);
        *state = State::TakenBack;
        drop(state);
        left.into_iter().for_each(|Undo(undo)| undo());
        true
    }

    /// Whether somebody else holds it too: its call goes on, or its answer is on the way.
    pub(crate) fn is_shared(&self) -> bool {
        Arc::strong_count(&self.0) > 1
    }

    /// Cancels `call` when it is taken back.
    pub(crate) fn cancels(&self, call: CancellationToken) {
        self.or_else(move || call.cancel());
    }

    /// Runs `undo` when the call is taken back before its answer has gone out.
    pub(crate) fn unless_answered(&self, undo: impl Future<Output = ()> + Send + 'static) {
        // Whoever takes it back may be on a thread that serves nobody any more.
        let runtime = Handle::current();
        self.or_else(move || drop(runtime.spawn(undo)));
    }

    fn or_else(&self, undo: impl FnOnce() + Send + 'static) {
        let mut state = self.state();
        match &mut *state {
            State::Open(left) => left.push(Undo(Box::new(undo))),
            State::Answered => {}
            State::TakenBack => {
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
    fn whatever_comes_first_decides() {
        let (answered, taken_back) = (Fate::default(), Fate::default());
        let calls = [(); 4].map(|()| CancellationToken::new());
        let [of_answered, late, of_taken_back, later] = &calls;
        answered.cancels(of_answered.clone());
        taken_back.cancels(of_taken_back.clone());
        assert!(answered.answer());
        assert!(!answered.take_back());
        assert!(taken_back.take_back());
        assert!(!taken_back.answer());
        answered.cancels(late.clone());
        taken_back.cancels(later.clone());
        assert_eq!(calls.map(|call| call.is_cancelled()), [false, false, true, true]);
    }
}
