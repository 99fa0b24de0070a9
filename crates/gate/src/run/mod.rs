//! Runs an admitted request in the session's keeper.

pub(crate) mod execution;
pub(crate) mod hook;
pub(crate) mod start;
mod startup_files;

pub(crate) use start::environment_entry;
