//! Linux: `/proc`.

pub(crate) mod processes;
