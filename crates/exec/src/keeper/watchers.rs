//! Tells front ends about executions of which they are not the caller.

use std::ops::Range;
use std::time::Instant;

use super::connection::ConnectionKey;
use super::event_loop::Keeper;
use super::lifecycle::Event;
use super::run::Run;
use super::tree::RunKey;
use crate::input::InputKind;
use crate::job::{Job, JobKind};
use crate::outcome::Process;
use crate::wire::FromKeeper;
use crate::{ExecId, PerStream, State, Stream};

impl Keeper {
    /// The key of the execution with this name.
    pub(super) fn find_run(&self, id: ExecId) -> Option<RunKey> {
        self.runs.iter().find(|(_, run)| run.spec.id == id).map(|(key, _)| *key)
    }

    /// Sends the details of all executions.
    pub(super) fn tell_jobs(&mut self, to: ConnectionKey) {
        self.claim_orphans();
        let keys: Vec<RunKey> = self.runs.keys().copied().collect();
        keys.iter().for_each(|key| self.save_output(*key));
        let jobs = keys.into_iter().filter_map(|key| self.job(key)).collect();
        self.tell(to, &FromKeeper::Jobs(jobs));
    }

    /// Makes a connection a watcher of an execution.
    pub(super) fn watch(&mut self, watcher: ConnectionKey, id: ExecId) {
        self.claim_orphans();
        let Some(key) = self.find_run(id) else { return self.tell(watcher, &FromKeeper::Watched(None)) };
        // What is in the pipes now was printed before the watcher came.
        self.drain_waiting(key);
        self.save_output(key);
        let Some(job) = self.job(key) else { return };
        let Some(run) = self.runs.get_mut(&key) else { return };
        run.watchers.push(watcher);
        let job = Job { times: run.times.moments().to_vec(), ..job };
        if let Some(connection) = self.connections.get_mut(&watcher) {
            connection.watching = Some(key);
        }
        self.tell(watcher, &FromKeeper::Watched(Some(Box::new(job))));
    }

    fn job(&mut self, key: RunKey) -> Option<Job> {
        self.keep_tails(key);
        self.drain_refusals(key);
        let input = self.input_state(key);
        let terminal = input.as_ref().and_then(|input| match input.kind {
            InputKind::Terminal { size, .. } => Some(size),
            InputKind::Closed => None,
        });
        let waiting_for_input = input.is_some_and(|input| input.waiting);
        let job = self.runs.get(&key)?.job(self.living_processes(key));
        Some(Job { terminal, waiting_for_input, ..job })
    }

    /// Answers the caller of an execution, which goes on as a job.
    pub(super) fn release_this(&mut self, from: ConnectionKey, id: ExecId) {
        let key = self.find_run(id);
        if let Some(key) = key {
            self.drive(key, Event::ReleaseAsked, Instant::now());
        }
        self.tell(from, &FromKeeper::Released(key.is_some()));
    }

    /// Sends a range of new bytes in the file to watchers.
    pub(super) fn send_range_to_watchers(&mut self, key: RunKey, stream: Stream, from: u64, to: u64) {
        let watched = |run: &&Run| !run.watchers.is_empty() && from < to;
        let Some(run) = self.runs.get(&key).filter(watched) else { return };
        for watcher in run.watchers.clone() {
            if let Some(connection) = self.connections.get_mut(&watcher) {
                connection.spooled(stream, from, to);
                self.adjust_interest(watcher);
            }
        }
    }

    /// Sends bytes that are in no file to watchers. A watcher that can't keep up misses them: watchers never slow a command.
    pub(super) fn send_bytes_to_watchers(
        &mut self,
        key: RunKey,
        stream: Stream,
        offset: u64,
        unkept: Range<usize>,
    ) {
        let Some(run) = self.runs.get(&key).filter(|run| !run.watchers.is_empty()) else { return };
        let Some(bytes) = self.buffer.get(unkept).filter(|bytes| !bytes.is_empty()) else { return };
        let message = FromKeeper::Bytes { stream, offset, bytes: bytes.to_vec() };
        for watcher in run.watchers.clone() {
            if let Some(connection) = self.connections.get_mut(&watcher).filter(|one| one.has_room()) {
                connection.send(&message);
                self.adjust_interest(watcher);
            }
        }
    }

    /// Sends the end to watchers, when no process is left.
    pub(super) fn send_end_to_watchers(&mut self, key: RunKey) {
        let Some(run) = self.runs.get_mut(&key) else { return };
        let watchers = std::mem::take(&mut run.watchers);
        let Some(mut outcome) = run.ended.clone() else { return };
        // Leftover processes may have printed more since.
        if let Some(output) = run.output() {
            outcome.output = output;
        }
        outcome.denials.clone_from(&run.denials);
        outcome.background.clear();
        for watcher in watchers {
            if let Some(connection) = self.connections.get_mut(&watcher) {
                connection.watching = None;
            }
            self.tell(watcher, &FromKeeper::Ended { outcome: outcome.clone(), last: false });
        }
    }

    fn tell(&mut self, to: ConnectionKey, message: &FromKeeper) {
        if let Some(connection) = self.connections.get_mut(&to) {
            connection.confirm();
            connection.send(message);
            self.adjust_interest(to);
        }
    }
}

impl Run {
    fn job(&self, processes: Vec<Process>) -> Job {
        let now = Instant::now();
        let printed = self
            .sources
            .as_ref()
            .map(|sources| PerStream { stdout: sources.stdout.total(), stderr: sources.stderr.total() });
        let kind = self.lifecycle.kind();
        Job {
            id: self.spec.id,
            // The final state is that of the command. Its leftover processes are running.
            state: if kind == JobKind::Leftover { State::Running } else { self.lifecycle.state() },
            kind,
            pid: self.pid,
            session_pid: self.session_pid,
            exit: self.lifecycle.exit(),
            age: now.saturating_duration_since(self.lifecycle.started()),
            silence: now.saturating_duration_since(self.lifecycle.last_output()),
            printed: printed.unwrap_or_default(),
            processes,
            times: Vec::new(),
            terminal: None,
            waiting_for_input: false,
            denials: self.denials.clone(),
            effects: self.effects.clone(),
        }
    }
}
