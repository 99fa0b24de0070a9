//! Tests across crates, with the real binary, real processes and real shells. All files are one program, so that it is
//! linked once.

#![expect(
    clippy::unwrap_used,
    clippy::panic,
    clippy::indexing_slicing,
    clippy::string_slice,
    clippy::print_stdout,
    reason = "a test may"
)]

mod support;

mod agent_world;
mod background;
mod bad_input;
mod bug_report;
mod check;
mod cli;
mod conditions;
mod dialects;
mod docs;
mod ends;
mod faults;
mod guard;
mod hostile;
mod jobs;
mod judge;
mod library;
mod limits;
mod logging;
mod mcp;
mod on_need;
mod output;
mod output_in_memory;
mod programs;
mod prompt;
mod pty;
mod record;
mod results;
mod sandbox;
mod schema;
mod seeds;
mod settings;
mod setup;
