//! Handles the messages of front ends, until they close their connections.

use std::fs::File;
use std::time::Instant;

use tracing::{debug, info, warn};

use super::connection::{ConnectionKey, Stopping, Unrecorded};
use super::event_loop::Keeper;
use super::lifecycle::{Event, may_add_job};
use super::memory::MAX_MEMORY_TIME;
use super::run::Run;
use super::tree::RunKey;
use crate::outcome::Failure;
use crate::spool::copy_to_files;
use crate::wire::{FromKeeper, SpoolKind, ToKeeper, Urgency};
use crate::{PerStream, Spec};

/// Why a command isn't started though its request arrived.
const NO_DESCRIPTORS: &str =
    "the keeper has no descriptors left for another command: stop a job, or raise the limit of open files";

impl Keeper {
    pub(super) fn handle(&mut self, key: ConnectionKey, message: ToKeeper) {
        match message {
            ToKeeper::Hold => {}
            ToKeeper::Recorded => {
                if let Some(connection) = self.connections.get_mut(&key) {
                    connection.unrecorded = None;
                }
            }
            ToKeeper::ListExecutions => {
                let held = self
                    .runs
                    .values()
                    .filter(|run| !run.lifecycle.has_ended())
                    .map(|run| run.spec.id)
                    .collect();
                if let Some(connection) = self.connections.get_mut(&key) {
                    connection.confirm();
                    connection.send(&FromKeeper::Executions(held));
                }
            }
            ToKeeper::MakeReady => self.make_ready(key),
            ToKeeper::Jobs => self.tell_jobs(key),
            ToKeeper::Watch(id) => self.watch(key, id),
            ToKeeper::Release(id) => self.release_this(key, id),
            ToKeeper::Start { mut spec, parts, stdin, spool } => {
                let Some(connection) = self.connections.get_mut(&key) else { return };
                match connection.known.complete(&mut spec, parts) {
                    true => self.enqueue(key, *spec, stdin, spool),
                    false => self.close_connection(key),
                }
            }
            ToKeeper::Stop(id, urgency) => {
                let run = self.connections.get(&key).and_then(|connection| connection.run);
                let run = run.filter(|run| self.runs.get(run).is_some_and(|run| run.spec.id == id));
                if let Some(run) = run {
                    self.stop(run, urgency);
                }
            }
            ToKeeper::Type(id, input) => self.take_input(key, id, input),
            ToKeeper::DescribeInput(id) => self.describe_input(key, id),
            ToKeeper::StopThis(id, urgency) => self.stop_this(key, id, urgency),
            ToKeeper::StopSession(urgency) => {
                info!(connection = key, ?urgency, executions = self.runs.len(), "asked to stop the session");
                let executions = u32::try_from(self.runs.len()).unwrap_or(u32::MAX);
                if let Some(connection) = self.connections.get_mut(&key) {
                    connection.stopping = Some(Stopping::Session(executions));
                }
                self.stop_session(urgency);
                self.answer_stop_requests();
            }
        }
    }

    fn enqueue(&mut self, key: ConnectionKey, spec: Spec, stdin: bool, spool: Result<SpoolKind, String>) {
        let run = self.new_key();
        let Some(connection) = self.connections.get_mut(&key) else { return };
        if connection.run.is_some() {
            return self.close_connection(key);
        }
        if !self.spares.are_complete() {
            connection.send(&FromKeeper::Unable(NO_DESCRIPTORS.to_owned()));
            return self.close_connection(key);
        }
        connection.run = Some(run);
        // Its files are closed when the command has been started.
        let _recorded = connection.unrecorded.take();
        if stdin {
            let Some(stdin) = connection.descriptor() else {
                connection
                    .send(&FromKeeper::Unable("no descriptor is left for its standard input".to_owned()));
                return self.close_connection(key);
            };
            self.stdins.insert(run, stdin);
        }
        let is_in_memory = spool == Ok(SpoolKind::Memory);
        let spool = spool.and_then(|_| match (connection.descriptor(), connection.descriptor()) {
            (Some(stdout), Some(stderr)) => {
                Ok(PerStream { stdout: File::from(stdout), stderr: File::from(stderr) })
            }
            _ => Err("no descriptor is left for its files".to_owned()),
        });
        let jobs = self.runs.values().filter(|run| run.lifecycle.counts_as_job()).count();
        let is_job = matches!(spec.mode, crate::Mode::Background { .. });
        let too_many = is_job && !may_add_job(jobs, spec.max_jobs);
        let failure = too_many.then_some(Failure::TooManyJobs { limit: spec.max_jobs });
        let now = Instant::now();
        debug!(id = %spec.id, connection = key, is_job, stdin, "execution accepted");
        if let Err(reason) = &spool {
            warn!(id = %spec.id, %reason, "the output has no files");
        }
        let in_memory_until = is_in_memory.then(|| now + MAX_MEMORY_TIME);
        self.runs.insert(run, Run { failure, in_memory_until, ..Run::new(spec, spool, key, now) });
        if too_many {
            return self.drive(run, Event::NotStarted, now);
        }
        self.queue.push(run);
        self.start_queued();
    }

    /// Forgets the connection of a front end that is gone. A foreground execution that it waited for is stopped.
    pub(super) fn close_connection(&mut self, key: ConnectionKey) {
        let Some(mut connection) = self.connections.remove(&key) else { return };
        debug!(connection = key, "front end is gone");
        if let Some(watched) = connection.watching.and_then(|run| self.runs.get_mut(&run)) {
            watched.watchers.retain(|watcher| *watcher != key);
        }
        // Closing it isn't enough: the process that forked the keeper has a copy of the first connection, so `epoll` would
        // report its end again and again.
        self.events.forget(&connection);
        if let Some(Unrecorded { id, end, memory }) = connection.unrecorded.take() {
            match memory.map(|memory| copy_to_files(&self.spool, id, &memory)) {
                // The front end has saved it, and did not say so any more.
                Some(Err(error)) if error.kind() == std::io::ErrorKind::AlreadyExists => {}
                Some(Err(error)) => warn!(%id, %error, "the output can't be saved"),
                Some(Ok(_)) | None => {}
            }
            // Where this fails, the next front end that opens the record finds that no keeper holds the execution, and
            // records it as lost.
            match end.write(self.ends.path(), id) {
                Ok(()) => debug!(%id, "the end was stored: its caller did not record it"),
                Err(error) => warn!(%id, %error, "the end can't be stored"),
            }
        }
        let Some(key) = connection.run else { return };
        if let Some(run) = self.runs.get(&key) {
            self.note_without_caller(run.spec.id);
        }
        self.resume_pipes(key);
        self.drive(key, Event::CallerGone, Instant::now());
    }

    pub(super) fn stop_session(&mut self, urgency: Urgency) {
        // First, because the children of an execution that is stopped may be unclaimed orphans for a moment.
        self.recognised = None;
        self.claim_orphans();
        self.trees.kill_unclaimed();
        let runs: Vec<RunKey> = self.runs.keys().copied().collect();
        for run in runs {
            self.stop(run, urgency);
        }
    }
}
