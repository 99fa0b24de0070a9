//! The keeper: the small process that holds a session's executions.
//!
//! It has one thread and one loop. It starts commands, drains their pipes into the spool, reaps whoever dies below it
//! (it is a subreaper), runs the clocks, and answers the front ends that are connected to its socket. It outlives
//! them: a front end that goes away takes its foreground execution with it and nothing else. It leaves when nobody is
//! connected and no process is left.
//!
//! | file | does |
//! |---|---|
//! | `limits` | what an execution may use |
//! | `place` | takes and leaves the session's socket |
//! | `events` | waits for everything at once |
//! | `connection` | talks to one front end |
//! | `serve` | the loop |
//! | `obeying` | what front ends ask for |
//! | `answering` | what they are told, and the end |
//! | `life` | an execution from its turn to its answer |
//! | `pump` | output, out of the pipes |
//! | `terminal` | a pseudo-terminal, and who sits at it |
//! | `input` | what is typed |
//! | `stopping` | ending an execution before its time |
//! | `heir` | what is left when the keeper is killed |
//! | `orphans` | whose is a process that lost its parent |
//! | `pruning` | finished output that goes |
//! | `run` | the data of one execution |
//! | `watching` | what others than its caller learn of an execution |
//! | `stream` | one output stream |
//! | `tree` | which process belongs to which execution |

mod answering;
mod connection;
mod events;
mod heir;
mod input;
mod life;
mod limits;
mod moving;
mod obeying;
mod orphans;
mod place;
mod pruning;
mod pump;
mod run;
mod serve;
mod stopping;
mod stream;
mod terminal;
mod tree;
mod watching;

use std::io;
use std::os::fd::OwnedFd;
use std::path::PathBuf;

pub(crate) use place::Address;

/// What a keeper must know.
#[derive(Debug)]
pub(crate) struct Duty {
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
pub(crate) fn serve(duty: Duty, ready: impl FnOnce()) -> io::Result<Served> {
    serve::serve(duty, ready)
}
