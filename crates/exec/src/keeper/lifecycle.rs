//! An execution from its turn to its answer.

use std::os::fd::{AsFd, OwnedFd};
use std::time::Instant;

use rustix::pipe::PipeFlags;
use shellgate_sandbox::reap::{End, reap};
use shellgate_sandbox::spawn::{Plan, SpawnError, Step};

use super::event_loop::Keeper;
use super::limit_enforcer::{self, LimitEnforcer};
use super::orphans::Recognised;
use super::run::{Cause, GRACE, LONGEST_GRACE, LOOK_AGAIN, Phase};
use super::stream::Source;
use super::terminal::Terminal;
use super::tree::{Reaped, RunKey};
use crate::outcome::{Exit, Failure, plain};
use crate::wire::Urgency;
use crate::{PerStream, State};

impl Keeper {
    /// Starts whoever waits and has a place, first come first served.
    pub(super) fn start_waiting(&mut self) {
        while let Some(&key) = self.waiting.front() {
            let Some(run) = self.runs.get(&key) else {
                self.waiting.pop_front();
                continue;
            };
            let most = usize::try_from(run.spec.max_running.max(1)).unwrap_or(usize::MAX);
            if self.runs.values().filter(|run| run.occupies_a_place()).count() >= most {
                return;
            }
            self.waiting.pop_front();
            self.start(key);
        }
    }

    fn start(&mut self, key: RunKey) {
        let stdin = self.stdins.remove(&key);
        self.move_on(key, State::Starting);
        let Some(run) = self.runs.get_mut(&key) else { return };
        let now = Instant::now();
        (run.started, run.last_output, run.phase) = (now, now, Phase::Running);
        run.enforcer = LimitEnforcer::new(&run.spec, &self.ends, now);
        let spec = &run.spec;
        let mut limits = spec.soft_limits.changes_from(&self.limits);
        limits.extend(run.enforcer.iter().flat_map(|enforcer| enforcer.rlimits(&limits)).collect::<Vec<_>>());
        let groups = run.enforcer.as_ref().map_or_else(Vec::new, |enforcer| enforcer.groups().entries());
        let streams = match spec.terminal {
            None => pipes(spec.capture_bytes),
            Some(size) => Terminal::open(size, spec.capture_bytes).map_err(no_stream),
        };
        let spawned = streams.and_then(|streams| {
            let Streams { sources, ends, terminal } = streams;
            let seat = terminal.as_ref().map(|_| &ends.stdout);
            let stdin = stdin.as_ref().or(seat).unwrap_or(&self.null);
            let plan = Plan {
                program: &spec.program,
                argv: &spec.argv,
                env: &spec.env,
                directory: &spec.directory,
                stdio: [stdin.as_fd(), ends.stdout.as_fd(), ends.stderr.as_fd()],
                terminal: seat.map(AsFd::as_fd),
                umask: spec.umask,
                limits: &limits,
                tag: Some(spec.id.tag()),
                groups: &groups,
            };
            Ok((limit_enforcer::spawn(&mut self.spawner, plan)?, sources, terminal))
        });
        match spawned {
            Ok(((pid, grouped), sources, terminal)) => {
                let pid = pid.as_raw_nonzero().get().unsigned_abs();
                run.pid = Some(pid);
                self.trees.add_root(pid, key);
                run.sources = Some(sources);
                run.terminal = terminal;
                if let (Some(enforcer), false) = (&mut run.enforcer, grouped) {
                    enforcer.let_go();
                }
                self.move_on(key, State::Running);
                self.open_pipes(key);
            }
            Err(error) => {
                run.failure = Some(failure(&error));
                self.answer(key, State::Failed);
            }
        }
    }

    /// Reaps every child that has ended, then looks at their executions.
    pub(super) fn reap(&mut self) {
        self.reap_the_dead();
        self.look_at_the_dead();
    }

    /// Reaps every child that has ended, for [`look_at_the_dead`](Self::look_at_the_dead).
    pub(super) fn reap_the_dead(&mut self) {
        self.recognised = None;
        self.claim_the_dead();
        let has_no_children = loop {
            match reap() {
                Ok(Some(dead)) => {
                    let pid = dead.pid.as_raw_nonzero().get().unsigned_abs();
                    if let Some((key, what)) = self.trees.reaped(pid) {
                        self.release_standby(pid, dead.end);
                        self.record_exit(key, &dead);
                        self.dead.push((key, what, exit(dead.end)));
                    }
                }
                Ok(None) => break false,
                Err(error) => break error.raw_os_error() == Some(rustix::io::Errno::CHILD.raw_os_error()),
            }
        };
        // The kernel says for nothing what reading `/proc` would tell: after most commands nobody is left.
        self.trees.has_no_children = has_no_children;
    }

    /// Looks at the executions of children that have ended.
    pub(super) fn look_at_the_dead(&mut self) {
        // A tree that forks and exits may have left us thousands: look at each execution once.
        let mut orphaned: Vec<RunKey> = Vec::new();
        for (key, what, exit) in std::mem::take(&mut self.dead) {
            match what {
                Reaped::Root => self.program_ended(key, exit),
                Reaped::Orphan if orphaned.contains(&key) => {}
                Reaped::Orphan => orphaned.push(key),
            }
        }
        for key in orphaned {
            self.look_at(key, Instant::now());
        }
    }

    fn program_ended(&mut self, key: RunKey, exit: Exit) {
        if let Some(terminal) = self.runs.get_mut(&key).and_then(|run| run.terminal.as_mut()) {
            terminal.let_go();
        }
        self.drain_waiting(key);
        let now = Instant::now();
        let Some(run) = self.runs.get_mut(&key) else { return };
        run.exit = Some(exit);
        if run.phase == Phase::Running {
            run.phase = if run.caller.is_some() { Phase::settling(now) } else { Phase::Left };
        }
        self.look_at(key, now);
    }

    /// Looks at every execution whose time has come.
    pub(super) fn look_at_clocks(&mut self, now: Instant) {
        let due = self.runs.iter().filter(|(_, run)| run.deadline().is_some_and(|deadline| deadline <= now));
        let due: Vec<RunKey> = due.map(|(key, _)| *key).collect();
        for key in due {
            self.look_at(key, now);
        }
    }

    /// Moves an execution on, if it is time to.
    pub(super) fn look_at(&mut self, key: RunKey, now: Instant) {
        if self.ends_by_limit(key, now) {
            return;
        }
        let Some(run) = self.runs.get_mut(&key) else { return };
        match run.phase {
            Phase::Waiting => {
                if run.answer_due().is_some_and(|due| due <= now) {
                    self.release(key, State::Queued);
                }
            }
            Phase::Running => {
                if let Some(clock) = run.expired(now) {
                    self.stop(key, Cause::TimedOut(clock), Urgency::Politely);
                } else if run.answer_due().is_some_and(|due| due <= now) {
                    self.release(key, State::Running);
                }
            }
            Phase::Settling { since, look } => self.settle(key, since, look, now),
            Phase::Stopping { .. } => self.go_on_stopping(key, now),
            Phase::Left => {
                let expired = run.expired(now).filter(|_| !run.was_foreground());
                self.claim_orphans();
                if self.trees.is_empty(key) {
                    self.end_of_job(key);
                } else if let Some(clock) = expired {
                    self.stop(key, Cause::TimedOut(clock), Urgency::Politely);
                }
            }
        }
    }

    /// The program has ended. Answer at once when all is said and nobody is left, else after the grace.
    fn settle(&mut self, key: RunKey, since: Instant, look: Instant, now: Instant) {
        // A stranger may turn out to be a child of this one, so its time isn't over before the grace is.
        let recognised = self.claim_orphans();
        let gone = self.trees.is_empty(key) && (recognised == Recognised::All || now >= look);
        let Some(run) = self.runs.get_mut(&key) else { return };
        let all_said =
            run.sources.as_ref().is_none_or(|sources| sources.both().iter().all(|s| s.is_closed()));
        let end = run.natural_end();
        if gone && all_said {
            return self.answer(key, end);
        }
        if now < look {
            return;
        }
        if let Some(due) = run.answer_due()
            && !gone
            && !run.was_foreground()
        {
            // A background start that left a tree: the tree is the job, and an early end of it is still news.
            if now < due {
                run.phase = Phase::Settling { since, look: due.min(now + GRACE) };
                return;
            }
            return self.release(key, State::Running);
        }
        let unborn = self.trees.members(key).iter().any(|member| member.stat.is_unborn());
        let Some(run) = self.runs.get_mut(&key) else { return };
        if unborn && now < since + LONGEST_GRACE {
            run.phase = Phase::Settling { since, look: now + LOOK_AGAIN };
            return;
        }
        self.answer(key, end);
    }

    fn move_on(&mut self, key: RunKey, to: State) {
        let Some(run) = self.runs.get_mut(&key) else { return };
        match run.state.advance(to) {
            Ok(()) => self.tell_state(key, to),
            // Unreachable by the order of calls above; a wrong state is not told.
            Err(illegal) => debug_assert!(false, "{illegal}"),
        }
    }
}

/// What a command writes to, and what we read of it.
pub(super) struct Streams {
    pub(super) sources: PerStream<Source>,
    pub(super) ends: PerStream<OwnedFd>,
    pub(super) terminal: Option<Terminal>,
}

fn pipes(limit: u64) -> Result<Streams, SpawnError> {
    let pipe = || -> rustix::io::Result<_> {
        let (ours, theirs) = rustix::pipe::pipe_with(PipeFlags::CLOEXEC)?;
        // Ours alone: a command that finds its own end non-blocking loses output.
        rustix::fs::fcntl_setfl(&ours, rustix::fs::OFlags::NONBLOCK)?;
        Ok((ours, theirs))
    };
    let (out, out_end) = pipe().map_err(no_stream)?;
    let (err, err_end) = pipe().map_err(no_stream)?;
    let sources = PerStream { stdout: Source::new(out, limit), stderr: Source::new(err, limit) };
    Ok(Streams { sources, ends: PerStream { stdout: out_end, stderr: err_end }, terminal: None })
}

fn no_stream(errno: rustix::io::Errno) -> SpawnError {
    SpawnError { step: Step::Clone, source: errno.into() }
}

fn failure(error: &SpawnError) -> Failure {
    let message = plain(&error.source);
    match error.step {
        Step::Exec => Failure::NotExecuted { errno: error.source.raw_os_error().unwrap_or(0), message },
        Step::Directory => Failure::NoDirectory { message },
        Step::Clone | Step::Groups | Step::Parent | Step::Descriptors => Failure::NoProcess { message },
    }
}

const fn exit(end: End) -> Exit {
    match end {
        End::Code(code) => Exit::Code(code),
        End::Signal(signal) => Exit::Signal(signal),
    }
}
