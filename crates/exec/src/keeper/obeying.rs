//! What front ends ask for, from their first word to their going away.

use std::fs::File;
use std::time::Instant;

use super::connection::{ConnectionKey, Stopping};
use super::run::{Cause, Run};
use super::serve::Keeper;
use super::tree::RunKey;
use crate::outcome::{Failure, plain};
use crate::wire::{FromKeeper, ToKeeper, Urgency};
use crate::{PerStream, Spec, State};

impl Keeper {
    pub(super) fn obey(&mut self, key: ConnectionKey, message: ToKeeper) {
        match message {
            ToKeeper::Hold => {}
            ToKeeper::Recorded => {
                if let Some(connection) = self.connections.get_mut(&key) {
                    connection.unrecorded = None;
                }
            }
            ToKeeper::Held => {
                let held = self.runs.values().filter(|run| !run.is_over()).map(|run| run.spec.id).collect();
                if let Some(connection) = self.connections.get_mut(&key) {
                    connection.greet();
                    connection.send(&FromKeeper::Held(held));
                }
            }
            ToKeeper::Jobs => self.tell_jobs(key),
            ToKeeper::Watch(id) => self.watch(key, id),
            ToKeeper::Release(id) => self.release_this(key, id),
            ToKeeper::Start { spec, stdin } => self.enqueue(key, *spec, stdin),
            ToKeeper::Spool(place) => self.take_spool(key, place),
            ToKeeper::Stop(id, urgency) => {
                let run = self.connections.get(&key).and_then(|connection| connection.run);
                let run = run.filter(|run| self.runs.get(run).is_some_and(|run| run.spec.id == id));
                if let Some(run) = run {
                    self.stop(run, Cause::Canceled, urgency);
                }
            }
            ToKeeper::Type(id, input) => self.take_input(key, id, input),
            ToKeeper::Look(id) => self.look_for(key, id),
            ToKeeper::StopThis(id, urgency) => self.stop_this(key, id, urgency),
            ToKeeper::StopSession(urgency) => {
                let executions = u32::try_from(self.runs.len()).unwrap_or(u32::MAX);
                if let Some(connection) = self.connections.get_mut(&key) {
                    connection.stopping = Some(Stopping::Session(executions));
                }
                self.stop_session(urgency);
                self.tell_stoppers();
            }
        }
    }

    fn enqueue(&mut self, key: ConnectionKey, spec: Spec, stdin: bool) {
        let run = self.new_key();
        let Some(connection) = self.connections.get_mut(&key) else { return };
        if connection.run.is_some() {
            return self.farewell(key);
        }
        connection.run = Some(run);
        connection.unrecorded = None;
        if stdin {
            let Some(stdin) = connection.descriptor() else {
                connection
                    .send(&FromKeeper::Unable("no descriptor is left for its standard input".to_owned()));
                return self.farewell(key);
            };
            self.stdins.insert(run, stdin);
        }
        let jobs = self.runs.values().filter(|run| run.caller.is_none()).count();
        let is_job = matches!(spec.mode, crate::Mode::Background { .. });
        let too_many = is_job && u64::from(spec.max_jobs) <= jobs as u64;
        let failure = too_many.then_some(Failure::TooManyJobs { limit: spec.max_jobs });
        self.runs.insert(run, Run { failure, ..Run::new(spec, key, Instant::now()) });
        if too_many {
            return self.answer(run, State::Failed);
        }
        self.waiting.push_back(run);
        self.start_waiting();
    }

    fn take_spool(&mut self, key: ConnectionKey, place: Result<(), String>) {
        let Some(connection) = self.connections.get_mut(&key) else { return };
        let place = match place {
            Err(reason) => Err(reason),
            Ok(()) => match (connection.descriptor(), connection.descriptor()) {
                (Some(stdout), Some(stderr)) => {
                    Ok(PerStream { stdout: File::from(stdout), stderr: File::from(stderr) })
                }
                _ => Err("no descriptor is left for its files".to_owned()),
            },
        };
        let Some(key) = connection.run else { return };
        if let Some(run) = self.runs.get_mut(&key) {
            run.spool = Some(place);
            self.open_pipes(key);
        }
    }

    /// A front end is gone. Whoever waited for an answer wants none any more, so its execution ends.
    pub(super) fn farewell(&mut self, key: ConnectionKey) {
        let Some(mut connection) = self.connections.remove(&key) else { return };
        if let Some(watched) = connection.watching.and_then(|run| self.runs.get_mut(&run)) {
            watched.watchers.retain(|watcher| *watcher != key);
        }
        // Closing it isn't enough: whoever forked us off holds a copy of the first one, and its hang-up would wake us for ever.
        self.events.forget(&connection);
        if let Some((id, ending)) = connection.unrecorded.take() {
            let _ = ending.write(&self.ends, id);
        }
        let Some(key) = connection.run else { return };
        self.make_spool(key);
        let Some(run) = self.runs.get_mut(&key) else { return };
        if run.caller.take().is_some() && run.was_foreground() {
            self.stop(key, Cause::Canceled, Urgency::Politely);
        } else {
            self.resume_pipes(key);
        }
    }

    /// Makes the files for what an execution prints, when its front end was gone before it made them.
    fn make_spool(&mut self, key: RunKey) {
        let Some(run) = self.runs.get_mut(&key) else { return };
        let placed = run.sources.as_ref().is_some_and(|sources| sources.stdout.has_place());
        if !placed && run.spool.is_none() {
            let made = crate::spool::Spool::adopt(&self.spool, run.spec.id);
            run.spool = Some(made.map_err(|error| plain(&error)));
            self.open_pipes(key);
        }
    }

    pub(super) fn stop_session(&mut self, urgency: Urgency) {
        // Before the others: children of whoever ends first would be taken for strangers.
        self.recognised = None;
        self.claim_orphans();
        self.trees.kill_strangers();
        let runs: Vec<RunKey> = self.runs.keys().copied().collect();
        for run in runs {
            self.stop(run, Cause::Canceled, urgency);
        }
    }
}
