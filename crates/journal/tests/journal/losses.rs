//! Entries that are lost with SQLite's log: the head that is kept outside the database tells.

use std::fs;
use std::path::Path;

use shellgate_journal::{Difference, Journal, Verification};

use crate::support::{intact, journal, run};

/// The folder as it is after the log is gone or damaged by `harm`: no process has it open any more.
fn after(harm: impl Fn(&Path), calls: usize) -> tempfile::TempDir {
    let (folder, journal) = journal();
    run(&journal, "first", "s", "true");
    journal.enter().unwrap();
    // All up to here is in the main file.
    let connection = rusqlite::Connection::open(folder.path().join("journal.db")).unwrap();
    connection.query_row("PRAGMA wal_checkpoint(TRUNCATE)", [], |row| row.get::<_, i64>(0)).unwrap();
    for call in 0..calls {
        run(&journal, &format!("{call}"), "s", "true");
    }
    journal.enter().unwrap();
    // As a kill leaves it: closing would copy the log to the main file.
    let copy = tempfile::tempdir().unwrap();
    for entry in fs::read_dir(folder.path()).unwrap().flatten() {
        if !entry.file_name().to_string_lossy().ends_with("-shm") {
            fs::copy(entry.path(), copy.path().join(entry.file_name())).unwrap();
        }
    }
    harm(copy.path());
    copy
}

fn broken(journal: &Journal) -> (u64, Difference) {
    match journal.verify().unwrap() {
        Verification::Broken(broken) => (broken.seq, broken.what),
        intact => panic!("{intact:?}"),
    }
}

#[test]
fn a_removed_or_damaged_log_is_noticed_and_the_loss_is_recorded() {
    type Harm = fn(&Path);
    let harms: [(&str, Harm); 3] = [
        ("removed", |folder| fs::remove_file(folder.join("journal.db-wal")).unwrap()),
        ("emptied", |folder| fs::write(folder.join("journal.db-wal"), "").unwrap()),
        ("damaged", |folder| {
            let path = folder.join("journal.db-wal");
            let mut bytes = fs::read(&path).unwrap();
            bytes[40..200].fill(0x5a);
            fs::write(path, bytes).unwrap();
        }),
    ];
    for (name, harm) in harms {
        let folder = after(harm, 4);
        let reading = Journal::open_read_only(folder.path()).unwrap();
        assert_eq!(broken(&reading), (3, Difference::Shortened { anchored: 15 }), "{name}");
        drop(reading);

        let journal = Journal::open(folder.path()).unwrap();
        run(&journal, "next", "s", "true");
        assert_eq!(broken(&journal), (4, Difference::Lost { through: 15 }), "{name}");
        let mut export = Vec::new();
        journal.export(&mut export).unwrap();
        let export = String::from_utf8(export).unwrap();
        let gap: serde_json::Value = serde_json::from_str(export.lines().nth(3).unwrap()).unwrap();
        assert_eq!((&gap["kind"], &gap["body"]["through"]), (&"gap".into(), &15.into()), "{name}");

        // A person who keeps a head after the loss knows of the loss.
        let head = journal.head().unwrap();
        run(&journal, "later", "s", "true");
        assert!(matches!(journal.verify_with_head(head).unwrap(), Verification::Intact(_)), "{name}");
    }
}

#[test]
fn a_removed_database_is_noticed() {
    let harm = |folder: &Path| {
        fs::remove_file(folder.join("journal.db-wal")).unwrap();
        fs::remove_file(folder.join("journal.db")).unwrap();
    };
    let folder = after(harm, 2);
    let journal = Journal::open(folder.path()).unwrap();
    run(&journal, "next", "s", "true");
    assert_eq!(broken(&journal), (1, Difference::Lost { through: 9 }));
}

#[test]
fn a_log_that_a_kill_left_behind_loses_nothing() {
    let folder = after(|_| {}, 4);
    let journal = Journal::open(folder.path()).unwrap();
    assert_eq!(intact(&journal).entries, 15);
    run(&journal, "next", "s", "true");
    assert_eq!(intact(&journal).entries, 18);
}

#[test]
fn a_journal_without_a_kept_head_is_read_as_before() {
    let folder = after(|folder| fs::remove_file(folder.join("journal.head")).unwrap(), 1);
    let journal = Journal::open(folder.path()).unwrap();
    assert_eq!(intact(&journal).entries, 6);
    run(&journal, "next", "s", "true");
    assert_eq!(intact(&journal).entries, 9);
}
