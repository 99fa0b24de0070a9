//! Answers callers, stores the ends of executions that have no caller, and forgets executions.

use tracing::{debug, info, warn};

use super::connection::{ConnectionKey, Unrecorded};
use super::event_loop::Keeper;
use super::lifecycle::{Cause, Left};
use super::run::Run;
use super::tree::RunKey;
use crate::outcome::{Outcome, Process};
use crate::proc;
use crate::stored_end::StoredEnd;
use crate::wire::FromKeeper;
use crate::{ExecId, Spool, State, Stream, job_note};

impl Keeper {
    /// Answers the caller of an execution that goes on as a job.
    pub(super) fn answer_running(&mut self, key: RunKey, caller: ConnectionKey, state: State) {
        self.drain_refusals(key);
        let background = self.living_processes(key);
        let waiting_for_input = self.input_state(key).is_some_and(|input| input.waiting);
        let Some(run) = self.runs.get_mut(&key) else { return };
        info!(id = %run.spec.id, waiting_for_input, "goes on as a job");
        let id = run.spec.id;
        let outcome = Outcome { waiting_for_input, ..run.outcome(state, None, background) };
        self.note_without_caller(id);
        self.hand_to_standby(key);
        // A caller that is gone misses this answer. The end of the job will be stored.
        drop(self.tell_caller(key, Some(caller), outcome, false));
    }

    /// Notes that no caller will record the end of an execution.
    pub(super) fn note_without_caller(&self, id: ExecId) {
        // Where this fails (a full disk) and the keeper is killed, the execution is recorded as lost only when the process
        // that made the call has ended.
        if let Err(error) = job_note::write(self.ends.path(), id) {
            warn!(%id, %error, "it can't be noted that it has no caller");
        }
    }

    /// Tells the end of an execution, or stores it when it has no caller.
    pub(super) fn end(
        &mut self,
        key: RunKey,
        caller: Option<ConnectionKey>,
        (state, cause): (State, Option<Cause>),
        left: Left,
    ) {
        self.drain_waiting(key);
        self.drain_refusals(key);
        self.keep_tails(key);
        let background = if left == Left::Nothing { Vec::new() } else { self.living_processes(key) };
        if left == Left::Processes {
            self.save_output(key);
        }
        let last = left == Left::Nothing && self.connections.len() == 1 && self.runs.len() == 1;
        let Some(run) = self.runs.get_mut(&key) else { return };
        let outcome = run.outcome(state, cause, background);
        info!(id = %run.spec.id, ?state, ?cause, exit = ?outcome.exit, ?left, "execution ended");
        run.ended = Some(Box::new(outcome.clone()));
        if left == Left::Nothing {
            // No process is left that could be refused anything.
            run.launcher = None;
        }
        let untold = self.tell_caller(key, caller, outcome, last);
        if untold.is_some() {
            self.save_output(key);
        }
        if let (Some(outcome), Some(run)) = (untold, self.runs.get(&key)) {
            // Where this fails (a full disk), the next front end that opens the record finds that no keeper holds the
            // execution, and records it as lost.
            match run.stored_end(outcome).write(self.ends.path(), run.spec.id) {
                Ok(()) => debug!(id = %run.spec.id, "the end was stored: there is no caller"),
                Err(error) => warn!(id = %run.spec.id, %error, "the end can't be stored"),
            }
        }
        match left {
            Left::Nothing => self.remove(key),
            Left::Processes => self.hand_to_standby(key),
        }
    }

    /// Gives the caller its answer. Returns the answer when there is no caller to take it.
    fn tell_caller(
        &mut self,
        key: RunKey,
        caller: Option<ConnectionKey>,
        outcome: Outcome,
        last: bool,
    ) -> Option<Outcome> {
        let run = self.runs.get_mut(&key)?;
        let (id, has_ended) = (run.spec.id, run.ended.is_some());
        let Some(caller) = caller else { return Some(outcome) };
        let Some(connection) = self.connections.get_mut(&caller) else { return Some(outcome) };
        let memory = run.take_memory();
        connection.confirm();
        connection.run = None;
        connection.unrecorded =
            has_ended.then(|| Unrecorded { id, end: StoredEnd::now(outcome.clone()), memory });
        connection.send(&FromKeeper::Ended { outcome: Box::new(outcome), last });
        self.adjust_interest(caller);
        // The caller no longer reads its output, so it can't be too slow for it.
        self.resume_pipes(key);
        self.make_pipes_ready();
        None
    }

    /// The living processes of an execution.
    pub(super) fn living_processes(&self, key: RunKey) -> Vec<Process> {
        let members = self.trees.members(key);
        let has_pod = self.confined.init().is_some();
        let session_pid = |pid| if has_pod { proc::of(pid).innermost_pid().unwrap_or(pid) } else { pid };
        let named = |pid| Process { pid, session_pid: session_pid(pid), command: proc::of(pid).command() };
        members.iter().map(|member| named(member.pid)).collect()
    }

    /// Stores the last bytes of streams whose spool files are full.
    pub(super) fn keep_tails(&self, key: RunKey) {
        let Some(run) = self.runs.get(&key) else { return };
        let Some(sources) = &run.sources else { return };
        for (stream, source) in Stream::BOTH.into_iter().zip(sources.both()) {
            let tail = source.tail();
            if !tail.is_empty() {
                // Where this fails (a full disk), only the answer has the tail.
                if let Err(error) = Spool::keep_tail(&self.spool, run.spec.id, stream, tail) {
                    warn!(id = %run.spec.id, %error, "the last bytes of its output can't be stored");
                }
            }
        }
    }

    /// Forgets an execution that has ended and has no process left.
    pub(super) fn remove(&mut self, key: RunKey) {
        self.drain_waiting(key);
        self.drain_refusals(key);
        self.keep_tails(key);
        self.send_end_to_watchers(key);
        self.forget_pipes(key);
        self.stdins.remove(&key);
        if let Some(mut enforcer) = self.runs.remove(&key).and_then(|run| run.enforcer) {
            enforcer.remove_groups();
        }
        self.withdraw_from_standby(key);
        self.answer_input_senders(key);
        self.unpruned.executions += 1;
        self.prune_if_due();
        self.answer_stop_requests();
    }
}

impl Keeper {
    /// The id of an execution, for a line of the log.
    pub(super) fn logged_id(&self, key: RunKey) -> String {
        self.runs.get(&key).map_or_else(|| "unknown".to_owned(), |run| run.spec.id.to_string())
    }
}

impl Run {
    /// Its end, as stored for the record.
    fn stored_end(&self, outcome: Outcome) -> StoredEnd {
        StoredEnd {
            job: !self.lifecycle.ends_with_caller(),
            times: self.times.moments().to_vec(),
            ..StoredEnd::now(outcome)
        }
    }
}
