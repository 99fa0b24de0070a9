//! The MCP server, spoken to letter by letter: what SDKs would not let a test send. The SDKs themselves are in `tests/sdk`.

#![expect(clippy::unwrap_used, clippy::panic, clippy::indexing_slicing, reason = "a test may")]

mod support;

#[path = "mcp/always.rs"]
mod always;
#[path = "mcp/asking.rs"]
mod asking;
#[path = "mcp/bad_client.rs"]
mod bad_client;
#[path = "mcp/blocked.rs"]
mod blocked;
#[path = "mcp/calls.rs"]
mod calls;
#[path = "mcp/http.rs"]
mod http;
#[path = "mcp/shutdown.rs"]
mod shutdown;
#[path = "mcp/site.rs"]
mod site;
#[path = "mcp/taken_back.rs"]
mod taken_back;
#[path = "mcp/talk.rs"]
mod talk;
#[path = "mcp/task_client.rs"]
mod task_client;
#[path = "mcp/task_questions.rs"]
mod task_questions;
#[path = "mcp/tasks.rs"]
mod tasks;
#[path = "mcp/told.rs"]
mod told;
