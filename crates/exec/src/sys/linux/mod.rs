//! Linux: `/proc`.

pub(crate) mod folder_mark;
pub(crate) mod processes;
pub(crate) mod reading;
