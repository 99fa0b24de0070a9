//! Disks and files that fail.

use std::os::unix::fs::PermissionsExt;
use std::path::Path;
use std::process::Command;

use rusqlite::Connection;
use shellgate_journal::{EndStatus, Error, Journal, Query};

use crate::support::{asked, command, ended, intact, journal, role, run, started};

#[test]
fn a_journal_of_a_newer_version_is_refused_and_left_alone() {
    let (folder, journal) = journal();
    run(&journal, "1", "s", "true");
    drop(journal);
    let path = folder.path().join("journal.db");
    Connection::open(&path).unwrap().pragma_update(None, "user_version", 7).unwrap();
    let error = Journal::open(folder.path()).unwrap_err();
    let read_only = Journal::open_read_only(folder.path()).unwrap_err();
    assert_eq!(read_only.to_string(), error.to_string());
    insta::assert_snapshot!(error, @"the journal has version 7, and this shellgate knows versions up to 2: use a newer shellgate");
    Connection::open(&path).unwrap().pragma_update(None, "user_version", 2).unwrap();
    assert_eq!(intact(&Journal::open(folder.path()).unwrap()).entries, 3);
}

#[test]
fn a_file_that_is_not_a_journal_is_left_alone() {
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("journal.db");
    for content in ["not a database at all, but long enough to look at".repeat(50), "short".into()] {
        std::fs::write(&path, &content).unwrap();
        let error = Journal::open(folder.path()).unwrap_err();
        assert!(matches!(error, Error::NotAJournal { .. }), "{error}");
        assert_eq!(std::fs::read_to_string(&path).unwrap(), content);
    }
    std::fs::remove_file(&path).unwrap();
    Connection::open(&path).unwrap().execute_batch("CREATE TABLE theirs (a)").unwrap();
    assert!(matches!(Journal::open(folder.path()), Err(Error::NotAJournal { .. })));

    let error = Journal::open(&folder.path().join("missing")).unwrap_err();
    assert!(matches!(error, Error::Absent { .. }), "{error}");
    let empty = tempfile::tempdir().unwrap();
    assert!(matches!(Journal::open_read_only(empty.path()), Err(Error::Absent { .. })));
    assert_eq!(std::fs::read_dir(empty.path()).unwrap().count(), 0);
}

#[test]
fn a_damaged_file_is_reported_as_damaged() {
    let (folder, journal) = journal();
    (0..100).for_each(|call| run(&journal, &format!("{call:03}"), "s", "true"));
    let path = folder.path().join("journal.db");
    drop(journal);
    Connection::open(&path).unwrap().execute_batch("SELECT * FROM head").unwrap();
    let mut bytes = std::fs::read(&path).unwrap();
    let length = bytes.len();
    bytes[8192..length - 8192].fill(0x5a);
    std::fs::write(&path, bytes).unwrap();
    let journal = Journal::open(folder.path()).unwrap();
    let verification = journal.verify().unwrap();
    assert!(matches!(verification, shellgate_journal::Verification::Broken(_)), "{verification:?}");
    let error = journal.history(&Query::default()).unwrap_err();
    assert!(matches!(error, Error::Damaged { .. }), "{error}");
}

const READ_ONLY: &str = "failures::a_read_only_folder_refuses_before_anything_starts";

#[test]
fn a_read_only_folder_refuses_before_anything_starts() {
    if let Some((role, folder)) = role() {
        return in_a_read_only_folder(&role, &folder);
    }
    for role in ["empty", "written", "readable"] {
        let folder = tempfile::tempdir().unwrap();
        if role != "empty" {
            run(&Journal::open(folder.path()).unwrap(), "1", "s", "true");
        }
        if role == "written" {
            // As after a restart: there is no log, and none can be created.
            Connection::open(folder.path().join("journal.db"))
                .unwrap()
                .execute_batch("SELECT * FROM head")
                .unwrap();
        }
        let mode = |mode| std::fs::set_permissions(folder.path(), PermissionsExt::from_mode(mode)).unwrap();
        mode(0o500);
        let program = std::env::current_exe().unwrap();
        let mut below = Command::new(&program);
        if rustix::process::geteuid().is_root() {
            // Root may write anywhere, unless it gives up its capabilities.
            below = Command::new("setpriv");
            below.arg("--bounding-set=-all").arg(program);
        }
        let status = command(below, READ_ONLY, role, folder.path()).status().unwrap();
        mode(0o700);
        assert!(status.success(), "{role}");
    }
}

fn in_a_read_only_folder(role: &str, folder: &Path) {
    assert!(std::fs::write(folder.join("probe"), "").is_err(), "the folder is not read-only");
    if role == "readable" {
        let journal = Journal::open_read_only(folder).unwrap();
        assert_eq!(journal.history(&Query::default()).unwrap().len(), 1);
        assert_eq!(intact(&journal).entries, 3);
        let error = journal.note(None, "x").unwrap_err();
        assert!(matches!(error, Error::ReadOnly), "{error}");
        return;
    }
    let error = Journal::open(folder).unwrap_err();
    assert!(matches!(error, Error::ReadOnly), "{role}: {error:?}");
}

const FULL: &str = "failures::a_full_disk_refuses_and_loses_nothing";

#[test]
fn a_full_disk_refuses_and_loses_nothing() {
    if let Some((_, folder)) = role() {
        return on_a_full_disk(&folder);
    }
    let folder = tempfile::tempdir().unwrap();
    let mut below = Command::new("unshare");
    let mount = r#"mount -t tmpfs -o size=1m,mode=700 none "$JOURNAL_TEST_FOLDER" && exec "$@""#;
    below.args(["--user", "--map-root-user", "--mount", "sh", "-c", mount, "sh"]);
    below.arg(std::env::current_exe().unwrap());
    assert!(command(below, FULL, "full", folder.path()).status().unwrap().success());
}

fn on_a_full_disk(folder: &Path) {
    std::fs::write(folder.join("ballast"), vec![0; 100_000]).unwrap();
    let journal = Journal::open(folder).unwrap();
    let mut begun = 0;
    let error = loop {
        let id = format!("{begun:05}");
        match journal.begin(&id, "s", asked(&"x".repeat(3000)), vec![started()]) {
            Ok(_) => begun += 1,
            Err(error) => break error,
        }
        assert!(begun < 1000, "the disk never got full");
    };
    assert!(matches!(error, Error::Full), "{error:?}");
    assert!(begun > 10, "{begun}");
    let refused = format!("{begun:05}");
    assert!(journal.execution(&refused).unwrap().is_none(), "a refused call has no entries");
    assert_eq!(intact(&journal).entries, begun * 2, "every acknowledged entry is there");
    drop(journal);

    // Another process finds the same entries and the same error.
    let journal = Journal::open(folder).unwrap();
    assert_eq!(intact(&journal).entries, begun * 2);
    assert!(matches!(journal.begin(&refused, "s", asked(&"x".repeat(3000)), vec![]), Err(Error::Full)));
    // Without any space left, no journal can be created.
    let filler = std::fs::write(folder.join("filler"), vec![0; 1_100_000]);
    assert_eq!(filler.unwrap_err().kind(), std::io::ErrorKind::StorageFull);
    let other = folder.join("other");
    std::fs::create_dir(&other).unwrap();
    let error = Journal::open(&other).unwrap_err();
    assert!(matches!(error, Error::Full), "{error:?}");
    assert_eq!(std::fs::read_dir(&other).unwrap().count(), 0);

    // Once there is space again, the journal can be written.
    std::fs::remove_file(folder.join("filler")).unwrap();
    std::fs::remove_file(folder.join("ballast")).unwrap();
    drop(journal);
    let journal = Journal::open(folder).unwrap();
    journal.append("00000", vec![ended(EndStatus::Completed)]).unwrap();
    assert_eq!(intact(&journal).entries, begun * 2 + 1);
}
