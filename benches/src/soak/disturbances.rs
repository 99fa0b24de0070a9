//! When processes were disturbed, so that latencies of undisturbed calls can be told apart.

use std::sync::Mutex;
use std::time::Instant;

use super::lock;

pub(super) struct Disturbances(Mutex<State>);

struct State {
    active: usize,
    last_end: Instant,
}

/// A disturbance that goes on until this is dropped.
pub(super) struct Disturbance<'a>(&'a Disturbances);

impl Disturbances {
    pub(super) fn new() -> Self {
        Self(Mutex::new(State { active: 0, last_end: Instant::now() }))
    }

    pub(super) fn begin(&self) -> Disturbance<'_> {
        lock(&self.0).active += 1;
        Disturbance(self)
    }

    /// Whether there was a disturbance at any moment since `start`.
    pub(super) fn any_since(&self, start: Instant) -> bool {
        let state = lock(&self.0);
        state.active > 0 || state.last_end >= start
    }
}

impl Drop for Disturbance<'_> {
    fn drop(&mut self) {
        let mut state = lock(&self.0.0);
        state.active -= 1;
        state.last_end = Instant::now();
    }
}
