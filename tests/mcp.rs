//! The MCP server with hand-written messages, including those that no SDK can send. Tests with the SDKs are in `tests/sdk`.

mod always;
mod asking;
mod bad_client;
mod blocked;
mod calls;
mod condensed;
mod forms;
mod http;
mod http_limits;
mod isolation;
mod lost_keeper;
mod plain;
mod shutdown;
pub(crate) mod site;
mod taken_back;
pub(crate) mod talk;
mod task_client;
mod task_questions;
mod tasks;
mod told;
