//! Several processes at once.

use shellgate_journal::{EndStatus, Error, Journal, Query, RecordedChoice, Status};

use crate::support::{answered, asked, child, ended, intact, question, role, run, started};

const NAME: &str = "processes::several_processes_write_at_once";
const WRITERS: usize = 6;
const CALLS: usize = 60;

#[test]
fn several_processes_write_at_once() {
    if let Some((name, folder)) = role() {
        return write(&name, &folder);
    }
    let folder = tempfile::tempdir().unwrap();
    // None of them finds a journal: they also make it at once.
    let writers: Vec<_> = (0..WRITERS).map(|name| child(NAME, &name.to_string(), folder.path())).collect();
    for mut writer in writers {
        assert!(writer.wait().unwrap().success());
    }
    let journal = Journal::open(folder.path()).unwrap();
    assert_eq!(intact(&journal).entries, (WRITERS * CALLS * 5) as u64);
    for name in 0..WRITERS {
        let session = Some(name.to_string());
        let statuses = vec![Status::Completed];
        assert_eq!(journal.history(&Query { session, statuses, ..Query::default() }).unwrap().len(), CALLS);
    }
    let left: Vec<_> =
        std::fs::read_dir(folder.path()).unwrap().map(|file| file.unwrap().file_name()).collect();
    assert_eq!(left.len(), 5, "no temporary file is left: {left:?}");
}

fn write(name: &str, folder: &std::path::Path) {
    for call in 0..CALLS {
        // A front end for one call.
        let journal = Journal::open(folder).unwrap();
        let id = format!("{call:04}-{name}");
        journal.begin(&id, name, asked("true"), vec![]).unwrap();
        let question = journal.ask(&id, question(name, None)).unwrap();
        journal.answer(question, answered(RecordedChoice::Once, name), vec![]).unwrap();
        journal.append(&id, vec![started(), ended(EndStatus::Completed)]).unwrap();
        assert!(journal.poll_answer(question).unwrap().is_some());
    }
}

#[test]
fn a_journal_that_is_being_created_is_absent_or_complete_to_others() {
    for _ in 0..150 {
        let folder = tempfile::tempdir().unwrap();
        let path = folder.path();
        std::thread::scope(|scope| {
            scope.spawn(|| Journal::open(path).unwrap());
            for _ in 0..3 {
                scope.spawn(|| {
                    loop {
                        match Journal::open_read_only(path) {
                            Ok(_) => break Journal::open(path).unwrap(),
                            Err(error) => assert!(matches!(error, Error::Absent { .. }), "{error}"),
                        }
                    }
                });
            }
        });
    }
}

#[test]
fn threads_share_one_journal() {
    let folder = tempfile::tempdir().unwrap();
    let journal = Journal::open(folder.path()).unwrap();
    std::thread::scope(|scope| {
        for thread in 0..4 {
            let journal = &journal;
            scope.spawn(move || {
                (0..50).for_each(|call| run(journal, &format!("{call}-{thread}"), "s", "true"))
            });
        }
        for _ in 0..20 {
            intact(&journal);
            journal.history(&Query { limit: 5, ..Query::default() }).unwrap();
        }
    });
    assert_eq!(intact(&journal).entries, 600);
}
