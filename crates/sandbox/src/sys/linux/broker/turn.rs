//! Which thread of a broker receives held calls.
//!
//! The kernel wakes every thread that waits for a call, and all but one find nothing. So one thread waits in the kernel, and the
//! others wait here. That one keeps its turn while it only looks at something, and gives it away before it does what may take long.

use std::cell::Cell;
use std::sync::{Condvar, Mutex, PoisonError};

/// The turn of the threads of a broker.
#[derive(Debug, Default)]
pub(super) struct Turn {
    is_taken: Mutex<bool>,
    given: Condvar,
}

thread_local! {
    /// Whether the calling thread has the turn.
    static IS_OURS: Cell<bool> = const { Cell::new(false) };
}

impl Turn {
    /// Waits until the turn is the calling thread's.
    pub(super) fn take(&self) {
        if IS_OURS.get() {
            return;
        }
        let is_taken = self.is_taken.lock().unwrap_or_else(PoisonError::into_inner);
        let mut is_taken =
            self.given.wait_while(is_taken, |is_taken| *is_taken).unwrap_or_else(PoisonError::into_inner);
        *is_taken = true;
        IS_OURS.set(true);
    }

    /// Lets another thread receive, if the calling thread has the turn.
    pub(super) fn give(&self) {
        if IS_OURS.replace(false) {
            *self.is_taken.lock().unwrap_or_else(PoisonError::into_inner) = false;
            self.given.notify_one();
        }
    }
}

#[cfg(test)]
mod tests {
    use std::sync::Arc;
    use std::sync::mpsc::channel;

    use super::*;

    #[test]
    fn one_thread_has_the_turn_until_it_gives_it() {
        let turn = Arc::new(Turn::default());
        turn.take();
        turn.take();
        let (told, heard) = channel();
        let other = Arc::clone(&turn);
        let thread = std::thread::spawn(move || {
            // Not ours: that does nothing.
            other.give();
            told.send("waits").unwrap();
            other.take();
            told.send("has it").unwrap();
            other.give();
        });
        assert_eq!(heard.recv(), Ok("waits"));
        assert!(heard.try_recv().is_err() && *turn.is_taken.lock().unwrap());
        turn.give();
        assert_eq!(heard.recv(), Ok("has it"));
        thread.join().unwrap();
        turn.take();
    }
}
