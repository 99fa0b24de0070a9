//! The keeper: the small process that holds a session's executions.
//!
//! It has one thread and one loop. It starts commands, drains their pipes into the spool, reaps whoever dies below it
//! (it is a subreaper), runs the clocks, and answers the front ends that are connected to its socket. It outlives
//! them: a front end that goes away takes its foreground execution with it and nothing else. It leaves when nobody is
//! connected and no process is left.
//!
//! | file | does |
//! |---|---|
//! | `socket` | takes and leaves the session's socket |
//! | `events` | waits for everything at once, with `epoll` |
//! | `event_loop` | the loop |
//! | `connection` | talks to one front end |
//! | `requests` | handles the messages of front ends |
//! | `answers` | answers callers and stores the ends of executions |
//! | `watchers` | tells front ends about executions that they did not start |
//! | `run` | the data of one execution |
//! | `lifecycle` | decides what happens to an execution: pure, without system calls |
//! | `drive` | does what lifecycles decide |
//! | `start` | starts executions whose turn has come |
//! | `reap` | reaps children that have ended |
//! | `stop` | signals the processes of an execution that is stopped |
//! | `tree` | which process belongs to which execution |
//! | `orphans` | finds the execution of a process that lost its parent |
//! | `limit_enforcer` | resource limits of an execution |
//! | `output` | reads the pipes, and tells followers about new output |
//! | `stream` | one output stream of one execution |
//! | `splice` | has the kernel move bytes from a pipe into a file |
//! | `terminal` | a pseudo-terminal, and the processes that have it open |
//! | `input` | bytes for a terminal |
//! | `prune` | removes old finished output |
//! | `standby` | the process that saves output when the keeper is killed |

mod answers;
mod connection;
mod drive;
mod event_loop;
mod events;
mod input;
mod lifecycle;
mod limit_enforcer;
mod orphans;
mod output;
mod prune;
mod reap;
mod requests;
mod run;
mod socket;
mod splice;
mod standby;
mod start;
mod stop;
mod stream;
mod terminal;
mod tree;
mod watchers;

use std::io;
use std::os::fd::OwnedFd;
use std::path::PathBuf;

pub(crate) use socket::Address;

/// What a keeper must know.
#[derive(Debug)]
pub(crate) struct KeeperConfig {
    /// Where its socket lies.
    pub(crate) address: Address,
    /// A front end that is connected already.
    pub(crate) first: Option<OwnedFd>,
    /// Where the spool is, and how much of it may stay.
    pub(crate) spool: PathBuf,
    /// Where ends are left that nobody hears.
    pub(crate) ends: PathBuf,
    /// How much finished output stays on disk.
    pub(crate) keep_bytes: u64,
}

/// Whether a keeper served.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Served {
    /// It did, until there was nothing left to hold.
    ToTheEnd,
    /// Another keeper has the session.
    Elsewhere,
}

/// Serves until there is nothing left to hold. Call it in a process that is detached and has no other thread.
///
/// `ready` is called once the socket takes callers.
pub(crate) fn serve(config: KeeperConfig, ready: impl FnOnce()) -> io::Result<Served> {
    event_loop::serve(config, ready)
}
