//! Reading a call: the JSON of a tool call, in any dialect, becomes a [`Request`](request::Request).

pub mod dialect;
pub mod request;
