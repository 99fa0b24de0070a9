//! Linux and macOS: `bash -c`.

pub(crate) mod home;
pub(crate) mod shell;
