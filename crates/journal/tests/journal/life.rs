//! The entries of an execution.

use shellgate_journal::{EndStatus, EntryKind, Error, Journal, LossCause, Status};

use crate::support::{asked, closed, ended, intact, journal, note, refused, run, started};

fn status(journal: &Journal, id: &str) -> Status {
    journal.execution(id).unwrap().unwrap().status
}

#[test]
fn a_call_is_recorded_before_it_starts_and_after_it_ended() {
    let (_folder, journal) = journal();
    journal.begin("1", "s", asked("true"), vec![]).unwrap();
    assert_eq!(status(&journal, "1"), Status::Asked);
    journal.append("1", vec![started()]).unwrap();
    assert_eq!(status(&journal, "1"), Status::Running);
    journal.append("1", vec![ended(EndStatus::TimedOut)]).unwrap();
    assert_eq!(status(&journal, "1"), Status::TimedOut);

    let whole = journal.execution("1").unwrap().unwrap();
    assert_eq!(whole.asked, Some(asked("true")));
    assert_eq!(whole.started.unwrap().stdout_file.as_deref(), Some("spool/stdout"));
    assert_eq!(whole.ended.unwrap().stdout.bytes, 3);
    let entries = journal.entries_of("1").unwrap();
    assert_eq!(
        entries.iter().map(|entry| entry.kind).collect::<Vec<_>>(),
        [EntryKind::Asked, EntryKind::Started, EntryKind::Ended]
    );
    assert_eq!(entries.iter().map(|entry| entry.seq).collect::<Vec<_>>(), [1, 2, 3]);
    assert!(entries.iter().all(|entry| entry.session.as_deref() == Some("s")));
    assert_eq!(intact(&journal).head, journal.head().unwrap());
}

#[test]
fn an_execution_has_one_end() {
    let (_folder, journal) = journal();
    run(&journal, "1", "s", "true");
    let head = journal.head().unwrap();
    for step in [ended(EndStatus::Failed), started(), refused(), closed(LossCause::KeeperLost)] {
        let error = journal.append("1", vec![note("with it"), step]).unwrap_err();
        assert!(matches!(error, Error::IllegalMove { status: Status::Completed, .. }), "{error}");
    }
    assert_eq!(journal.head().unwrap(), head, "neither the end nor the note with it was written");
    journal.append("1", vec![note("alone")]).unwrap();
    assert_eq!(status(&journal, "1"), Status::Completed);
    intact(&journal);
}

#[test]
fn a_name_is_used_once() {
    let (_folder, journal) = journal();
    run(&journal, "1", "s", "true");
    let error = journal.begin("1", "other", asked("false"), vec![]).unwrap_err();
    assert_eq!(error.to_string(), "an execution `1` is in the journal already");
    let error = journal.append("2", vec![started()]).unwrap_err();
    assert_eq!(error.to_string(), "no execution `2` is in the journal");
    assert!(journal.execution("2").unwrap().is_none());
    assert!(journal.entries_of("2").unwrap().is_empty());
    intact(&journal);
}

#[test]
fn refused_calls_are_kept_with_their_reasons() {
    let (_folder, journal) = journal();
    journal.begin("1", "s", asked("rm -rf /"), vec![refused()]).unwrap();
    let execution = journal.execution("1").unwrap().unwrap();
    assert_eq!(execution.status, Status::Refused);
    assert_eq!(execution.refused.unwrap().code, "denied_by_policy");
    assert!(execution.started.is_none());
    assert!(journal.append("1", vec![started()]).is_err(), "nothing starts after a refusal");
}

#[test]
fn executions_without_an_end_are_found_after_a_crash_and_closed() {
    let (folder, journal) = journal();
    journal.begin("1", "s", asked("waits"), vec![]).unwrap();
    journal.begin("2", "s", asked("runs"), vec![started()]).unwrap();
    run(&journal, "3", "s", "is over");
    drop(journal);

    let journal = Journal::open(folder.path()).unwrap();
    let open = journal.open_executions().unwrap();
    assert_eq!(open.iter().map(|execution| execution.id.as_str()).collect::<Vec<_>>(), ["1", "2"]);
    assert_eq!(open[0].asked.as_ref().unwrap().asker.as_ref().unwrap().0, "asker");
    assert_eq!(open[1].started.as_ref().unwrap().caller.as_ref().unwrap().0, "caller");
    journal.append("1", vec![closed(LossCause::NeverStarted)]).unwrap();
    journal.append("2", vec![closed(LossCause::KeeperLost)]).unwrap();
    assert!(journal.open_executions().unwrap().is_empty());
    assert_eq!(status(&journal, "1"), Status::Lost);
    assert_eq!(status(&journal, "2"), Status::Lost);

    journal.append("2", vec![ended(EndStatus::Completed)]).unwrap();
    assert_eq!(status(&journal, "2"), Status::Completed, "an end that is found late replaces the loss");
    assert!(journal.append("2", vec![closed(LossCause::KeeperLost)]).is_err());
    intact(&journal);
}

#[test]
fn a_command_may_be_tried_twice() {
    let (_folder, journal) = journal();
    journal.begin("1", "s", asked("make"), vec![started(), note("needs the network"), started()]).unwrap();
    assert_eq!(status(&journal, "1"), Status::Running);
    journal.append("1", vec![ended(EndStatus::Completed)]).unwrap();
    intact(&journal);
}

#[test]
fn the_file_is_for_its_owner_alone() {
    use std::os::unix::fs::PermissionsExt as _;
    let (folder, journal) = journal();
    run(&journal, "1", "s", "true");
    let mut files = Vec::new();
    for file in std::fs::read_dir(folder.path()).unwrap() {
        let file = file.unwrap();
        assert_eq!(file.metadata().unwrap().permissions().mode() & 0o777, 0o600, "{file:?}");
        files.push(file.file_name().into_string().unwrap());
    }
    files.sort();
    assert_eq!(
        files,
        ["journal.db", "journal.db-shm", "journal.db-wal", "journal.head", "journal.log"],
        "and nothing else is left behind"
    );
}
