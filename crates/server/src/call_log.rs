//! The beginning and end of a tool call, in the log.

use std::sync::OnceLock;
use std::sync::atomic::{AtomicU64, Ordering};

use tokio::time::Instant;
use tracing::debug;

/// Logs the beginning of a call when it is made and the end when it is dropped, also that of a call whose handler is dropped.
#[derive(Debug)]
pub(crate) struct CallLog {
    number: u64,
    begun: Instant,
    /// The id of its execution, once that is known.
    id: OnceLock<String>,
}

impl CallLog {
    /// `tool` is one of ours: a name that a client made up is not logged.
    pub(crate) fn begin(tool: &str) -> Self {
        static LAST: AtomicU64 = AtomicU64::new(0);
        let number = LAST.fetch_add(1, Ordering::Relaxed) + 1;
        debug!(call = number, tool, "call begins");
        Self { number, begun: Instant::now(), id: OnceLock::new() }
    }

    /// Logs which execution the call is about. Only the first time counts.
    pub(crate) fn is_about(&self, id: &str) {
        if self.id.set(id.to_owned()).is_ok() {
            debug!(call = self.number, id, "call is about an execution");
        }
    }
}

impl Drop for CallLog {
    fn drop(&mut self) {
        let duration_ms = self.begun.elapsed().as_millis();
        match self.id.get() {
            Some(id) => debug!(call = self.number, id, duration_ms, "call ends"),
            None => debug!(call = self.number, duration_ms, "call ends"),
        }
    }
}
