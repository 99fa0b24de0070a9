//! Running commands: `Spec` in, `RunHandle` out.
//!
//! # Theory of operation
//!
//! A [`Session`] has one **keeper**: a small process with one thread that starts commands, drains what they print into
//! files, reaps, counts time and answers. Front ends (a command line, a server, a program with our library in it) only
//! talk to it, over a socket in the [`StateFolder`]. So a server never forks, which would cost it eight times the price
//! of a spawn; a front end that is killed takes nothing with it but its own foreground command; and there is one way in
//! which commands run, whoever asks.
//!
//! The keeper is the same program as the front end. A small front end forks it off ([`Starter::Fork`]), a large one
//! runs the `shellgate` binary ([`Starter::Exec`]). It leaves when nobody is connected and no process is left.
//!
//! [`Session::start`] opens two spool files, hands a [`Spec`] and their descriptors to the keeper and returns an
//! [`RunHandle`]. Its [`RunEvent`]s are read until [`RunEvent::Ended`] brings the [`Outcome`]. Output never travels through
//! the socket as long as it fits into the files: the keeper sends ranges, the front end reads the file. Memory doesn't
//! grow with output on either side.
//!
//! This crate knows no shell, no rules and no dialects. What it promises:
//!
//! - The answer comes when the program has exited and what it printed is drained. A child that keeps the pipe open
//!   holds it for some tens of milliseconds, and no byte that the program printed is missing.
//! - Every end that isn't the command's own (a clock, a stop, a caller that went away) ends its whole tree: `SIGTERM`,
//!   two seconds, `SIGKILL`, including processes that left the session or lost their parents.
//! - What a foreground command leaves behind is named in the answer, goes on, and can go on printing.
//! - Only processes that descend from the keeper are ever signalled.

mod circumstances;
mod id;
mod input;
mod input_sender;
mod job;
mod keeper;
mod keeper_connection;
mod keepers;
mod limits;
mod outcome;
mod output_times;
mod partial_line;
pub mod proc;
mod run_handle;
mod session;
mod spec;
mod spool;
mod state;
mod state_folder;
mod stored_end;
mod surroundings;
mod sys;
mod wire;

pub use circumstances::SoftLimits;
pub use id::ExecId;
pub use input::{Input, InputKind, InputState, NotTaken, ReadState, TerminalProcess};
pub use input_sender::InputSender;
pub use job::{Job, JobKind};
pub use keepers::{held_executions, jobs, release, stop_all, stop_execution, watch};
pub use limits::{
    ExceededLimit, GroupNotes, LimitAction, LimitedResource, Limits, Mechanism, ProbeResult, group_notes,
    probe,
};
pub use outcome::{Clock, Exit, Failure, Outcome, Output, Process, plain};
pub use output_times::{Moment, printed_before};
pub use partial_line::PartialLine;
pub use run_handle::{RunEvent, RunHandle, Stopper, end_leftovers};
pub use session::{KEEPER_ARGUMENT, Session, SessionError, SessionKey, Starter, keeper_main};
pub use shellgate_sandbox::probe as kernel;
pub use spec::{Follow, Mode, PerStream, Size, Spec, Stream};
pub use spool::{Pruned, Spool, prune};
pub use state::{IllegalMove, State};
pub use state_folder::{StateError, StateFolder};
pub use stored_end::StoredEnd;
pub use surroundings::{Surroundings, surroundings};
pub use wire::Urgency;
