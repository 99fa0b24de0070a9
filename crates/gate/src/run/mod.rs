//! Running an admitted request: from its specification to an execution in the session's keeper.

pub(crate) mod execution;
pub(crate) mod hook;
mod start;

pub(crate) use start::environment_entry;
