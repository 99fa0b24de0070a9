//! Linux: `/proc`.

pub(crate) mod processes;
pub(crate) mod reading;
