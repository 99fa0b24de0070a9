//! Linux and macOS: `bash -c`.

pub(crate) mod shell;
