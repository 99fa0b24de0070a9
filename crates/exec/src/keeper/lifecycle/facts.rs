//! What the rest of the keeper asks about an execution.

use std::time::Instant;

use super::machine::{Lifecycle, Phase};
use crate::State;
use crate::job::JobKind;
use crate::keeper::connection::ConnectionKey;
use crate::outcome::Exit;
use crate::spec::Mode;

impl Lifecycle {
    /// Whether it ends when its caller goes away. Not a job, or no longer.
    pub(in crate::keeper) fn ends_with_caller(&self) -> bool {
        matches!(self.mode, Mode::Foreground { .. })
    }

    /// Whether it counts against `max_running`. Jobs and leftovers don't: a server that runs for days would block later calls.
    pub(in crate::keeper) fn counts_as_running(&self) -> bool {
        let is_foreground = self.caller.is_some() || self.ends_with_caller();
        is_foreground && !matches!(self.phase, Phase::Queued | Phase::Left | Phase::Gone)
    }

    /// Whether it counts against `max_jobs`. A background start does before its caller has the answer, or starting many at
    /// once would exceed the maximum.
    pub(in crate::keeper) fn counts_as_job(&self) -> bool {
        self.caller.is_none() || !self.ends_with_caller()
    }

    pub(in crate::keeper) fn kind(&self) -> JobKind {
        match (self.caller, self.has_ended()) {
            (Some(_), _) => JobKind::Foreground,
            (None, true) => JobKind::Leftover,
            (None, false) => JobKind::Job,
        }
    }

    /// The connection that waits for the answer.
    pub(in crate::keeper) fn caller(&self) -> Option<ConnectionKey> {
        self.caller
    }

    pub(in crate::keeper) fn state(&self) -> State {
        self.state
    }

    pub(in crate::keeper) fn exit(&self) -> Option<Exit> {
        self.exit
    }

    /// Whether its end was told or stored.
    pub(in crate::keeper) fn has_ended(&self) -> bool {
        self.state.is_final()
    }

    pub(in crate::keeper) fn started(&self) -> Instant {
        self.started
    }

    pub(in crate::keeper) fn last_output(&self) -> Instant {
        self.last_output
    }

    /// Whether the keeper has stopped reading its output.
    pub(in crate::keeper) fn is_reader_behind(&self) -> bool {
        self.reader_behind
    }
}
