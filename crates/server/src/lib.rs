//! shellgate for agents that speak the Model Context Protocol, on standard input and output or over HTTP.
//!
//! The protocol itself, in both its generations, is [rmcp]'s: nothing outside this crate sees its types. Here is what the
//! gate adds: a call becomes a request (`calls`), a question goes to whoever can answer it (`asking`), a report becomes
//! text and structured content (`answer`). The transports bound what a client can do to us (`stdio`, `http`).
//!
//! Everything runs on one thread: the gate's work on a call is done in well under a millisecond, and while a command runs,
//! only its socket is waited for.

mod answer;
mod asking;
mod calls;
mod client;
mod fate;
mod following;
mod handler;
mod http;
mod instructions;
mod jobs;
mod limits;
mod message;
mod progress;
mod resources;
mod session;
mod state;
mod stdio;
mod tasks;
mod token;
mod tools;
mod waiter;

pub use http::{Address, HttpError, Listening, serve_http};
pub use stdio::serve_stdio;
pub use token::KeysError;

use shellgate::{Dialect, Gate};

/// What a server offers.
#[derive(Debug)]
pub struct Offer {
    /// What commands pass.
    pub gate: Gate,
    /// The form of its tool's arguments and answers.
    pub dialect: &'static Dialect,
    /// Where commands run that name no directory, relative to the root.
    pub directory: Option<String>,
    /// How a question is shown to a person: lines in which foreign text can't be taken for ours.
    pub shown: fn(&shellgate::approval::Question<'_>) -> String,
}

/// Tidies the record once the server is at work.
fn tidy_soon(gate: &'static Gate) {
    tokio::spawn(async move {
        tokio::time::sleep(limits::TIDY).await;
        let _ = tokio::task::spawn_blocking(|| gate.tidy()).await;
    });
}

/// One thread for the protocol, and a few more for those who wait for jobs or look into the record.
fn runtime() -> std::io::Result<tokio::runtime::Runtime> {
    let mut runtime = tokio::runtime::Builder::new_current_thread();
    runtime.enable_all().max_blocking_threads(limits::MOST_WAITS).build()
}
