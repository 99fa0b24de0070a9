//! What the keeper decides about one execution, without doing any of it.
//!
//! A [`Lifecycle`] takes an [`Event`] and the time at which it happened, and returns the [`Action`] that the keeper is to
//! take. It makes no system call and reads no clock, so its tests use a fake clock and fake processes: hundreds of
//! them take milliseconds. Three actions have a result that the keeper reports back as the next event:
//!
//! | action | the keeper does | and reports |
//! |---|---|---|
//! | [`Action::Look`] | looks which processes are left | [`Event::Looked`] |
//! | [`Action::Terminate`] | sends `SIGTERM` to all of them, then looks | [`Event::Looked`] |
//! | [`Action::Measure`] | measures what they use | [`Event::Measured`] |
//!
//! What needs no action is a [`Note`], such as new output. [`Lifecycle::deadline`] says when the next [`Event::Tick`] is due.
//!
//! # Phases
//!
//! ```text
//! Queued ──▶ Running ──▶ Settling ──▶ Left ──▶ Gone
//!    │          │            │          │       ▲
//!    │          └────────────┴──────────┴──▶ Stopping
//!    └──────────────────────────────────────────┘
//! ```
//!
//! - `Queued`: the session runs as many commands as it may ([`Queue`]). No timeout runs.
//! - `Running`: the program runs, until it exits, a timeout expires or a front end stops it.
//! - `Settling`: the program has exited, and the answer waits for its last output. If no process is left and both
//!   streams are closed, it goes out at once; else after [`SETTLE_GRACE`](timing::SETTLE_GRACE). It waits longer, up to
//!   [`UNBORN_GRACE`](timing::UNBORN_GRACE), while a child has not run yet: a list of processes made too early would show a child that is
//!   still a copy of its parent.
//! - `Stopping`: `SIGTERM`, [`KILL_GRACE`](timing::KILL_GRACE), `SIGKILL` again and again. After [`GIVE_UP_AFTER`](timing::GIVE_UP_AFTER) the caller gets an answer that
//!   names the survivors, and the keeper goes on killing.
//! - `Left`: the caller has its answer and processes go on, as a job or as leftovers of a command that has ended.
//! - `Gone`: no process is left, the end is told or stored. Nothing follows.
//!
//! A caller gets one answer: [`Action::AnswerRunning`] or [`Action::End`] takes the caller out of the lifecycle.

mod action;
mod facts;
mod machine;
mod queue;
#[cfg(test)]
mod tests;
mod timing;

pub(super) use action::{Action, Cause, Event, KillMode, Left, Look, Note, Remains};
pub(super) use machine::Lifecycle;
pub(super) use queue::{Queue, may_add_job};
pub(super) use timing::Timeouts;
