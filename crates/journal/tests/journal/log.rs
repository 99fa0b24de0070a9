//! Entries that wait in the log: none is lost, none is doubled, and a changed one shows.

use std::fs;
use std::path::Path;

use shellgate_journal::{Difference, Durability, EndStatus, Error, Journal, Query, Status, Verification};

use crate::support::{asked, ended, intact, note, run, started};

/// A journal with one entry: the first of all goes to the database.
fn journal() -> (tempfile::TempDir, Journal) {
    let (folder, journal) = crate::support::journal();
    journal.note(None, "first").unwrap();
    (folder, journal)
}

fn log(folder: &Path) -> Vec<u8> {
    fs::read(folder.join("journal.log")).unwrap()
}

/// How many entries the database has, without what is in the log.
fn entered(folder: &Path) -> i64 {
    let connection = rusqlite::Connection::open(folder.join("journal.db")).unwrap();
    connection.query_row("SELECT count(*) FROM entries", [], |row| row.get(0)).unwrap()
}

fn broken(journal: &Journal) -> Difference {
    match journal.verify().unwrap() {
        Verification::Broken(broken) => broken.what,
        intact => panic!("{intact:?}"),
    }
}

fn count(journal: &Journal) -> usize {
    journal.history(&Query::default()).unwrap().len()
}

#[test]
fn a_call_is_in_the_log_until_a_reader_enters_it() {
    let (folder, journal) = journal();
    run(&journal, "1", "s", "true");
    let head = journal.head().unwrap();
    assert_eq!((entered(folder.path()), head.seq), (1, 4));
    // Another process that only reads.
    let other = Journal::open_read_only(folder.path()).unwrap();
    assert_eq!(other.head().unwrap(), head);
    let found = other.history(&Query::default()).unwrap();
    assert_eq!((found.len(), found[0].status), (1, Status::Completed));
    assert_eq!((entered(folder.path()), log(folder.path()).len()), (4, 0));
    assert_eq!((journal.head().unwrap(), intact(&journal).head), (head, head), "the chain is the log's");
}

#[test]
fn other_entries_come_behind_those_in_the_log() {
    let (folder, journal) = journal();
    journal.begin("1", "s", asked("true"), vec![started()]).unwrap();
    journal.append("1", vec![note("between")]).unwrap();
    assert_eq!(log(folder.path()).len(), 0);
    journal.append("1", vec![ended(EndStatus::Completed)]).unwrap();
    assert_ne!(log(folder.path()).len(), 0, "its begin was in the log");
    let kinds: Vec<String> =
        journal.entries_of("1").unwrap().iter().map(|entry| entry.kind.to_string()).collect();
    assert_eq!(kinds, ["asked", "started", "note", "ended"]);
    assert_eq!(intact(&journal).entries, 5);
}

#[test]
fn a_log_that_was_entered_but_not_emptied_is_not_entered_again() {
    let (folder, journal) = journal();
    run(&journal, "1", "s", "true");
    run(&journal, "2", "s", "true");
    let lines = log(folder.path());
    journal.enter().unwrap();
    // As a kill between the two leaves it.
    fs::write(folder.path().join("journal.log"), lines).unwrap();
    run(&journal, "3", "s", "true");
    assert_eq!((intact(&journal).entries, count(&journal)), (10, 3));
}

#[test]
fn the_rest_of_a_line_is_removed_and_no_entry_with_it() {
    for cut in [1, 40, 200] {
        let (folder, journal) = journal();
        run(&journal, "1", "s", "true");
        let whole = log(folder.path());
        run(&journal, "2", "s", "true");
        let mut lines = log(folder.path());
        // What a process that was killed on a full disk leaves.
        lines.truncate(whole.len() + cut);
        fs::write(folder.path().join("journal.log"), &lines).unwrap();
        fs::remove_file(folder.path().join("journal.head")).unwrap();
        let journal = Journal::open(folder.path()).unwrap();
        run(&journal, "3", "s", "true");
        assert_eq!((intact(&journal).entries, count(&journal)), (7, 2), "{cut}");
    }
}

#[test]
fn a_changed_line_shows() {
    let (folder, journal) = journal();
    for id in ["1", "2", "3"] {
        run(&journal, id, "s", "true");
    }
    let text = String::from_utf8(log(folder.path())).unwrap();
    for (name, changed) in [
        ("a body", text.replacen("\"text\":\"true\"", "\"text\":\"rm x\"", 1)),
        ("a time", text.replacen("{\"at\":1", "{\"at\":2", 1)),
        ("a line", text.split_inclusive('\n').skip(1).collect()),
        ("no JSON", text.replacen('{', "x", 1)),
    ] {
        let copy = tempfile::tempdir().unwrap();
        for entry in fs::read_dir(folder.path()).unwrap().flatten() {
            fs::copy(entry.path(), copy.path().join(entry.file_name())).unwrap();
        }
        assert_ne!(changed, text, "{name}");
        fs::write(copy.path().join("journal.log"), changed).unwrap();
        let journal = Journal::open(copy.path()).unwrap();
        assert!(matches!(broken(&journal), Difference::Lost { .. }), "{name}");
        run(&journal, "4", "s", "true");
        assert!(journal.execution("4").unwrap().is_some(), "{name}: it goes on");
    }
}

#[test]
fn a_removed_log_is_noticed() {
    let (folder, journal) = journal();
    run(&journal, "1", "s", "true");
    journal.enter().unwrap();
    run(&journal, "2", "s", "true");
    fs::remove_file(folder.path().join("journal.log")).unwrap();
    assert_eq!(
        broken(&Journal::open_read_only(folder.path()).unwrap()),
        Difference::Shortened { anchored: 7 }
    );
    // The open journal makes a new one.
    run(&journal, "3", "s", "true");
    assert_eq!(broken(&journal), Difference::Lost { through: 7 });
    assert!(journal.execution("3").unwrap().is_some());
}

#[test]
fn lines_behind_a_database_that_is_gone_are_kept() {
    let (folder, journal) = journal();
    run(&journal, "1", "s", "true");
    journal.enter().unwrap();
    run(&journal, "2", "s", "true");
    drop(journal);
    for file in ["journal.db", "journal.db-wal", "journal.db-shm"] {
        fs::remove_file(folder.path().join(file)).unwrap();
    }
    let journal = Journal::open(folder.path()).unwrap();
    assert_eq!(broken(&journal), Difference::Lost { through: 4 });
    assert_eq!(journal.execution("2").unwrap().unwrap().status, Status::Completed);
}

#[test]
fn an_old_head_costs_no_entry() {
    let (folder, journal) = journal();
    run(&journal, "1", "s", "true");
    journal.enter().unwrap();
    let old = fs::read(folder.path().join("journal.head")).unwrap();
    journal.note(None, "committed by a process that died before it had kept the head").unwrap();
    fs::write(folder.path().join("journal.head"), old).unwrap();
    run(&journal, "2", "s", "true");
    assert_eq!((intact(&journal).entries, count(&journal)), (8, 2));
}

#[test]
fn of_two_ends_the_first_counts() {
    let (folder, journal) = journal();
    journal.begin("1", "s", asked("true"), vec![started()]).unwrap();
    let other = Journal::open(folder.path()).unwrap();
    other.append("1", vec![ended(EndStatus::Failed)]).unwrap();
    // The one who began it knows nothing of that.
    journal.append("1", vec![ended(EndStatus::Completed)]).unwrap();
    assert_eq!(journal.execution("1").unwrap().unwrap().status, Status::Failed);
    assert_eq!(intact(&journal).entries, 4);
}

#[test]
fn an_execution_begins_once() {
    let (_folder, journal) = journal();
    journal.begin("1", "s", asked("true"), vec![started()]).unwrap();
    let again = journal.begin("1", "s", asked("true"), vec![started()]);
    assert!(matches!(again, Err(Error::DuplicateExecution { .. })), "{again:?}");
}

#[test]
fn what_must_survive_a_loss_of_power_goes_to_the_database() {
    let folder = tempfile::tempdir().unwrap();
    let journal = Journal::open_with(folder.path(), Durability::Power).unwrap();
    run(&journal, "1", "s", "true");
    assert_eq!((entered(folder.path()), log(folder.path()).len()), (3, 0));
}

#[test]
fn a_log_never_grows_long() {
    let (folder, journal) = journal();
    for call in 0..300 {
        journal.begin(&format!("{call:03}"), "s", asked(&"x".repeat(1000)), vec![started()]).unwrap();
    }
    assert!(log(folder.path()).len() < 140_000);
    journal.enter_if_long().unwrap();
    assert!(log(folder.path()).len() <= 64 << 10);
    assert_eq!((intact(&journal).entries, count(&journal)), (601, 300));
}
