//! A journal whose database is opened when it is first needed.

use std::path::Path;

use shellgate_journal::{EndStatus, Error, Journal};

use crate::support::{asked, ended, intact, started};

const FILE: &str = "journal.db";

/// Whether this process has the database of this folder open.
fn is_open(folder: &Path) -> bool {
    let database = folder.canonicalize().unwrap().join(FILE);
    let open = std::fs::read_dir("/proc/self/fd").unwrap().flatten();
    open.into_iter().any(|entry| std::fs::read_link(entry.path()).is_ok_and(|file| file == database))
}

#[test]
fn a_start_and_its_end_need_no_database() {
    let folder = tempfile::tempdir().unwrap();
    Journal::open(folder.path()).unwrap().note(None, "first").unwrap();
    let journal = Journal::open_lazily(folder.path()).unwrap();
    journal.begin("1", "s", asked("true"), vec![started()]).unwrap();
    journal.append("1", vec![ended(EndStatus::Completed)]).unwrap();
    assert!(!is_open(folder.path()));
    assert_eq!(journal.entries_of("1").unwrap().len(), 3, "a read enters them first");
    journal.note(None, "later").unwrap();
    assert!(is_open(folder.path()), "a note needs it");
    intact(&journal);
}

#[test]
fn what_a_database_must_know_is_written_to_it() {
    let folder = tempfile::tempdir().unwrap();
    drop(Journal::open(folder.path()).unwrap());
    let journal = Journal::open_lazily(folder.path()).unwrap();
    journal.begin("1", "s", asked("true"), vec![]).unwrap();
    journal.append("1", vec![started()]).unwrap();
    assert!(matches!(journal.append("2", vec![started()]), Err(Error::UnknownExecution { .. })));
    intact(&journal);
}

#[test]
fn a_database_that_is_missing_is_made() {
    let folder = tempfile::tempdir().unwrap();
    let journal = Journal::open_lazily(folder.path()).unwrap();
    assert!(is_open(folder.path()));
    intact(&journal);
}

#[test]
fn what_is_no_journal_is_said_at_once() {
    let folder = tempfile::tempdir().unwrap();
    drop(Journal::open(folder.path()).unwrap());
    let file = folder.path().join(FILE);
    let whole = std::fs::read(&file).unwrap();
    for (at, what) in [(0, "no database"), (60, "another version"), (68, "another program's")] {
        let mut changed = whole.clone();
        changed[at] ^= 0x40;
        std::fs::write(&file, changed).unwrap();
        assert!(Journal::open_lazily(folder.path()).is_err(), "{what}");
    }
    std::fs::write(&file, &whole).unwrap();
    assert!(Journal::open_lazily(folder.path()).is_ok());
}
