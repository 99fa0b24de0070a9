//! What is answered: the report of an execution, with its artifacts and its errors in words.

pub(crate) mod artifacts;
pub(crate) mod limits;
pub(crate) mod report;
pub(crate) mod signal_names;
