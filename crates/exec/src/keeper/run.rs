//! The data of one execution.

use std::fs::File;
use std::time::Instant;

use super::confined::LauncherKey;
use super::connection::ConnectionKey;
use super::lifecycle::{Cause, Lifecycle, Timeouts};
use super::limit_enforcer::LimitEnforcer;
use super::stream::Source;
use super::terminal::Terminal;
use crate::outcome::{Failure, Outcome, Output, Process};
use crate::output_times::OutputTimes;
use crate::spec::{Follow, PerStream};
use crate::{Denials, Effects, Spec, State};

/// One execution.
#[derive(Debug)]
pub(super) struct Run {
    pub(super) spec: Spec,
    /// Decides what happens to it.
    pub(super) lifecycle: Lifecycle,
    /// Connections, other than its caller's, that are told about it.
    pub(super) watchers: Vec<ConnectionKey>,
    pub(super) pid: Option<u32>,
    /// The process id that commands of the session know it by.
    pub(super) session_pid: Option<u32>,
    pub(super) failure: Option<Failure>,
    pub(super) times: OutputTimes,
    pub(super) sources: Option<PerStream<Source>>,
    /// Its terminal, if it has one.
    pub(super) terminal: Option<Terminal>,
    /// Enforces its resource limits, if it has any.
    pub(super) enforcer: Option<Box<LimitEnforcer>>,
    /// The launcher that started it, if it is confined.
    pub(super) launcher: Option<LauncherKey>,
    /// Why it is not confined, though it was to be.
    pub(super) unconfined: Option<String>,
    /// What the sandbox refused to its processes. `None`: it is not confined.
    pub(super) denials: Option<Denials>,
    /// What its processes did. `None`: it is not observed.
    pub(super) effects: Option<Box<Effects>>,
    /// The spool files, until it is started.
    pub(super) spool: Option<Files>,
    /// Until when its output may stay in memory. `None`: it is in files.
    pub(super) in_memory_until: Option<Instant>,
    /// Its end, once that was told or stored. Leftover processes may go on.
    pub(super) ended: Option<Box<Outcome>>,
}

/// The files for its output, or why there are none.
pub(super) type Files = Result<PerStream<File>, String>;

impl Run {
    pub(super) fn new(spec: Spec, spool: Files, caller: ConnectionKey, now: Instant) -> Self {
        let timeouts = Timeouts { wall: spec.timeout, idle: spec.idle_timeout };
        Self {
            lifecycle: Lifecycle::new(spec.mode, timeouts, caller, now),
            spec,
            watchers: Vec::new(),
            pid: None,
            session_pid: None,
            failure: None,
            times: OutputTimes::default(),
            sources: None,
            terminal: None,
            enforcer: None,
            launcher: None,
            unconfined: None,
            denials: None,
            effects: None,
            spool: Some(spool),
            in_memory_until: None,
            ended: None,
        }
    }

    /// The inode numbers of its pipes, by which a process that writes to one is recognised.
    pub(super) fn pipes(&self) -> [Option<u64>; 2] {
        self.sources.as_ref().map_or([None; 2], |sources| sources.both().map(Source::number))
    }

    /// Whether its caller wants states and output as they come.
    pub(super) fn is_followed(&self) -> bool {
        self.spec.follow == Follow::Closely
    }

    /// Both output streams as they are now.
    pub(super) fn output(&self) -> Option<PerStream<Output>> {
        let sources = self.sources.as_ref()?;
        Some(PerStream { stdout: sources.stdout.output(), stderr: sources.stderr.output() })
    }

    /// The answer for its caller, or for the record.
    pub(super) fn outcome(&self, state: State, cause: Option<Cause>, background: Vec<Process>) -> Outcome {
        let refused = || self.enforcer.as_ref().and_then(|enforcer| enforcer.refused());
        Outcome {
            state,
            pid: self.pid,
            session_pid: self.session_pid,
            // A job is its whole tree: the exit of its first process is not its end.
            exit: self.lifecycle.exit().filter(|_| state.is_final()),
            failure: self.failure.clone(),
            clock: cause.and_then(Cause::clock),
            limit: cause.and_then(Cause::limit).or_else(refused),
            output: self.output().unwrap_or_default(),
            background,
            duration: self.pid.map(|_| self.lifecycle.started().elapsed()).unwrap_or_default(),
            waiting_for_input: false,
            unconfined: self.unconfined.clone(),
            denials: self.denials.clone(),
            effects: self.effects.clone(),
        }
    }
}
