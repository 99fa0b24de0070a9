//! A keeper's world without a keeper: a clock that jumps, and processes that are rows of a table.

use std::time::{Duration, Instant};

use crate::keeper::lifecycle::{
    Action, Cause, Event, KillMode, Left, Lifecycle, Look, Note, Remains, Timeouts,
};
use crate::outcome::{Clock, Exit};
use crate::wire::Urgency;
use crate::{ExceededLimit, JobKind, LimitAction, LimitedResource, Mode, State};

pub(super) const CALLER: u64 = 7;

/// Simulated milliseconds after which a run that goes on is left alone.
const LONGEST_MS: u64 = 100_000;

/// How often time may be reported at one moment: once to answer the caller, once for a timeout that expired meanwhile.
const MAX_TICKS_AT_ONE_MOMENT: usize = 2;

pub(super) const EXCEEDED: ExceededLimit =
    ExceededLimit { resource: LimitedResource::Memory, limit: 64, action: LimitAction::Ended };

pub(super) const fn ms(count: u64) -> Duration {
    Duration::from_millis(count)
}

/// What comes from outside.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Input {
    Start,
    FailToStart,
    Stop(Urgency),
    Release,
    CallerGone,
    Print,
    ReaderBehind,
    ReaderCaughtUp,
    Suspend,
    Continue,
    ExceedLimit,
}

/// A fake process. The first one is the program, the others are its children.
#[derive(Clone, Debug)]
pub(super) struct Process {
    /// When it exits, if nothing happens to it before.
    pub(super) exits: Option<(u64, Exit)>,
    /// How long it takes to exit when it gets `SIGTERM`. `None`: it ignores that.
    pub(super) term_ms: Option<u64>,
    /// It waits for a broken disk until then: `SIGKILL` has no effect before.
    pub(super) unkillable_until: u64,
    pub(super) unborn_until: u64,
    pub(super) unclaimed_until: u64,
    pub(super) holds_streams: bool,
    pub(super) dead: bool,
}

impl Default for Process {
    fn default() -> Self {
        Self {
            exits: None,
            term_ms: Some(0),
            unkillable_until: 0,
            unborn_until: 0,
            unclaimed_until: 0,
            holds_streams: false,
            dead: false,
        }
    }
}

/// One execution to be simulated.
#[derive(Clone, Debug)]
pub(super) struct Setup {
    pub(super) mode: Mode,
    pub(super) timeouts: Timeouts,
    pub(super) limited: bool,
    pub(super) processes: Vec<Process>,
    /// What comes from outside, and when.
    pub(super) inputs: Vec<(u64, Input)>,
}

impl Default for Setup {
    fn default() -> Self {
        let program = Process { holds_streams: true, ..Process::default() };
        Self {
            mode: Mode::FOREGROUND,
            timeouts: Timeouts::default(),
            limited: false,
            processes: vec![program],
            inputs: Vec::new(),
        }
    }
}

/// What the keeper did, and when.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) struct Done {
    pub(super) at: u64,
    pub(super) action: Action,
}

/// A simulated execution.
#[expect(clippy::struct_excessive_bools, reason = "they are independent facts")]
pub(super) struct World {
    pub(super) lifecycle: Lifecycle,
    processes: Vec<Process>,
    base: Instant,
    pub(super) now: u64,
    limited: bool,
    exceeds: bool,
    started: bool,
    streams_reported_closed: bool,
    pub(super) done: Vec<Done>,
}

impl World {
    /// Lets an execution run until nothing more happens.
    pub(super) fn run(setup: &Setup) -> Self {
        let base = Instant::now();
        let mut world = Self {
            lifecycle: Lifecycle::new(setup.mode, setup.timeouts, CALLER, base),
            processes: setup.processes.clone(),
            base,
            now: 0,
            limited: setup.limited,
            exceeds: false,
            started: false,
            streams_reported_closed: false,
            done: Vec::new(),
        };
        let mut inputs = setup.inputs.clone();
        inputs.sort_by_key(|(at, _)| *at);
        let mut inputs = inputs.into_iter().peekable();
        let (mut ticked_at, mut ticks) = (0, 0);
        loop {
            let input = inputs.peek().map(|(at, _)| *at);
            let next = [input, world.next_exit(), world.deadline()].into_iter().flatten().min();
            let Some(next) = next.filter(|next| *next <= LONGEST_MS) else { break };
            world.now = world.now.max(next);
            if let Some((_, input)) = inputs.next_if(|(at, _)| *at <= world.now) {
                world.take(input);
            } else if world.next_exit().is_some_and(|at| at <= world.now) {
                world.reap();
            } else {
                ticks = if ticked_at == world.now { ticks + 1 } else { 1 };
                ticked_at = world.now;
                assert!(
                    ticks <= MAX_TICKS_AT_ONE_MOMENT,
                    "it spins at {ticked_at} ms: {:?}",
                    world.lifecycle
                );
                world.drive(Event::Tick);
            }
        }
        world
    }

    fn time(&self) -> Instant {
        self.base + ms(self.now)
    }

    /// The lifecycle's deadline, in milliseconds since the beginning.
    fn deadline(&self) -> Option<u64> {
        let deadline = self.lifecycle.deadline()?.saturating_duration_since(self.base);
        Some(u64::try_from(deadline.as_micros().div_ceil(1000)).unwrap())
    }

    fn note(&mut self, note: Note) {
        self.lifecycle.note(note, self.time());
    }

    fn take(&mut self, input: Input) {
        let is_gone = self.done.iter().any(|done| is_last(&done.action));
        match input {
            Input::Start | Input::FailToStart if is_gone => {}
            Input::Start => {
                self.note(Note::Starting { limited: self.limited });
                self.note(Note::Started);
                self.started = true;
            }
            Input::FailToStart => {
                self.note(Note::Starting { limited: self.limited });
                self.drive(Event::NotStarted);
            }
            Input::Stop(urgency) => self.drive(Event::StopAsked(urgency)),
            Input::Release => self.drive(Event::ReleaseAsked),
            Input::CallerGone => self.drive(Event::CallerGone),
            Input::Print => self.note(Note::Output),
            Input::ReaderBehind => self.note(Note::ReaderBehind),
            Input::ReaderCaughtUp => self.note(Note::ReaderCaughtUp),
            Input::Suspend => self.note(Note::Suspended),
            Input::Continue => self.note(Note::Continued),
            Input::ExceedLimit => self.exceeds = true,
        }
    }

    /// Does what the keeper does in `drive.rs`, with fake processes.
    fn drive(&mut self, event: Event) {
        let mut event = event;
        loop {
            let action = self.lifecycle.step(event, self.time());
            if !matches!(action, Action::Nothing | Action::Look(_)) {
                self.done.push(Done { at: self.now, action });
            }
            event = match action {
                Action::Look(look) => Event::Looked(self.remains(look)),
                Action::Terminate => {
                    let now = self.now;
                    self.each_living(|process| {
                        if let Some(after) = process.term_ms {
                            process.dies(now + after, Exit::Signal(15));
                        }
                    });
                    Event::Looked(self.remains(Look::Cached))
                }
                Action::Measure => {
                    let exceeded = self.exceeds.then_some(EXCEEDED);
                    Event::Measured { exceeded, took: Duration::ZERO }
                }
                Action::Kill(_) => {
                    let now = self.now;
                    self.each_living(|process| {
                        process.dies(now.max(process.unkillable_until), Exit::Signal(9));
                    });
                    return;
                }
                Action::Nothing | Action::AnswerRunning { .. } | Action::End { .. } | Action::Remove => {
                    return;
                }
            };
        }
    }

    fn each_living(&mut self, act: impl Fn(&mut Process)) {
        self.processes.iter_mut().filter(|process| !process.dead).for_each(act);
    }

    fn living(&self) -> impl Iterator<Item = &Process> {
        self.processes.iter().filter(|process| self.started && !process.dead)
    }

    pub(super) fn has_processes(&self) -> bool {
        self.living().next().is_some()
    }

    fn remains(&self, look: Look) -> Remains {
        let is_claimed = |process: &&Process| process.unclaimed_until <= self.now;
        Remains {
            is_empty: !self.living().any(|process| is_claimed(&process)),
            has_unclaimed: self.living().any(|process| !is_claimed(&process)),
            streams_closed: !self.living().any(|process| process.holds_streams),
            has_unborn: look == Look::WithUnborn
                && self.living().filter(is_claimed).any(|process| process.unborn_until > self.now),
        }
    }

    /// When a process exits next.
    fn next_exit(&self) -> Option<u64> {
        self.living().filter_map(|process| process.exits).map(|(at, _)| at).min()
    }

    /// Reaps the first process that has exited, and tells the lifecycle what the keeper would.
    fn reap(&mut self) {
        let now = self.now;
        let is_dead = |process: &Process| !process.dead && process.exits.is_some_and(|(at, _)| at <= now);
        let Some(index) = self.processes.iter().position(is_dead) else { return };
        let process = &mut self.processes[index];
        process.dead = true;
        let (_, exit) = process.exits.unwrap();
        let claimed = process.unclaimed_until <= now;
        let root_is_dead = self.processes[0].dead;
        // The keeper adds up what it reaps. A child whose parent lives is reaped by its parent.
        if claimed && (index == 0 || root_is_dead) {
            self.note(Note::UsageAdded);
        }
        if index == 0 {
            self.drive(Event::Exited(exit));
        } else if root_is_dead && claimed {
            self.drive(Event::ChildReaped);
        }
        let closed = !self.living().any(|process| process.holds_streams);
        if closed && !std::mem::replace(&mut self.streams_reported_closed, true) {
            self.drive(Event::StreamClosed);
        }
    }

    /// What was done, a line each, without measuring and repeated kills.
    pub(super) fn lines(&self) -> Vec<String> {
        let mut lines: Vec<String> = Vec::new();
        let mut seen = Vec::new();
        for done in &self.done {
            let repeats = matches!(done.action, Action::Kill(_)) && seen.contains(&done.action);
            if !repeats && done.action != Action::Measure {
                seen.push(done.action);
                lines.push(format!("{} {}", done.at, describe(&done.action)));
            }
        }
        if !self.done.iter().any(|done| is_last(&done.action)) {
            let kind = match self.lifecycle.kind() {
                JobKind::Foreground => "foreground",
                JobKind::Job => "job",
                JobKind::Leftover => "leftovers",
            };
            lines.push(format!("goes on: {kind}"));
        }
        lines
    }
}

impl Process {
    fn dies(&mut self, at: u64, exit: Exit) {
        if self.exits.is_none_or(|(planned, _)| planned > at) {
            self.exits = Some((at, exit));
        }
    }
}

/// Whether nothing can follow.
pub(super) fn is_last(action: &Action) -> bool {
    matches!(action, Action::Remove | Action::End { left: Left::Nothing, .. })
}

fn describe(action: &Action) -> String {
    let cause = |cause: &Option<Cause>| match cause {
        None => "",
        Some(Cause::Canceled) => ", canceled",
        Some(Cause::Leftovers) => ", leftovers stopped",
        Some(Cause::TimedOut(Clock::Wall(_))) => ", timeout",
        Some(Cause::TimedOut(Clock::Idle(_))) => ", idle timeout",
        Some(Cause::Limit(_)) => ", limit",
    };
    match action {
        Action::Nothing => "nothing".to_owned(),
        Action::Look(look) => format!("look {look:?}").to_lowercase(),
        Action::Measure => "measure".to_owned(),
        Action::Terminate => "terminate".to_owned(),
        Action::Kill(KillMode::Suspended) => "kill".to_owned(),
        Action::Kill(KillMode::Anyway) => "kill anyway".to_owned(),
        Action::AnswerRunning { state, .. } => format!("answer {state}"),
        Action::Remove => "remove".to_owned(),
        Action::End { caller, state, cause: why, left } => {
            let word = if caller.is_some() { "end" } else { "store end" };
            let left = if *left == Left::Processes { ", processes left" } else { "" };
            format!("{word} {state}{}{left}", cause(why))
        }
    }
}

/// The action as the tables write it.
pub(super) fn text(action: &Action) -> String {
    describe(action)
}

pub(super) fn ended(done: &[Done]) -> Option<(u64, State)> {
    done.iter().find_map(|done| match done.action {
        Action::End { state, .. } => Some((done.at, state)),
        _ => None,
    })
}
