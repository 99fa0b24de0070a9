//! Starts executions whose turn has come.

use std::ffi::{CStr, CString, OsStr};
use std::os::fd::{AsFd, OwnedFd};
use std::os::unix::ffi::OsStrExt as _;
use std::path::PathBuf;
use std::time::Instant;

use rustix::pipe::PipeFlags;
use shellgate_sandbox::pod::ConfineError;
use shellgate_sandbox::spawn::{Plan, SpawnError, Step};
use shellgate_sandbox::trace::Tracer;
use tracing::{info, trace, warn};

use super::confined::{ConfinedError, Launch};
use super::connection::ConnectionKey;
use super::event_loop::Keeper;
use super::guard::FirstProgram;
use super::lifecycle::{Event, Note};
use super::limit_enforcer::{self, LimitEnforcer};
use super::stream::Source;
use super::terminal::Terminal;
use super::tree::RunKey;
use crate::outcome::{Failure, GUARD_LACKS, plain};
use crate::sys::processes;
use crate::{Confinement, Denials, EncodedConfinement, PerStream, Spec, StartedProgram, State, Tracing};

impl Keeper {
    /// Starts the executions whose turn has come.
    pub(super) fn start_queued(&mut self) {
        loop {
            let runs = &self.runs;
            let max_running = |key| runs.get(&key).map(|run| run.spec.max_running);
            let running = || runs.values().filter(|run| run.lifecycle.counts_as_running()).count();
            let Some(key) = self.queue.next(max_running, running) else { return };
            self.start(key);
        }
    }

    /// Makes a process ready for the command that a caller is about to judge: most likely it is like the last one on that
    /// connection.
    pub(super) fn make_ready(&mut self, key: ConnectionKey) {
        let Some(connection) = self.connections.get_mut(&key) else { return };
        // A caller that uses its connection again has recorded what it was told there.
        connection.unrecorded = None;
        let Some((confinement, is_traced)) = connection.known.last() else { return };
        if self.spares.are_complete() {
            self.confined.make_ready(&confinement, is_traced, &mut self.trees);
        }
        self.make_pipes_ready();
    }

    /// Makes the pipes of the next command, while nobody waits for them.
    pub(super) fn make_pipes_ready(&mut self) {
        if self.ready_pipes.is_none() && self.spares.are_complete() {
            self.ready_pipes = Pipes::new().ok();
        }
    }

    fn start(&mut self, key: RunKey) {
        let stdin = self.stdins.remove(&key);
        let Some(run) = self.runs.get_mut(&key) else { return };
        let now = Instant::now();
        run.enforcer = LimitEnforcer::new(&run.spec, &self.ends);
        run.lifecycle.note(Note::Starting { limited: run.enforcer.is_some() }, now);
        self.tell_state(key, State::Starting);
        let Some(run) = self.runs.get_mut(&key) else { return };
        if run.spec.may_be_unconfined
            && let Some(confinement) = &run.spec.confinement
            && let Err(error) = self.confined.prepare(confinement, &self.events, &mut self.trees)
        {
            warn!(id = %run.spec.id, %error, "it can't be confined and runs without a sandbox");
            run.unconfined = Some(format!("{}: {}", error.mechanism, why(&error)));
            run.spec.confinement = None;
        }
        if run.spec.may_be_unconfined
            && run.spec.guard.is_some()
            && let Some(why) = self.guard.missing()
            && let Some(confinement) = run.spec.confinement.as_ref().and_then(untraced)
        {
            warn!(id = %run.spec.id, why, "it can't be traced and runs without the guard");
            run.unconfined = Some(format!("{GUARD_LACKS}: {why}), which rules about programs need"));
            run.spec.confinement = Some(confinement);
            run.spec.guard = None;
        }
        let spec = &run.spec;
        if spec.confinement.is_none() {
            self.trees.expect_orphans();
        }
        let mut limits = spec.soft_limits.changes_from(&self.limits);
        limits.extend(run.enforcer.iter().flat_map(|enforcer| enforcer.rlimits(&limits)).collect::<Vec<_>>());
        let groups = run.enforcer.as_ref().map_or_else(Vec::new, |enforcer| enforcer.groups().entries());
        let streams = match (spec.terminal, &spec.confinement) {
            (None, _) => match self.ready_pipes.take().map_or_else(Pipes::new, Ok) {
                Ok(pipes) => Ok(pipes.streams(spec.capture_bytes)),
                Err(errno) => Err(ConfinedError::Spawn(no_stream(errno))),
            },
            (Some(size), confinement) => {
                let failed = |errno| ConfinedError::Spawn(no_stream(errno));
                let master = match confinement {
                    None => Terminal::open_master().map_err(failed),
                    Some(confinement) => {
                        self.confined.open_terminal(confinement, &self.events, &mut self.trees)
                    }
                };
                master.and_then(|master| Terminal::open(master, size, spec.capture_bytes).map_err(failed))
            }
        };
        let argv: Vec<&CStr> = spec.argv.iter().map(CString::as_c_str).collect();
        let env: Vec<&CStr> = spec.env.iter().map(CString::as_c_str).collect();
        let spawned = streams.and_then(|streams| {
            let Streams { sources, ends, terminal } = streams;
            let slave = terminal.as_ref().map(|_| &ends.stdout);
            let stdin = stdin.as_ref().or(slave).unwrap_or(&self.null);
            let plan = Plan {
                program: &spec.program,
                argv: &argv,
                env: &env,
                directory: &spec.directory,
                stdio: [stdin.as_fd(), ends.stdout.as_fd(), ends.stderr.as_fd()],
                terminal: slave.map(AsFd::as_fd),
                umask: spec.umask,
                limits: &limits,
                tag: Some(spec.id.tag()),
                groups: &groups,
            };
            let (spawner, confined) = (&mut self.spawner, &mut self.confined);
            let mut tracer = match &spec.guard {
                Some(rules) if spec.confinement.is_some() => {
                    Some(self.guard.tracer(key, rules, guarded(spec)).map_err(ConfinedError::Spawn)?)
                }
                _ => None,
            };
            let started = limit_enforcer::in_groups(plan, |plan| match &spec.confinement {
                None => spawner.spawn(plan).map_err(ConfinedError::Spawn),
                Some(confinement) => {
                    let tracer = tracer.as_mut().map(|tracer| tracer as &mut dyn Tracer);
                    confined.spawn(confinement, Launch { plan, tracer }, &self.events, &mut self.trees)
                }
            });
            Ok((started?, sources, terminal))
        });
        match spawned {
            Ok(((started, grouped), sources, terminal)) => {
                let pid = number(started.pid);
                run.session_pid = Some(number(started.session_pid));
                info!(id = %run.spec.id, pid, terminal = terminal.is_some(), "spawned");
                trace!(id = %run.spec.id, argv = ?run.spec.argv, directory = ?run.spec.directory, "command");
                run.pid = Some(pid);
                // It may have been made ready before.
                self.trees.remove_helper(pid);
                self.trees.add_root(pid, key);
                if run.spec.confinement.is_some() {
                    run.launcher = self.confined.last_used();
                    run.denials = Some(Denials::default());
                    run.effects = run.spec.observe.then(Box::default);
                }
                // The broker and the guard tell of all others.
                if let (Some(effects), None) = (&mut run.effects, &run.spec.guard) {
                    effects.add_program(first_program(&run.spec, pid));
                }
                run.sources = Some(sources);
                run.terminal = terminal;
                if let (Some(enforcer), false) = (&mut run.enforcer, grouped) {
                    enforcer.remove_groups();
                }
                run.lifecycle.note(Note::Started, now);
                self.tell_state(key, State::Running);
                self.open_pipes(key);
            }
            Err(error) => {
                warn!(id = %run.spec.id, ?error, "not started");
                if matches!(&error, ConfinedError::Spawn(error) if error.step == Step::Answer) {
                    processes::end_tagged(&[run.spec.id.tag().get()]);
                }
                run.failure = Some(failure(&error));
                self.drive(key, Event::NotStarted, now);
            }
        }
    }
}

/// What a command writes to, and what we read of it.
pub(super) struct Streams {
    pub(super) sources: PerStream<Source>,
    pub(super) ends: PerStream<OwnedFd>,
    pub(super) terminal: Option<Terminal>,
}

/// The pipes of a command that has no terminal: our ends and its own.
#[derive(Debug)]
pub(super) struct Pipes(PerStream<(OwnedFd, OwnedFd)>);

impl Pipes {
    fn new() -> rustix::io::Result<Self> {
        let pipe = || {
            let (ours, theirs) = rustix::pipe::pipe_with(PipeFlags::CLOEXEC)?;
            // Ours alone: a command that finds its own end non-blocking loses output.
            rustix::fs::fcntl_setfl(&ours, rustix::fs::OFlags::NONBLOCK)?;
            Ok((ours, theirs))
        };
        Ok(Self(PerStream { stdout: pipe()?, stderr: pipe()? }))
    }

    fn streams(self, limit: u64) -> Streams {
        let PerStream { stdout: (out, out_end), stderr: (err, err_end) } = self.0;
        let sources = PerStream { stdout: Source::new(out, limit), stderr: Source::new(err, limit) };
        Streams { sources, ends: PerStream { stdout: out_end, stderr: err_end }, terminal: None }
    }
}

fn no_stream(errno: rustix::io::Errno) -> SpawnError {
    SpawnError { step: Step::Clone, source: errno.into() }
}

/// The same confinement for a command that isn't traced.
fn untraced(confinement: &EncodedConfinement) -> Option<EncodedConfinement> {
    let confinement = Confinement { tracing: Tracing::No, ..confinement.decode().ok()? };
    EncodedConfinement::new(&confinement).ok()
}

/// The program that a command begins with, for the guard.
fn guarded(spec: &Spec) -> FirstProgram {
    let path = PathBuf::from(OsStr::from_bytes(spec.program.to_bytes()));
    FirstProgram { path, words: spec.argv.iter().map(|word| word.to_string_lossy().into_owned()).collect() }
}

/// The program that a command begins with.
fn first_program(spec: &Spec, pid: u32) -> StartedProgram {
    let text = |word: &CString| word.to_string_lossy().into_owned();
    let words: Vec<String> = spec.argv.iter().map(text).collect();
    let parent = std::process::id();
    StartedProgram { program: text(&spec.program), argv: super::guard::told(&words), pid, parent }
}

fn number(pid: rustix::process::Pid) -> u32 {
    pid.as_raw_nonzero().get().unsigned_abs()
}

fn why(error: &ConfineError) -> String {
    format!("{}: {}", error.detail, plain(&error.source))
}

fn failure(error: &ConfinedError) -> Failure {
    let error = match error {
        ConfinedError::Spawn(error) => error,
        ConfinedError::Confine(error) => {
            return Failure::NotConfined { mechanism: error.mechanism.to_string(), message: why(error) };
        }
    };
    let message = plain(&error.source);
    match error.step {
        Step::Exec => Failure::NotExecuted { errno: error.source.raw_os_error().unwrap_or(0), message },
        Step::Directory => Failure::NoDirectory { message },
        Step::Input => Failure::NoInput,
        Step::Trace => Failure::NotConfined { mechanism: "tracing (ptrace)".to_owned(), message },
        Step::Answer => Failure::LauncherLost,
        Step::Clone | Step::Groups | Step::Parent | Step::Descriptors => Failure::NoProcess { message },
    }
}
