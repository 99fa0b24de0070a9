//! The kinds of calls that callers of the command line make.

mod faulty;
mod jobs;
mod looks;
pub(super) mod mcp;
mod plain;
mod questions;

use std::time::Duration;

use super::callers::{Call, Caller};
use super::judging::Verdict;
use super::processes;

/// Each kind with its name and how often it is chosen.
pub(super) const KINDS: &[(u64, (&str, Call))] = &[
    (26, ("run", plain::run)),
    (22, ("call", plain::call)),
    (6, ("refused", plain::refused)),
    (5, ("1 MB of output", plain::big)),
    (4, ("timeout", plain::timeout)),
    (4, ("terminal", plain::terminal)),
    (6, ("job, waited for", jobs::waited)),
    (4, ("job, handed over", jobs::handed_over)),
    (6, ("job, stopped", jobs::stopped)),
    (4, ("question", questions::question)),
    (6, ("history, jobs", looks::look)),
    (1, ("audit verify", looks::verify)),
    (6, ("call with a fault", faulty::call)),
];

/// The verdict of a call without a latency.
fn untimed(done: impl FnOnce() -> Result<Verdict, Verdict>) -> (Verdict, Option<Duration>) {
    (done().unwrap_or_else(|verdict| verdict), None)
}

/// Whether a process of a command with this word on its command line is alive. A keeper has the words of the front end that
/// started it.
fn is_alive(caller: &Caller<'_>, word: &str) -> bool {
    let is_it = |pid: &u32| {
        processes::words(*pid).iter().any(|own| own.contains(word))
            && !processes::runs(*pid, caller.soak.place.binary())
    };
    processes::pids().any(|pid| is_it(&pid))
}
