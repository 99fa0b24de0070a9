//! Windows: `cmd.exe /c`.

pub(crate) mod shell;
