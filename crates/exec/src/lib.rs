//! Runs commands: a [`Spec`] in, a [`RunHandle`] out.
//!
//! # Theory of operation
//!
//! A [`Session`] has one **keeper**: a small process with one thread. The keeper starts commands, writes their output
//! to files, reaps their processes, runs their timeouts and answers their callers. Front ends (a command line, a server,
//! a program that uses the library) talk to the keeper over a socket in the [`StateFolder`]. This has three advantages.
//! A server never forks, which would cost it eight times as much as a spawn. When a front end is killed, only its own
//! foreground command ends with it. And commands run in the same way for every front end.
//!
//! The keeper is the same program as the front end. A small front end forks the keeper ([`Starter::Fork`]), a large one
//! runs the `shellgate` binary ([`Starter::Exec`]). The keeper exits when no front end is connected and no process is
//! left.
//!
//! [`Session::start`] creates two spool files, sends a [`Spec`] and their descriptors to the keeper, and returns a
//! [`RunHandle`]. The front end reads [`RunEvent`]s from it until [`RunEvent::Ended`] brings the [`Outcome`]. Output goes
//! through the socket only when the files are full: the keeper sends ranges, and the front end reads the file. Memory
//! doesn't grow with output on either side.
//!
//! This crate knows no shell and no dialects. Rules it knows as data, which the keeper's guard compares with every program that
//! a command starts ([`GuardRules`]). It promises:
//!
//! - The answer comes when the program has exited and its output is complete. A child that keeps the pipe open delays the
//!   answer by some tens of milliseconds, and no byte that the program printed is missing.
//! - A timeout, a stop, or a caller that goes away ends the whole process tree: `SIGTERM`, two seconds, `SIGKILL`. That
//!   includes processes that left the session or lost their parents.
//! - Leftover processes of a foreground command are named in the answer. They go on, and can go on printing.
//! - Only processes that descend from the keeper are ever signalled.

mod circumstances;
mod denials;
mod effects;
mod encoded_confinement;
mod forked;
mod guard_rules;
mod id;
mod input;
mod input_sender;
mod job;
mod job_note;
mod keeper;
mod keeper_connection;
mod keepers;
mod limits;
mod outcome;
mod output_times;
mod partial_line;
pub mod proc;
mod regular_file;
mod reserve;
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
pub use denials::{Denial, Denials, RefusedProgram};
pub use effects::{Effects, StartedProgram};
pub use encoded_confinement::{Encoded, EncodedConfinement};
pub use forked::KEEPER_CHECK_INTERVAL;
pub use guard_rules::{EncodedGuardRules, GuardRules, ProgramRule, RulePrefix};
pub use id::ExecId;
pub use input::{Input, InputKind, InputState, NotTaken, ReadState, TerminalProcess};
pub use input_sender::InputSender;
pub use job::{Job, JobKind};
pub use job_note::job_notes;
pub use keepers::{HeldJobs, held_executions, jobs, release, stop_all, stop_execution, watch};
pub use limits::{
    ExceededLimit, GroupNotes, LimitAction, LimitedResource, Limits, Mechanism, ProbeResult, group_notes,
    probe,
};
pub use outcome::{Clock, Exit, Failure, GUARD_LACKS, Outcome, Output, Process, plain};
pub use output_times::{Moment, printed_before};
pub use partial_line::PartialLine;
pub use regular_file::open_regular;
pub use run_handle::{RunEvent, RunHandle, Stopper, abandoned, end_leftovers, is_kept_out_of_reach};
pub use session::{KEEPER_ARGUMENT, LOG_VARIABLE, Session, SessionError, SessionKey, Starter, keeper_main};
pub use shellgate_sandbox::{
    Confinement, Debugging, Network, Observing, Protected, Readable, RefusalRule, Temp, Tracing, links,
    probe as kernel,
};
pub use spec::{Follow, Mode, PerStream, Size, Spec, Stream};
pub use spool::{Pruned, Spool, prune};
pub use state::{IllegalMove, State};
pub use state_folder::{StateError, StateFolder};
pub use stored_end::StoredEnd;
pub use surroundings::{Surroundings, surroundings};
pub use wire::Urgency;
