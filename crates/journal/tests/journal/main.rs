//! Tests of the journal through its public API, and of attacks on its file.
#![expect(clippy::unwrap_used, clippy::indexing_slicing, clippy::panic, reason = "a test may")]

mod approvals;
mod crash;
mod export;
mod failures;
mod forgetting;
mod history;
mod lazily;
mod life;
mod log;
mod losses;
mod processes;
mod property;
mod pruning;
mod readers;
mod recomputed;
mod support;
mod tamper;
