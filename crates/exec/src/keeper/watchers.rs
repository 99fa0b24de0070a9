//! What others than its caller learn of an execution: that it is there, what it prints, how it ends.

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
    /// The execution with this name.
    pub(super) fn run_called(&self, id: ExecId) -> Option<RunKey> {
        self.runs.iter().find(|(_, run)| run.spec.id == id).map(|(key, _)| *key)
    }

    /// Says what there is to know about everything that is held.
    pub(super) fn tell_jobs(&mut self, to: ConnectionKey) {
        self.claim_orphans();
        let keys: Vec<RunKey> = self.runs.keys().copied().collect();
        let jobs = keys.into_iter().filter_map(|key| self.job(key)).collect();
        self.tell(to, &FromKeeper::Jobs(jobs));
    }

    /// Begins to tell a connection of an execution.
    pub(super) fn watch(&mut self, watcher: ConnectionKey, id: ExecId) {
        self.claim_orphans();
        let Some(key) = self.run_called(id) else { return self.tell(watcher, &FromKeeper::Watched(None)) };
        // What is in the pipes now belongs to what was printed before.
        self.drain_waiting(key);
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
        let input = self.input_state(key);
        let terminal = input.as_ref().and_then(|input| match input.kind {
            InputKind::Terminal { size, .. } => Some(size),
            InputKind::Closed => None,
        });
        let waiting_for_input = input.is_some_and(|input| input.waiting);
        let job = self.runs.get(&key)?.job(self.living(key));
        Some(Job { terminal, waiting_for_input, ..job })
    }

    /// Answers whoever waits for an execution, and lets it go on.
    pub(super) fn release_this(&mut self, from: ConnectionKey, id: ExecId) {
        let key = self.run_called(id);
        if let Some(key) = key {
            self.drive(key, Event::ReleaseAsked, Instant::now());
        }
        self.tell(from, &FromKeeper::Released(key.is_some()));
    }

    /// Tells watchers of new bytes in the file.
    pub(super) fn tell_watchers(&mut self, key: RunKey, stream: Stream, from: u64, to: u64) {
        let watched = |run: &&Run| !run.watchers.is_empty() && from < to;
        let Some(run) = self.runs.get(&key).filter(watched) else { return };
        for watcher in run.watchers.clone() {
            if let Some(connection) = self.connections.get_mut(&watcher) {
                connection.spooled(stream, from, to);
                self.adjust_interest(watcher);
            }
        }
    }

    /// What no file keeps goes to those who watch as it is, while they can follow: they hold nobody up.
    pub(super) fn show_watchers(&mut self, key: RunKey, stream: Stream, offset: u64, unkept: Range<usize>) {
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

    /// Nothing is left of it: those who watched learn how it ended.
    pub(super) fn tell_watchers_of_the_end(&mut self, key: RunKey) {
        let Some(run) = self.runs.get_mut(&key) else { return };
        let watchers = std::mem::take(&mut run.watchers);
        let Some(mut outcome) = run.ended.clone() else { return };
        // What it left may have printed more since.
        if let Some(output) = run.output() {
            outcome.output = output;
        }
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
            connection.greet();
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
            // A state that is final is its command's; what that left behind goes on.
            state: if kind == JobKind::Leftover { State::Running } else { self.lifecycle.state() },
            kind,
            pid: self.pid,
            exit: self.lifecycle.exit(),
            age: now.saturating_duration_since(self.lifecycle.started()),
            silence: now.saturating_duration_since(self.lifecycle.last_output()),
            printed: printed.unwrap_or_default(),
            processes,
            times: Vec::new(),
            terminal: None,
            waiting_for_input: false,
        }
    }
}
