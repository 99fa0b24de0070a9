//! Closing what a crash left open, truthfully: an end that the keeper left is written down, and what nobody holds any more
//! is closed as that.

use std::fs::File;

use shellgate_exec::{PerStream, StateFolder, StoredEnd};
use shellgate_journal::{Error, Journal, LossCause, PastExecution, RecordedLoss, Status, Step};

use super::identity::{alive, is_of_earlier_boot};
use super::translate;
use crate::answer::outcome_error::outcome_error;

/// Looks at every execution that the record has as open.
///
/// # Errors
/// When the journal can't be read or written, or a keeper not be understood.
pub(crate) fn settle(journal: &Journal, state: &StateFolder) -> Result<(), String> {
    let open = journal.open_executions().map_err(|error| error.to_string())?;
    journal.expire(translate::now(), alive).map_err(|error| error.to_string())?;
    let groups = shellgate_exec::group_notes(state);
    let held = shellgate_exec::held_executions(state).map_err(|error| error.to_string())?;
    let still_held = held.clone();
    let held = held.map(|held| held.iter().map(ToString::to_string).collect::<Vec<_>>());
    let mut unwritten = None;
    for execution in open {
        if let Some(step) = end_of(&execution, state, held.as_deref())
            && !went_on(&execution, journal, state, &step)
        {
            if let (Step::Closed(RecordedLoss { how: LossCause::KeeperLost, .. }), Ok(id)) =
                (&step, execution.id.parse())
            {
                // Whoever could have ended its processes is gone, so that is done here.
                shellgate_exec::end_leftovers(id);
            }
            match journal.append(&execution.id, vec![step]) {
                Ok(_) => StoredEnd::remove(state, &execution.id),
                // Another process has written its end in the meantime, and perhaps pruned it.
                Err(Error::IllegalMove { .. } | Error::UnknownExecution { .. }) => {}
                // The other executions are still settled. This one stays open until the record is settled again.
                Err(error) => unwritten = unwritten.or(Some(error.to_string())),
            }
        }
    }
    if let Some(held) = still_held {
        groups.sweep(&held);
    }
    // What was written down by whoever waited for it, and then went away without saying so; and what nobody records.
    for id in StoredEnd::all(state) {
        let over = |found: Option<PastExecution>| found.is_none_or(|execution| !is_open(execution.status));
        if journal.execution(&id).is_ok_and(over) {
            StoredEnd::remove(state, &id);
        }
    }
    unwritten.map_or(Ok(()), Err)
}

/// Whether something that seems to be lost has ended while we looked: its end is in the record by now, or about to be, and
/// what it left goes on.
fn went_on(execution: &PastExecution, journal: &Journal, state: &StateFolder, step: &Step) -> bool {
    if !matches!(step, Step::Closed(_)) {
        return false;
    }
    // A journal that can't be read counts as one that has the end: then nothing is closed.
    let now = journal.execution(&execution.id).ok().flatten();
    let ended = !now.is_some_and(|now| is_open(now.status));
    let kept = || {
        shellgate_exec::jobs(state)
            .map_or(true, |jobs| jobs.iter().any(|job| job.id.to_string() == execution.id))
    };
    ended || kept()
}

fn is_open(status: Status) -> bool {
    matches!(status, Status::Asked | Status::Running)
}

/// The entry that closes it; `None` while it may go on.
fn end_of(execution: &PastExecution, state: &StateFolder, held: Option<&[String]>) -> Option<Step> {
    // A stored end that can't be read, because another version of shellgate wrote it, counts as none.
    if let Ok(Some(ending)) = StoredEnd::find(state, &execution.id) {
        let files = execution.started.as_ref();
        let stream = |output, path: Option<&String>| match path.map(|path| (path, File::open(path))) {
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
        let times = if ending.job { times.collect() } else { Vec::new() };
        return Some(Step::Ended(shellgate_journal::RecordedEnd { job: ending.job, times, ..ended }));
    }
    let asker = execution.asked.as_ref().and_then(|asked| asked.asker.as_ref());
    // Somebody whom we can't ask may hold it.
    if held.is_none_or(|held| held.contains(&execution.id)) || asker.is_some_and(alive) {
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
