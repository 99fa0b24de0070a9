//! Settling: giving an end to executions that a crash left open in the record. An end that the keeper stored is written.
//! An execution that no keeper holds and no caller waits for is closed as lost. No caller waits when the process that made
//! the call is gone, or when the keeper has noted that the call was answered.

use std::path::Path;

use shellgate_exec::{PerStream, StateFolder, StoredEnd, job_notes, open_regular};
use shellgate_journal::{
    AskerState, Error, Journal, LossCause, PastExecution, ProcessIdentity, Query, RecordedLoss, Status, Step,
};

use tracing::{info, warn};

use super::identity::{Liveness, is_of_earlier_boot, liveness};
use super::translate;
use crate::answer::denials::SandboxContext;
use crate::answer::outcome_error::outcome_error;

/// How many of the last executions are searched for processes that no keeper holds.
const MAX_SEARCHED_EXECUTIONS: usize = 1000;

/// How long an execution that no keeper holds is left to a caller in another PID namespace, which can't be seen from here.
const UNSEEN_CALLER_MS: shellgate_journal::Millis = 24 * 60 * 60 * 1000;

/// Settles every execution that has no end in the record, and questions whose asker no longer waits.
///
/// # Errors
/// When the journal can't be read or written, or a keeper's answer can't be read.
pub(crate) fn settle(journal: &Journal, state: &StateFolder) -> Result<(), String> {
    let settled = settle_open(journal, state);
    if let Err(error) = &settled {
        warn!(error, "the record can't be settled");
    }
    settled
}

/// Closes the questions whose askers are gone.
pub(crate) fn expire_questions(journal: &Journal) -> Result<(), shellgate_journal::Error> {
    let state_of = |asker: &ProcessIdentity| match liveness(asker) {
        Liveness::Alive => AskerState::Alive,
        Liveness::Unknown => AskerState::Unknown,
        Liveness::Gone => AskerState::Gone,
    };
    journal.expire(translate::now(), state_of).map(drop)
}

fn settle_open(journal: &Journal, state: &StateFolder) -> Result<(), String> {
    let open = journal.open_executions().map_err(|error| error.to_string())?;
    expire_questions(journal).map_err(|error| error.to_string())?;
    let groups = shellgate_exec::group_notes(state);
    let jobs = job_notes(state);
    let held = shellgate_exec::held_executions(state).map_err(|error| error.to_string())?;
    let still_held = held.clone();
    let held = held.map(|held| held.iter().map(ToString::to_string).collect::<Vec<_>>());
    let mut unwritten = None;
    for execution in open {
        if let Some(step) = find_end(&execution, state, held.as_deref(), jobs.contains(&execution.id))
            && !ended_meanwhile(&execution, journal, state, &step)
        {
            if let (Step::Closed(RecordedLoss { how: LossCause::KeeperLost, .. }), Ok(id)) =
                (&step, execution.id.parse())
            {
                if shellgate_exec::is_kept_out_of_reach(id) {
                    warn!(%id, "its keeper lives and can't be reached: it stays open");
                    continue;
                }
                // A keeper stores an end before it leaves, and may have done both since we looked: the next look enters it.
                if matches!(StoredEnd::find(state, &execution.id), Ok(Some(_))) {
                    continue;
                }
                // Its keeper is gone, so its processes are ended here.
                shellgate_exec::end_leftovers(id);
            }
            info!(id = execution.id, closed = matches!(step, Step::Closed(_)), "settles an open execution");
            match journal.append(&execution.id, vec![step]) {
                Ok(_) => StoredEnd::remove(state, &execution.id),
                // Another process has written its end in the meantime, and perhaps pruned it.
                Err(Error::IllegalMove { .. } | Error::UnknownExecution { .. }) => {}
                // The other executions are still settled. This one stays open until the record is settled again.
                Err(error) => {
                    warn!(id = execution.id, %error, "an open execution can't be settled");
                    unwritten = unwritten.or(Some(error.to_string()));
                }
            }
        }
    }
    if let Some(held) = still_held {
        groups.sweep(&held);
    }
    end_abandoned(journal);
    // Stored ends and notes that nothing needs: the caller wrote the end and went away before it told the keeper, or the execution
    // isn't in the record.
    for id in StoredEnd::all(state).into_iter().chain(jobs) {
        let over = |found: Option<PastExecution>| found.is_none_or(|execution| !is_open(execution.status));
        if journal.execution(&id).is_ok_and(over) {
            StoredEnd::remove(state, &id);
        }
    }
    unwritten.map_or(Ok(()), Err)
}

/// Kills the leftover processes of ended executions whose keeper and standby process are both gone. Without a keeper, `jobs`
/// doesn't list these processes and `stop` doesn't reach them.
fn end_abandoned(journal: &Journal) {
    let ended = || {
        let last = journal.history(&Query { limit: MAX_SEARCHED_EXECUTIONS, ..Query::default() });
        let ended = last.unwrap_or_default().into_iter().filter(|execution| !is_open(execution.status));
        ended.filter_map(|execution| execution.id.parse().ok()).collect()
    };
    for id in shellgate_exec::abandoned(ended) {
        warn!(%id, "ends processes that a command left, and that no keeper holds");
        shellgate_exec::end_leftovers(id);
    }
}

/// Whether an execution that seems lost has ended in the meantime: its end is in the record by now, or a keeper holds it
/// as a job because some of its processes are left.
fn ended_meanwhile(execution: &PastExecution, journal: &Journal, state: &StateFolder, step: &Step) -> bool {
    if !matches!(step, Step::Closed(_)) {
        return false;
    }
    // A journal that can't be read counts as one that has the end: then nothing is closed.
    let now = journal.execution(&execution.id).ok().flatten();
    let ended = !now.is_some_and(|now| is_open(now.status));
    let kept = || {
        shellgate_exec::jobs(state).map_or(true, |held| {
            held.silent.is_some() || held.jobs.iter().any(|job| job.id.to_string() == execution.id)
        })
    };
    ended || kept()
}

fn is_open(status: Status) -> bool {
    matches!(status, Status::Asked | Status::Running)
}

/// The entry that ends an execution; `None` while it may still run. `is_job`: only a keeper knows its end, because its
/// call was answered.
fn find_end(
    execution: &PastExecution,
    state: &StateFolder,
    held: Option<&[String]>,
    is_job: bool,
) -> Option<Step> {
    // A stored end that can't be read, because another version of shellgate wrote it, counts as none.
    if let Ok(Some(ending)) = StoredEnd::find(state, &execution.id) {
        let files = execution.started.as_ref();
        let stream =
            |output, path: Option<&String>| match path.map(|path| (path, open_regular(Path::new(path)))) {
                Some((path, Ok(file))) => translate::stream(output, &file, Some(path.clone())),
                _ => shellgate_journal::RecordedStream {
                    bytes: output.total,
                    ..shellgate_journal::RecordedStream::default()
                },
            };
        let output = &ending.outcome.output;
        let stdout = stream(&output.stdout, files.and_then(|files| files.stdout_file.as_ref()));
        let stderr = stream(&output.stderr, files.and_then(|files| files.stderr_file.as_ref()));
        let at = shellgate_journal::Millis::try_from(ending.at_ms).unwrap_or(shellgate_journal::Millis::MAX);
        let times = ending.times.iter().map(|moment| {
            let at = shellgate_journal::Millis::try_from(moment.to_ms).unwrap_or_default();
            (at, moment.before.stdout, moment.before.stderr)
        });
        let error = execution
            .asked
            .as_ref()
            .and_then(|asked| outcome_error(&translate::action(asked), &asked.directory, &ending.outcome));
        let ended = translate::end(&ending.outcome, error, at, PerStream { stdout, stderr });
        let sandbox = SandboxContext::recorded(execution);
        let ended = translate::with_denials(ended, sandbox.as_ref(), &ending.outcome);
        let times = if ending.job { times.collect() } else { Vec::new() };
        return Some(Step::Ended(shellgate_journal::RecordedEnd { job: ending.job, times, ..ended }));
    }
    let asker = execution.asked.as_ref().and_then(|asked| asked.asker.as_ref());
    // A caller that lives may be about to hand it to a keeper, or to write its end.
    let has_caller = !is_job
        && asker.is_some_and(|asker| match liveness(asker) {
            Liveness::Alive => true,
            Liveness::Gone => false,
            Liveness::Unknown => translate::now() < execution.last_at.saturating_add(UNSEEN_CALLER_MS),
        });
    // A keeper of another version, which can't be asked, may hold it.
    if held.is_none_or(|held| held.contains(&execution.id)) || has_caller {
        return None;
    }
    // The keeper ran no earlier than its caller, so a caller of an earlier boot had a keeper that ended with that boot.
    let caller = execution.started.as_ref().and_then(|started| started.caller.as_ref());
    let how = match execution.status {
        Status::Running if caller.is_some_and(is_of_earlier_boot) => LossCause::Reboot,
        Status::Running => LossCause::KeeperLost,
        _ => LossCause::NeverStarted,
    };
    Some(Step::Closed(RecordedLoss { how, stdout: None, stderr: None }))
}
