//! The state machine of one execution.

use std::time::{Duration, Instant};

use super::action::{Action, Cause, Event, KillMode, Left, Look, Note, Remains};
use super::timing::{
    GIVE_UP_AFTER, KILL_GRACE, MEASURE_INTERVAL, MEASURE_TIME_SHARE, POLL_INTERVAL, SETTLE_GRACE,
    SUSPEND_TIMEOUT, Timeouts, UNBORN_GRACE,
};
use crate::State;
use crate::keeper::connection::ConnectionKey;
use crate::outcome::Exit;
use crate::spec::Mode;
use crate::wire::Urgency;

/// What the keeper knows about one execution, and decides by.
#[derive(Debug)]
pub(in crate::keeper) struct Lifecycle {
    /// Background once it is a job.
    pub(super) mode: Mode,
    pub(super) timeouts: Timeouts,
    pub(super) phase: Phase,
    pub(super) state: State,
    /// The connection that waits for the answer. `None` when it has the answer or is closed.
    pub(super) caller: Option<ConnectionKey>,
    /// Whether the caller wanted to wait for the end, even if it is a job now.
    pub(super) was_awaited: bool,
    pub(super) exit: Option<Exit>,
    pub(super) submitted: Instant,
    pub(super) started: Instant,
    pub(super) last_output: Instant,
    /// The keeper doesn't read its output: it may be silent because it can't write.
    pub(super) reader_behind: bool,
    pub(super) suspended: bool,
    /// When its resource usage is measured next. `None` without limits.
    pub(super) measure_at: Option<Instant>,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Phase {
    Queued,
    Running,
    Settling {
        exited: Instant,
        look_at: Instant,
    },
    Stopping {
        cause: Cause,
        kill_at: Instant,
        /// `None` when the caller has its answer.
        give_up_at: Option<Instant>,
        look_at: Instant,
    },
    Left,
    Gone,
}

impl Lifecycle {
    pub(in crate::keeper) fn new(
        mode: Mode,
        timeouts: Timeouts,
        caller: ConnectionKey,
        now: Instant,
    ) -> Self {
        Self {
            mode,
            timeouts,
            phase: Phase::Queued,
            state: State::Queued,
            caller: Some(caller),
            was_awaited: matches!(mode, Mode::Foreground { .. }),
            exit: None,
            submitted: now,
            started: now,
            last_output: now,
            reader_behind: false,
            suspended: false,
            measure_at: None,
        }
    }

    /// Remembers what happened at `now`.
    pub(in crate::keeper) fn note(&mut self, note: Note, now: Instant) {
        match note {
            Note::Starting { limited } => {
                (self.started, self.last_output) = (now, now);
                self.measure_at = limited.then(|| now + MEASURE_INTERVAL);
                self.phase = Phase::Running;
                self.advance(State::Starting);
            }
            Note::Started => self.advance(State::Running),
            Note::Output => self.last_output = now,
            Note::ReaderBehind => self.reader_behind = true,
            Note::ReaderCaughtUp => (self.reader_behind, self.last_output) = (false, now),
            Note::Suspended => self.suspended = true,
            Note::Continued => (self.suspended, self.last_output) = (false, now),
            Note::UsageAdded => self.measure_at = self.measure_at.map(|_| now),
        }
    }

    /// Decides about an event that happened at `now`.
    pub(in crate::keeper) fn step(&mut self, event: Event, now: Instant) -> Action {
        if self.phase == Phase::Gone {
            return Action::Nothing;
        }
        match event {
            Event::NotStarted => self.end(State::Failed, None, Left::Nothing),
            Event::Exited(exit) => {
                self.exit = Some(exit);
                if self.phase == Phase::Running {
                    self.phase = match self.caller {
                        Some(_) => Phase::Settling { exited: now, look_at: now + SETTLE_GRACE },
                        None => Phase::Left,
                    };
                }
                self.check(now)
            }
            Event::StreamClosed if !matches!(self.phase, Phase::Settling { .. }) => Action::Nothing,
            Event::ChildReaped | Event::StreamClosed | Event::Tick => self.check(now),
            Event::Looked(remains) => self.looked(remains, now),
            Event::Measured { exceeded, took } => {
                let pause = MEASURE_INTERVAL.max(took * MEASURE_TIME_SHARE);
                self.measure_at = self.measure_at.map(|_| now + pause);
                match exceeded {
                    Some(exceeded) => self.stop(Cause::Limit(exceeded), Urgency::Now, now),
                    None => self.check(now),
                }
            }
            Event::StopAsked(urgency) => self.stop(Cause::Canceled, urgency, now),
            Event::ReleaseAsked => match self.phase {
                Phase::Queued => self.release(State::Queued),
                Phase::Running | Phase::Settling { .. } => self.release(State::Running),
                Phase::Stopping { .. } | Phase::Left | Phase::Gone => Action::Nothing,
            },
            Event::CallerGone => match self.caller.take() {
                Some(_) if self.ends_with_caller() => self.stop(Cause::Canceled, Urgency::Politely, now),
                _ => Action::Nothing,
            },
        }
    }

    /// Does what is due.
    fn check(&mut self, now: Instant) -> Action {
        let goes_on = matches!(self.phase, Phase::Running | Phase::Settling { .. } | Phase::Left);
        if goes_on && self.measure_at.is_some_and(|at| at <= now) {
            return Action::Measure;
        }
        let answer_is_due = self.answer_at().is_some_and(|at| at <= now);
        match self.phase {
            Phase::Queued if answer_is_due => self.release(State::Queued),
            Phase::Running => match self.expired(now) {
                Some(clock) => self.stop(Cause::TimedOut(clock), Urgency::Politely, now),
                None if answer_is_due => self.release(State::Running),
                None => Action::Nothing,
            },
            // Whether a child has not run yet decides only when the grace is over, and not for the tree of a job.
            Phase::Settling { look_at, .. } if now >= look_at && !self.awaits_job() => {
                Action::Look(Look::WithUnborn)
            }
            Phase::Settling { .. } | Phase::Stopping { .. } | Phase::Left => Action::Look(Look::Cached),
            Phase::Queued | Phase::Gone => Action::Nothing,
        }
    }

    fn looked(&mut self, remains: Remains, now: Instant) -> Action {
        match self.phase {
            Phase::Settling { exited, look_at } => self.settle(remains, exited, look_at, now),
            Phase::Stopping { cause, kill_at, give_up_at, .. } => {
                self.go_on_stopping(remains, cause, (kill_at, give_up_at), now)
            }
            Phase::Left if remains.is_empty => self.end(self.natural_end(), None, Left::Nothing),
            Phase::Left => match self.expired(now).filter(|_| !self.ends_with_caller()) {
                Some(clock) => self.stop(Cause::TimedOut(clock), Urgency::Politely, now),
                None => Action::Nothing,
            },
            Phase::Queued | Phase::Running | Phase::Gone => Action::Nothing,
        }
    }

    /// The program has exited: ends the execution when its output is complete, or when the grace is over.
    fn settle(&mut self, remains: Remains, exited: Instant, look_at: Instant, now: Instant) -> Action {
        let grace_is_over = now >= look_at;
        // An orphan that no execution has claimed yet may be one of ours.
        let is_empty = remains.is_empty && (!remains.has_unclaimed || grace_is_over);
        if is_empty && remains.streams_closed {
            return self.end(self.natural_end(), None, Left::Nothing);
        }
        if !grace_is_over {
            return Action::Nothing;
        }
        if self.awaits_job() && !is_empty {
            // A background start whose program left processes: those are the job, and their end is still worth waiting for.
            return match self.answer_at().filter(|at| now < *at) {
                Some(at) => self.look_again(at.min(now + SETTLE_GRACE)),
                None => self.release(State::Running),
            };
        }
        if remains.has_unborn && now < exited + UNBORN_GRACE {
            return self.look_again(now + POLL_INTERVAL);
        }
        let left = if remains.is_empty { Left::Nothing } else { Left::Processes };
        self.end(self.natural_end(), None, left)
    }

    /// Puts off the next look at an execution that settles.
    fn look_again(&mut self, at: Instant) -> Action {
        if let Phase::Settling { look_at, .. } = &mut self.phase {
            *look_at = at;
        }
        Action::Nothing
    }

    /// Ends it early, with all its processes.
    fn stop(&mut self, cause: Cause, urgency: Urgency, now: Instant) -> Action {
        let cause = match self.phase {
            Phase::Queued => return self.end(State::Canceled, None, Left::Nothing),
            Phase::Gone => return Action::Nothing,
            // The first cause stays. Being asked again only makes it faster.
            Phase::Stopping { .. } if urgency == Urgency::Politely => return Action::Nothing,
            Phase::Stopping { cause, .. } => cause,
            Phase::Running | Phase::Settling { .. } | Phase::Left => match cause {
                Cause::Canceled if self.is_answered_by_its_program() => Cause::Leftovers,
                cause => cause,
            },
        };
        let (kill_at, action) = match urgency {
            Urgency::Politely => (now + KILL_GRACE, Action::Terminate),
            Urgency::Now => (now, Action::Look(Look::Fresh)),
        };
        let give_up_at = (!self.has_ended()).then_some(kill_at + GIVE_UP_AFTER);
        self.phase = Phase::Stopping { cause, kill_at, give_up_at, look_at: now };
        action
    }

    fn go_on_stopping(
        &mut self,
        remains: Remains,
        cause: Cause,
        (kill_at, give_up_at): (Instant, Option<Instant>),
        now: Instant,
    ) -> Action {
        let state = match cause {
            Cause::Canceled => State::Canceled,
            Cause::Leftovers => self.natural_end(),
            Cause::TimedOut(_) => State::TimedOut,
            Cause::Limit(_) => State::Failed,
        };
        if remains.is_empty {
            return self.end(state, Some(cause), Left::Nothing);
        }
        if give_up_at.is_some_and(|at| at <= now) {
            let look_at = now + POLL_INTERVAL;
            self.phase = Phase::Stopping { cause, kill_at, give_up_at: None, look_at };
            return self.end(state, Some(cause), Left::Processes);
        }
        let look_at = if now >= kill_at { now + POLL_INTERVAL } else { kill_at };
        self.phase = Phase::Stopping { cause, kill_at, give_up_at, look_at };
        match now {
            _ if now >= kill_at + SUSPEND_TIMEOUT => Action::Kill(KillMode::Anyway),
            _ if now >= kill_at => Action::Kill(KillMode::Suspended),
            _ => Action::Nothing,
        }
    }

    /// Answers the caller, and goes on without it as a job.
    fn release(&mut self, state: State) -> Action {
        let Some(caller) = self.caller.take() else { return Action::Nothing };
        self.mode = Mode::Background { answer_after: Duration::ZERO };
        if matches!(self.phase, Phase::Settling { .. }) {
            // The processes that the program left are the job.
            self.phase = Phase::Left;
        }
        Action::AnswerRunning { caller, state }
    }

    /// It has ended. Its end is told or stored once.
    fn end(&mut self, state: State, cause: Option<Cause>, left: Left) -> Action {
        self.phase = match (left, self.phase) {
            (Left::Nothing, _) => Phase::Gone,
            // Processes that survive are still killed.
            (Left::Processes, stopping @ Phase::Stopping { .. }) => stopping,
            (Left::Processes, _) => Phase::Left,
        };
        if self.has_ended() {
            return if left == Left::Nothing { Action::Remove } else { Action::Nothing };
        }
        self.advance(state);
        Action::End { caller: self.caller.take(), state, cause, left }
    }

    fn advance(&mut self, to: State) {
        // Unreachable by the order of events. The states that callers see are checked all the same.
        let moved = self.state.advance(to);
        debug_assert!(moved.is_ok(), "{moved:?}");
    }

    /// Whether the caller waits for a background start.
    fn awaits_job(&self) -> bool {
        self.caller.is_some() && matches!(self.mode, Mode::Background { .. })
    }

    /// Whether the program's exit was the answer that its caller wanted.
    fn is_answered_by_its_program(&self) -> bool {
        self.was_awaited && self.caller.is_none() && self.exit.is_some()
    }

    /// The state after an end that nothing caused from outside.
    fn natural_end(&self) -> State {
        if self.exit == Some(Exit::Code(0)) { State::Completed } else { State::Failed }
    }
}
