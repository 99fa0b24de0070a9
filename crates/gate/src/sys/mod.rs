//! Code that differs between operating systems, in files of the same names.

#[cfg(unix)]
mod unix;
#[cfg(unix)]
pub(crate) use unix::{home, shell};

#[cfg(windows)]
mod windows;
#[cfg(windows)]
pub(crate) use windows::shell;
