//! The keeper: the small process that holds a session's executions.
//!
//! It has one thread and one event loop. It starts commands, moves their output into the spool files, reaps their
//! processes (it is a subreaper), runs their timeouts, and answers the front ends that are connected to its socket. When a
//! front end goes away, only its own foreground execution ends. The keeper exits when no front end is connected and no
//! process is left.
//!
//! | file | does |
//! |---|---|
//! | `socket` | creates and removes the session's socket |
//! | `events` | waits for everything at once, with `epoll` |
//! | `event_loop` | the loop |
//! | `connection` | talks to one front end |
//! | `requests` | handles the messages of front ends |
//! | `answers` | answers callers and stores the ends of executions |
//! | `watchers` | tells front ends about executions that they did not start |
//! | `run` | the data of one execution |
//! | `lifecycle` | decides what happens to an execution: pure, without system calls |
//! | `drive` | does what lifecycles decide |
//! | `confined` | the session's pod, and the launchers in it |
//! | `guard` | applies rules to every program that a command starts |
//! | `refusals` | what the sandbox refused to commands |
//! | `start` | starts executions whose turn has come |
//! | `reap` | reaps children that have ended |
//! | `stop` | signals the processes of an execution that is stopped |
//! | `tree` | which process belongs to which execution |
//! | `orphans` | finds the execution of a process that lost its parent |
//! | `limit_enforcer` | resource limits of an execution |
//! | `output` | reads the pipes, and tells followers about new output |
//! | `stream` | one output stream of one execution |
//! | `spares` | descriptors that are held for when no other is left |
//! | `stdin` | standard input of a confined command |
//! | `splice` | has the kernel move bytes from a pipe into a file |
//! | `terminal` | a pseudo-terminal, and the processes that have it open |
//! | `input` | bytes for a terminal |
//! | `prune` | removes old finished output |
//! | `standby` | the process that saves output when the keeper is killed |

mod answers;
mod confined;
mod connection;
mod drive;
mod ends_folder;
mod event_loop;
mod events;
mod guard;
mod input;
mod kept_watch;
mod lifecycle;
mod limit_enforcer;
mod memory;
mod orphans;
mod output;
mod prune;
mod reap;
mod refusals;
mod requests;
mod run;
mod socket;
mod spares;
mod splice;
mod standby;
mod start;
mod stdin;
mod stop;
mod stream;
mod terminal;
mod tree;
mod watchers;

use std::io;
use std::os::fd::OwnedFd;
use std::path::PathBuf;

pub(crate) use socket::Address;

/// What a keeper is started with.
#[derive(Debug)]
pub(crate) struct KeeperConfig {
    /// The place of its socket.
    pub(crate) address: Address,
    /// A connection to a front end that is open already.
    pub(crate) first: Option<OwnedFd>,
    /// Folder for output.
    pub(crate) spool: PathBuf,
    /// Folder for the ends of executions whose caller has gone.
    pub(crate) ends: PathBuf,
    /// How many bytes of finished output stay on disk.
    pub(crate) keep_bytes: u64,
}

/// How a keeper's work ended.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Served {
    /// It has served until it was not needed any more.
    ToTheEnd,
    /// Another keeper serves the session.
    Elsewhere,
}

/// Serves until no front end is connected and no process is left. Call it in a detached process with one thread.
///
/// It calls `ready` when front ends can connect to the socket.
pub(crate) fn serve(config: KeeperConfig, ready: impl FnOnce()) -> io::Result<Served> {
    event_loop::serve(config, ready)
}
