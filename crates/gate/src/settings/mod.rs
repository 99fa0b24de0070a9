//! Settings: what is allowed, who is asked, how commands are confined and limited.

mod duration;
mod origin;
mod prefix;
mod words;

pub use self::{
    duration::{DurationError, LONGEST_MS, parse_duration},
    origin::{Origin, Place, Sourced},
    prefix::{Prefix, PrefixError, TOOL_NAMES},
    words::{
        ApprovalMode, Asker, Decision, Inherit, Network, OnMissing, Redirects, SandboxMode, Substitution, UnknownWord,
        Word,
    },
};
