//! One execution, as the keeper holds it.

use std::fs::File;
use std::time::{Duration, Instant};

use crate::job::JobKind;
use crate::outcome::{Clock, Exit, Failure, Outcome};
use crate::output_times::Times;
use crate::spec::{Follow, Mode, PerStream};
use crate::{ExceededLimit, Spec, State};

use super::connection::ConnectionKey;
use super::limit_enforcer::LimitEnforcer;
use super::stream::Source;
use super::terminal::Terminal;

/// How long the last bytes and the children of a command that has ended are waited for.
pub(super) const GRACE: Duration = Duration::from_millis(30);

/// How much longer, when a child it left has not had the CPU yet: on a busy machine a fork takes its time, and a list
/// made too early would name a process that is about to become another.
pub(super) const LONGEST_GRACE: Duration = Duration::from_millis(300);

/// Between `SIGTERM` and `SIGKILL`.
const TIME_TO_CLEAN_UP: Duration = Duration::from_secs(2);

/// How long we try `SIGKILL` before the answer names the survivors. The kernel only withholds a process that waits
/// for a broken disk.
const TIME_TO_DIE: Duration = Duration::from_secs(3);

/// How often a tree that is being ended is looked at again, for children it made in the meantime.
pub(super) const LOOK_AGAIN: Duration = Duration::from_millis(5);

/// One execution.
#[derive(Debug)]
pub(super) struct Run {
    pub(super) spec: Spec,
    /// Who is to be answered. `None`: answered, or gone.
    pub(super) caller: Option<ConnectionKey>,
    /// Whether somebody wanted to wait for the end of its program, also if it is a job by now.
    pub(super) awaited: bool,
    /// Who else wants to hear of it.
    pub(super) watchers: Vec<ConnectionKey>,
    pub(super) state: State,
    pub(super) phase: Phase,
    pub(super) pid: Option<u32>,
    pub(super) exit: Option<Exit>,
    pub(super) failure: Option<Failure>,
    /// When it was asked for.
    pub(super) came: Instant,
    pub(super) started: Instant,
    pub(super) last_output: Instant,
    /// When it printed what.
    pub(super) times: Times,
    pub(super) sources: Option<PerStream<Source>>,
    /// Its terminal, if it has one.
    pub(super) terminal: Option<Terminal>,
    /// What it may use, when that is limited.
    pub(super) enforcer: Option<Box<LimitEnforcer>>,
    /// Where the output goes, until it is started.
    pub(super) spool: Option<Files>,
    /// Its end, which was told or left for whoever asks: what goes on are its leftovers.
    pub(super) ended: Option<Box<Outcome>>,
    /// Its pipes aren't read, because its reader can't follow and no file takes the bytes.
    pub(super) paused: bool,
}

/// The files that output goes to, or why there are none.
pub(super) type Files = Result<PerStream<File>, String>;

/// What the keeper is doing about it.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Phase {
    /// It waits for its turn.
    Waiting,
    /// The program runs.
    Running,
    /// The program has ended; its last bytes and its children are looked at.
    Settling { since: Instant, look: Instant },
    /// It is being ended.
    Stopping { cause: Cause, kill: Instant, give_up: Instant, look: Instant },
    /// Answered; what it left goes on.
    Left,
}

/// Why it is being ended.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Cause {
    /// Somebody said so, or whoever waited is gone.
    Canceled,
    /// Somebody said so when the program had ended by itself: only what it left is ended.
    Leftovers,
    /// A clock ran out.
    TimedOut(Clock),
    /// It used more than it may.
    Limit(ExceededLimit),
}

impl Run {
    pub(super) fn new(spec: Spec, spool: Files, caller: ConnectionKey, now: Instant) -> Self {
        Self {
            awaited: matches!(spec.mode, Mode::Foreground { .. }),
            spec,
            caller: Some(caller),
            watchers: Vec::new(),
            state: State::Queued,
            phase: Phase::Waiting,
            pid: None,
            exit: None,
            failure: None,
            came: now,
            started: now,
            last_output: now,
            times: Times::default(),
            sources: None,
            terminal: None,
            enforcer: None,
            spool: Some(spool),
            ended: None,
            paused: false,
        }
    }

    /// Whether it counts against `max_running`: jobs and leftovers don't, or a server would block every later call.
    pub(super) fn occupies_a_place(&self) -> bool {
        self.phase != Phase::Waiting && self.phase != Phase::Left && self.is_foreground()
    }

    /// Whether it counts against `max_jobs`: also before its caller is answered, or who starts many at once gets all.
    pub(super) fn is_job(&self) -> bool {
        self.caller.is_none() || !self.was_foreground()
    }

    fn is_foreground(&self) -> bool {
        self.caller.is_some() || self.was_foreground()
    }

    /// Whether its program has ended by itself, and that was what its caller wanted to know.
    pub(super) fn is_told_by_its_program(&self) -> bool {
        self.awaited && self.caller.is_none() && self.exit.is_some()
    }

    /// Whether it ends with its caller, and what it leaves has no clock.
    pub(super) fn was_foreground(&self) -> bool {
        matches!(self.spec.mode, Mode::Foreground { .. })
    }

    /// Who holds on to it.
    pub(super) fn kind(&self) -> JobKind {
        match (self.caller, &self.ended) {
            (Some(_), _) => JobKind::Foreground,
            (None, Some(_)) => JobKind::Leftover,
            (None, None) => JobKind::Job,
        }
    }

    /// From now on nobody has to wait for it.
    pub(super) fn become_job(&mut self) {
        self.spec.mode = Mode::Background { answer_after: Duration::ZERO };
    }

    /// The numbers of its pipes, which whoever writes to them shares.
    pub(super) fn pipes(&self) -> [Option<u64>; 2] {
        self.sources.as_ref().map_or([None; 2], |sources| sources.both().map(Source::number))
    }

    /// Whether its end is known.
    pub(super) fn is_over(&self) -> bool {
        self.ended.is_some()
    }

    pub(super) fn is_followed(&self) -> bool {
        self.spec.follow == Follow::Closely
    }

    /// When this execution next wants to be looked at.
    pub(super) fn deadline(&self) -> Option<Instant> {
        match self.phase {
            Phase::Waiting => self.answer_due(),
            // What a foreground command left behind has no clock; a job is its whole tree and keeps its own.
            Phase::Left if self.was_foreground() => self.enforcer.as_ref().map(|enforcer| enforcer.look),
            Phase::Running | Phase::Left => {
                let answer = self.answer_due();
                let clock = self.clocks().map(|(at, _)| at);
                let look = self.enforcer.as_ref().map(|enforcer| enforcer.look);
                [answer, clock, look].into_iter().flatten().min()
            }
            Phase::Settling { look, .. } | Phase::Stopping { look, .. } => Some(look),
        }
    }

    /// When its caller is answered whether it has ended or not, if that is still to be done.
    pub(super) fn answer_due(&self) -> Option<Instant> {
        self.caller?;
        match self.spec.mode {
            Mode::Background { answer_after } if self.phase == Phase::Waiting => {
                Some(self.came + answer_after)
            }
            Mode::Background { answer_after } => Some(self.started + answer_after),
            // Whoever waits looks at their own clock, not at ours: it runs while we wait for our turn.
            Mode::Foreground { answer_after } => answer_after.map(|after| self.came + after),
        }
    }

    /// The clock that runs out first, and when.
    fn clocks(&self) -> Option<(Instant, Clock)> {
        let wall = self.spec.timeout.map(|limit| (self.started + limit, Clock::Wall(limit)));
        // A command that can't write because nobody reads isn't silent.
        let idle = self
            .spec
            .idle_timeout
            .filter(|_| !self.paused && !self.terminal.as_ref().is_some_and(|terminal| terminal.suspended))
            .map(|limit| (self.last_output + limit, Clock::Idle(limit)));
        [wall, idle].into_iter().flatten().min_by_key(|(at, _)| *at)
    }

    /// The clock that has run out.
    pub(super) fn expired(&self, now: Instant) -> Option<Clock> {
        self.clocks().filter(|(at, _)| *at <= now).map(|(_, clock)| clock)
    }
}

impl Phase {
    pub(super) fn settling(now: Instant) -> Self {
        Self::Settling { since: now, look: now + GRACE }
    }

    /// Politely: `SIGKILL` follows later. Now: it is due.
    pub(super) fn stopping(cause: Cause, now: Instant, politely: bool) -> Self {
        let kill = if politely { now + TIME_TO_CLEAN_UP } else { now };
        Self::Stopping { cause, kill, give_up: kill + TIME_TO_DIE, look: now }
    }
}
