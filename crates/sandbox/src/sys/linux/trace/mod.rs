//! Tracing commands: the kernel stops them at every program that they start, and we say whether it may run.
//!
//! ```text
//!  keeper ──Plan, socket──▶ launcher ──clone──▶ command, held before its exec
//!    │◀── a byte with the command's process id ────┘ (SCM_CREDENTIALS)
//!    │─── PTRACE_SEIZE, then a byte ───────────────▶ goes on
//!    │◀── stop before the call (seccomp) ──────────── execve: can be answered with EACCES
//!    │◀── stop after it ([`StopKind::Program`]) ────── the program is loaded, none of its instructions has run
//! ```
//!
//! The stop before the call is polite and can be fooled: another thread may change the path behind our back. The stop
//! after the call can't: `/proc/PID/exe` is the file that was loaded. New threads and processes are traced from their
//! first instruction on, and all die with the tracer (`PTRACE_O_EXITKILL`).
//!
//! A stop that isn't answered holds its process for ever: the tracer answers each with [`Stop::resume`], [`Stop::stay`] or
//! [`Stop::kill`]. A thread that traces must not wait for anything else: every process that it traces would wait too.

mod exec_call;
mod kernel;
mod registers;
mod start;
mod wait;

pub use exec_call::ExecCall;
pub use start::Tracer;
pub(super) use start::{follow_to_program, receive_held, release, seize, socket_pair};
pub use wait::{Change, Stop, StopKind, next_change};

use std::io;

use rustix::process::Pid;

use super::fork::run_in_child;

/// Whether this process may trace its children, tried on one. It must have one thread.
///
/// # Errors
/// When the kernel forbids it: Yama's `ptrace_scope` is 3, or a container's filter refuses `ptrace`.
pub fn probe() -> io::Result<()> {
    let tried = run_in_child(kernel::try_on_child)?;
    match tried {
        Some(0) => Ok(()),
        Some(errno) => Err(io::Error::from_raw_os_error(errno)),
        None => Err(io::Error::other("the try was ended by a signal")),
    }
}

/// The process that `pid` names for a system call.
fn raw(pid: Pid) -> libc::pid_t {
    pid.as_raw_nonzero().get()
}
