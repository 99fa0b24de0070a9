//! `shellgate audit`.

use std::io::Write as _;
use std::process::{Command, Stdio};

use serde_json::Value;

use super::{json, text};
use crate::support::{Place, for_each_user};

/// Changes the journal behind shellgate's back.
fn tamper(place: &Place, sql: &str) {
    let code = "import sqlite3,sys; c=sqlite3.connect(sys.argv[1]); c.executescript(sys.argv[2]); c.commit()";
    let journal = place.state().join("journal.db");
    let done = Command::new("python3").args(["-c", code]).arg(journal).arg(sql).status().unwrap();
    assert!(done.success());
}

#[test]
fn a_changed_record_is_found_and_named() {
    for_each_user(|place| {
        place.output(["run", "echo one"]);
        place.output(["run", "echo two"]);
        let whole = place.output(["audit", "verify"]);
        assert_eq!(whole.status.code(), Some(0));
        assert!(text(&whole).starts_with("intact: 6 entries\nhead: 6:"), "{whole:?}");
        tamper(place, "UPDATE entries SET body = replace(body, 'two', 'tow') WHERE seq = 4");
        let broken = place.output(["audit", "verify"]);
        assert_eq!(broken.status.code(), Some(5));
        assert!(text(&broken).starts_with("broken: entry 4: its content was changed"), "{broken:?}");
        let broken = json(place, &["audit", "verify"]);
        assert_eq!((&broken["intact"], &broken["broken"]["seq"]), (&Value::from(false), &Value::from(4)));
    });
}

#[test]
fn a_head_that_was_kept_finds_a_shortened_or_lost_record() {
    let place = Place::new(None);
    place.output(["run", "echo one"]);
    let early = text(&place.output(["audit", "head"])).trim().to_owned();
    place.output(["run", "echo two"]);
    let late = json(&place, &["audit", "head"])["head"].as_str().unwrap().to_owned();
    for head in [&early, &late] {
        assert_eq!(place.output(["audit", "verify", "--head", head]).status.code(), Some(0), "{head}");
    }
    let forged = late.replace(|c: char| c.is_ascii_alphabetic(), "0");
    assert_eq!(place.output(["audit", "verify", "--head", &forged]).status.code(), Some(5));
    assert_eq!(place.output(["audit", "verify", "--head", "4711"]).status.code(), Some(2), "no head at all");
    // The database is removed, and then also the head beside it. Without a head, that can't be detected.
    let remove = |name: &str| drop(std::fs::remove_file(place.state().join(name)));
    ["journal.db", "journal.db-wal", "journal.db-shm"].into_iter().for_each(remove);
    assert_eq!(place.output(["audit", "verify"]).status.code(), Some(5));
    ["journal.db", "journal.db-wal", "journal.db-shm", "journal.head"].into_iter().for_each(remove);
    assert_eq!(place.output(["audit", "verify"]).status.code(), Some(0));
    let lost = place.output(["audit", "verify", "--head", &late]);
    assert_eq!(lost.status.code(), Some(5), "{lost:?}");
    // Another file has the journal's name.
    std::fs::write(
        place.state().join("journal.db"),
        "this is not a database, and long enough to be read as one",
    )
    .unwrap();
    let other = place.output(["audit", "verify"]);
    assert_eq!(other.status.code(), Some(5), "{other:?}");
    place.assert_nothing_is_left();
}

#[test]
fn the_export_verifies_elsewhere_and_ends_with_the_head() {
    let place = Place::new(None);
    place.output(["run", "echo 'ä \"quoted\" \\ \u{1}'"]);
    let page = include_str!("../../docs/journal.md");
    let script = page.split("```python\n").nth(1).unwrap().split("```").next().unwrap();
    let export = place.output(["audit", "export"]);
    assert_eq!(text(&export).lines().count(), 3);
    let mut python = Command::new("python3")
        .args(["-c", script])
        .stdin(Stdio::piped())
        .stdout(Stdio::piped())
        .spawn()
        .unwrap();
    python.stdin.take().unwrap().write_all(&export.stdout).unwrap();
    let head = python.wait_with_output().unwrap();
    assert!(head.status.success());
    assert_eq!(head.stdout, place.output(["audit", "head"]).stdout);
    place.assert_nothing_is_left();
}
