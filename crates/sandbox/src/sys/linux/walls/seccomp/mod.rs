//! Seccomp: which system calls a command can make at all.
//!
//! The table is data: a row names calls, conditions on their arguments, what happens, and why ([`Rule`]). [`rules`]
//! gives the rows that always hold, and those of the [`Group`]s that are switched on. [`Program::compile`] makes a
//! tree-shaped filter of them, [`load()`] hands it to the kernel.
//!
//! Calls of another architecture (`int 0x80`, 32-bit ARM) kill the process with `SIGSYS`: their numbers mean something
//! else, and an error would be hard to tell from a broken program. Numbers of the x32 ABI, and numbers that no kernel had
//! when the table was written, are answered with `ENOSYS`.
//!
//! Allowed on purpose: `landlock_*` and `seccomp` without a listener (they only take away), `memfd_secret`, `vmsplice`,
//! `pidfd_open` and `pidfd_send_signal` (a signal goes where `kill` may).
//!
//! A nested filter of a command may return `SECCOMP_RET_TRACE` for any call, with data of its own choice. A tracer must
//! therefore look at the call itself, never at the data, and let other calls than `exec` go on.

mod assemble;
mod calls;
mod compile;
mod groups;
mod load;
mod rules;
mod sockets;
mod table;
#[cfg(test)]
mod tests;

pub use calls::{Arch, Call};
pub use compile::{CompileError, Program};
pub use groups::{Group, rules};
pub use load::{Interruption, Listener, LoadError, Loaded, load};
pub use rules::{Action, Argument, Bits, Condition, RefusalErrno, Rule, Test};
