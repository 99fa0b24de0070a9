//! Reading what was asked: the JSON of a tool call in some dialect becomes one [`Request`](request::Request).

pub mod dialect;
pub mod request;
