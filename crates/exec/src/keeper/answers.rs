//! Telling callers and the record how an execution stands or ended, and letting go of it.

use super::event_loop::Keeper;
use super::run::{Cause, Phase, Run};
use super::tree::RunKey;
use crate::outcome::{Exit, Outcome, Process};
use crate::proc;
use crate::stored_end::StoredEnd;
use crate::wire::FromKeeper;
use crate::{PerStream, Spool, State, Stream};

impl Keeper {
    /// The caller is answered, and the execution goes on without it, as a job.
    pub(super) fn release(&mut self, key: RunKey, state: State) {
        let background = self.living(key);
        let waiting_for_input = self.input_state(key).is_some_and(|seen| seen.waiting);
        let Some(run) = self.runs.get_mut(&key) else { return };
        run.become_job();
        if matches!(run.phase, Phase::Settling { .. }) {
            // The tree is the job.
            run.phase = Phase::Left;
        }
        let outcome = Outcome { waiting_for_input, ..run.outcome(state, background) };
        self.hand_to_standby(key);
        self.tell_caller(key, outcome, false);
    }

    /// It has ended: answers the caller, once, and lets go of the execution if nothing of it is left.
    pub(super) fn answer(&mut self, key: RunKey, state: State) {
        self.keep_tails(key);
        let background = self.living(key);
        let alive = !self.trees.is_empty(key);
        let last = !alive && self.connections.len() == 1 && self.runs.len() == 1;
        let Some(run) = self.runs.get_mut(&key) else { return };
        if run.state.advance(state).is_err() && run.caller.is_some() {
            debug_assert!(false, "{} after {}", state, run.state);
        }
        let outcome = run.outcome(state, background);
        let told_before = run.ended.is_some();
        run.ended.get_or_insert_with(|| Box::new(outcome.clone()));
        // One that is being stopped and won't die goes on being stopped.
        if !alive || !matches!(run.phase, Phase::Stopping { .. }) {
            run.phase = Phase::Left;
        }
        if let Some(outcome) = self.tell_caller(key, outcome, last)
            && !told_before
            && let Some(run) = self.runs.get(&key)
        {
            let _ = run.ending(outcome).write(&self.ends, run.spec.id);
        }
        if alive {
            self.hand_to_standby(key);
        } else {
            self.remove(key);
        }
    }

    /// Gives the caller its answer. Returns it when nobody is there to take it.
    fn tell_caller(&mut self, key: RunKey, outcome: Outcome, last: bool) -> Option<Outcome> {
        let run = self.runs.get_mut(&key)?;
        let id = run.spec.id;
        let ends = run.ended.is_some();
        let Some(caller) = run.caller.take() else { return Some(outcome) };
        let Some(connection) = self.connections.get_mut(&caller) else { return Some(outcome) };
        connection.greet();
        connection.run = None;
        connection.unrecorded = ends.then(|| (id, StoredEnd::now(outcome.clone())));
        connection.send(&FromKeeper::Ended { outcome: Box::new(outcome), last });
        self.adjust_interest(caller);
        // Nobody's slowness holds it up any more.
        self.resume_pipes(key);
        None
    }

    /// The living processes of an execution.
    pub(super) fn living(&self, key: RunKey) -> Vec<Process> {
        let members = self.trees.members(key);
        let named = |pid| Process { pid, command: proc::of(pid).command() };
        members.iter().map(|member| named(member.pid)).collect()
    }

    /// Nobody of it is left: a job whose caller was answered when it ran has ended by itself.
    pub(super) fn end_of_job(&mut self, key: RunKey) {
        self.drain_waiting(key);
        self.keep_tails(key);
        let Some(run) = self.runs.get_mut(&key) else { return };
        if run.ended.is_none() {
            let end = run.natural_end();
            let _ = run.state.advance(end);
            let outcome = run.outcome(end, Vec::new());
            run.ended = Some(Box::new(outcome.clone()));
            let _ = run.ending(outcome).write(&self.ends, run.spec.id);
        }
        self.remove(key);
    }

    /// Keeps the ends of streams whose files are full, for whoever asks later.
    pub(super) fn keep_tails(&self, key: RunKey) {
        let Some(run) = self.runs.get(&key) else { return };
        let Some(sources) = &run.sources else { return };
        for (stream, source) in Stream::BOTH.into_iter().zip(sources.both()) {
            let tail = source.unkept();
            if !tail.is_empty() {
                // A disk without room for it may be why it is needed: then the answer alone has it.
                let _ = Spool::keep_tail(&self.spool, run.spec.id, stream, tail);
            }
        }
    }

    /// Lets go of an execution that nothing is left of.
    fn remove(&mut self, key: RunKey) {
        self.drain_waiting(key);
        self.tell_watchers_of_the_end(key);
        self.forget_pipes(key);
        if let Some(mut enforcer) = self.runs.remove(&key).and_then(|run| run.enforcer) {
            enforcer.let_go();
        }
        self.withdraw_from_standby(key);
        self.answer_input_senders(key);
        self.unpruned.executions += 1;
        self.prune_now_and_then();
        self.tell_stoppers();
    }
}

impl Run {
    /// The end of one that nobody waits for any more.
    fn ending(&self, outcome: Outcome) -> StoredEnd {
        StoredEnd {
            job: !self.was_foreground(),
            times: self.times.moments().to_vec(),
            ..StoredEnd::now(outcome)
        }
    }

    /// The state that an unhindered end gives.
    pub(super) fn natural_end(&self) -> State {
        if self.exit == Some(Exit::Code(0)) { State::Completed } else { State::Failed }
    }

    pub(super) fn outcome(&self, state: State, background: Vec<Process>) -> Outcome {
        let clock = match self.phase {
            Phase::Stopping { cause: Cause::TimedOut(clock), .. } => Some(clock),
            _ => None,
        };
        let limit = match self.phase {
            Phase::Stopping { cause: Cause::Limit(exceeded), .. } => Some(exceeded),
            _ => self.enforcer.as_ref().and_then(|enforcer| enforcer.hit()),
        };
        let output = self
            .sources
            .as_ref()
            .map(|sources| PerStream { stdout: sources.stdout.output(), stderr: sources.stderr.output() });
        let duration = if self.pid.is_some() { self.started.elapsed() } else { std::time::Duration::ZERO };
        Outcome {
            state,
            pid: self.pid,
            // The tree is the job: that its first process has ended is no end.
            exit: self.exit.filter(|_| state.is_final()),
            failure: self.failure.clone(),
            clock,
            limit,
            output: output.unwrap_or_default(),
            background,
            duration,
            waiting_for_input: false,
        }
    }
}
