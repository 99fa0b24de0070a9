//! shellgate for agents that speak the Model Context Protocol, on standard input and output or over HTTP.
//!
//! [rmcp] implements the protocol itself, in both its generations; its types stay inside this crate. This crate adds the
//! gate: a call becomes a request (`calls`), a person who can answer is asked (`questions`), a report becomes text and
//! structured content (`answer`). The transports bound what a client can make the server do (`stdio`, `http`).
//!
//! One thread serves the protocol, and never blocks: the journal and the keepers are reached from worker threads
//! (`workers`). While a command runs, the server only waits on its socket.

mod active_calls;
mod answer;
mod async_descriptor;
mod call_completion;
mod call_log;
mod calls;
mod client;
mod execution_follower;
mod handler;
mod http;
mod instructions;
mod jobs;
mod keys;
mod limits;
mod message;
mod open_requests;
mod progress;
mod questions;
mod request_state;
mod resources;
mod session;
mod stdio;
mod tasks;
mod tools;
mod worker_threads;
mod workers;

pub use http::{Address, HttpError, Listening, serve_http};
pub use keys::KeysError;
pub use stdio::serve_stdio;

use shellgate::{Dialect, Gate};

/// What a server offers.
#[derive(Debug)]
pub struct Offer {
    /// The gate that commands pass.
    pub gate: Gate,
    /// The form of its tool's arguments and answers.
    pub dialect: &'static Dialect,
    /// Working directory of calls that name none, relative to the root.
    pub directory: Option<String>,
    /// Which tools it lists.
    pub tools: OfferedTools,
}

/// Which tools a server lists. It answers calls of the others all the same.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum OfferedTools {
    /// All tools, with the fields that models need often.
    #[default]
    Common,
    /// Only the tool that runs commands.
    Shell,
    /// All tools with all fields.
    Full,
}

impl OfferedTools {
    /// The names of the choices, in the order of the variants.
    pub const NAMES: [&'static str; 3] = ["common", "shell", "full"];

    /// The choice of this name.
    #[must_use]
    pub fn named(name: &str) -> Option<Self> {
        let all = [Self::Common, Self::Shell, Self::Full];
        Self::NAMES.iter().zip(all).find_map(|(known, tools)| (*known == name).then_some(tools))
    }
}

/// Tidies the record once the server is at work.
fn tidy_soon(gate: &'static Gate) {
    tokio::spawn(async move {
        tokio::time::sleep(limits::TIDY_DELAY).await;
        // An error is a panic while tidying: the next server tries again.
        let _ = workers::run(|| gate.tidy()).await;
    });
}

/// One thread for the protocol, and more for work that blocks.
fn runtime() -> std::io::Result<tokio::runtime::Runtime> {
    worker_threads::prepare()?;
    tokio::runtime::Builder::new_current_thread().enable_all().build()
}
