//! What happens to an execution, and what the keeper does about it.

use std::time::Duration;

use crate::keeper::connection::ConnectionKey;
use crate::outcome::{Clock, Exit};
use crate::wire::Urgency;
use crate::{ExceededLimit, State};

/// Something to remember about an execution. It leads to no action at once.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(in crate::keeper) enum Note {
    /// The keeper starts it now.
    Starting {
        /// Whether it has resource limits that the keeper measures.
        limited: bool,
    },
    /// Its program runs.
    Started,
    /// It printed something.
    Output,
    /// The keeper stopped reading its output, because the caller can't keep up.
    ReaderBehind,
    /// The keeper reads its output again.
    ReaderCaughtUp,
    /// A front end suspended its processes.
    Suspended,
    /// A front end let them continue.
    Continued,
    /// The resource usage of a reaped process was added up, so measuring is due.
    UsageAdded,
}

/// Something that happened to an execution.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(in crate::keeper) enum Event {
    /// It can't be started, or the session has as many jobs as it may.
    NotStarted,
    /// Its program exited, and what was in the pipes is read.
    Exited(Exit),
    /// One of its other processes was reaped.
    ChildReaped,
    /// The last process that could write to one of its output streams has closed it.
    StreamClosed,
    /// Time has passed.
    Tick,
    /// The result of [`Action::Look`] or [`Action::Terminate`].
    Looked(Remains),
    /// The result of [`Action::Measure`].
    Measured {
        /// The limit that it exceeded and that ends it.
        exceeded: Option<ExceededLimit>,
        /// How long measuring took.
        took: Duration,
    },
    /// A front end stops it, or a signal to the keeper does.
    StopAsked(Urgency),
    /// Another front end makes it a job.
    ReleaseAsked,
    /// The connection of its caller is closed.
    CallerGone,
}

/// What is left of an execution.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
#[expect(clippy::struct_excessive_bools, reason = "they are independent observations")]
pub(in crate::keeper) struct Remains {
    /// No process is known to be left.
    pub(in crate::keeper) is_empty: bool,
    /// Some orphan belongs to an execution that the keeper doesn't know yet. It may be this one.
    pub(in crate::keeper) has_unclaimed: bool,
    /// No process can write to its output streams any more.
    pub(in crate::keeper) streams_closed: bool,
    /// One of its processes has not run since its fork. Only [`Look::WithUnborn`] finds out.
    pub(in crate::keeper) has_unborn: bool,
}

/// How to look for processes.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(in crate::keeper) enum Look {
    /// What was found since the last event will do.
    Cached,
    /// Look again for orphans.
    Fresh,
    /// Also look whether a process has not run yet.
    WithUnborn,
}

/// How to kill.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(in crate::keeper) enum KillMode {
    /// Suspend all processes first, so that none forks meanwhile.
    Suspended,
    /// Also those that can't be suspended.
    Anyway,
}

/// What is left after the end.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(in crate::keeper) enum Left {
    /// Nothing: the keeper forgets the execution.
    Nothing,
    /// Processes that go on.
    Processes,
}

/// What the keeper does next.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[must_use]
pub(in crate::keeper) enum Action {
    /// Nothing, until the next event.
    Nothing,
    /// Looks which processes are left, and reports [`Event::Looked`].
    Look(Look),
    /// Sends `SIGTERM` to all processes, looks which are left, and reports [`Event::Looked`].
    Terminate,
    /// Kills all processes.
    Kill(KillMode),
    /// Measures resource usage, and reports [`Event::Measured`].
    Measure,
    /// Answers `caller`. The execution goes on as a job.
    AnswerRunning { caller: ConnectionKey, state: State },
    /// The execution has ended: tells `caller`, or stores the end when there is none.
    End {
        caller: Option<ConnectionKey>,
        state: State,
        /// Why it was stopped, if it was.
        cause: Option<Cause>,
        left: Left,
    },
    /// Forgets an execution whose end is told or stored.
    Remove,
}

/// Why an execution is stopped.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(in crate::keeper) enum Cause {
    /// A front end asked for it, or its caller is gone.
    Canceled,
    /// The same after its program had exited and its caller had its answer: only leftover processes are stopped.
    Leftovers,
    /// A timeout expired.
    TimedOut(Clock),
    /// It exceeded a resource limit.
    Limit(ExceededLimit),
}

impl Cause {
    /// The timeout that expired.
    pub(in crate::keeper) const fn clock(self) -> Option<Clock> {
        match self {
            Self::TimedOut(clock) => Some(clock),
            Self::Canceled | Self::Leftovers | Self::Limit(_) => None,
        }
    }

    /// The resource limit that it exceeded.
    pub(in crate::keeper) const fn limit(self) -> Option<ExceededLimit> {
        match self {
            Self::Limit(exceeded) => Some(exceeded),
            Self::Canceled | Self::Leftovers | Self::TimedOut(_) => None,
        }
    }
}
