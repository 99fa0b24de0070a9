//! Runs an admitted request in the session's keeper.

pub(crate) mod execution;
pub(crate) mod hook;
mod start;

pub(crate) use start::environment_entry;
