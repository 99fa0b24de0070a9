//! Attackers who can write to the file can change it, but `verify` finds the change.
//!
//! Each case is an attack on a journal with every kind of entry, which `verify` must find without an anchor. Attackers who
//! recompute the chain are in `recomputed.rs`.

use rusqlite::Connection;
use shellgate_journal::{
    Break, EntryKind, GrantEndCause, GrantScope, Head, Journal, LossCause, RecordedChoice, RecordedView,
    Retention, SessionGrant, Step, Verification,
};
use tempfile::TempDir;

use crate::support::{answered, asked, closed, journal, note, question, refused, run, started, trusted};

/// A journal with every kind of entry.
fn record() -> (TempDir, Journal) {
    let (folder, journal) = journal();
    run(&journal, "00", "s", "goes");
    journal.prune(Retention { since: Some(i64::MAX), bytes: None }, &Default::default()).unwrap();
    run(&journal, "01", "s", "stays");
    journal.begin("02", "s/chat", asked("git push"), vec![]).unwrap();
    let id = journal.ask("02", question("asker", Some(5))).unwrap();
    let scope = GrantScope::Prefix(vec!["git".into(), "push".into()]);
    let grant = SessionGrant { root: "/".into(), directory: ".".into(), scope, expires_at: None };
    journal.answer(id, answered(RecordedChoice::SessionExact, "ann"), vec![grant.clone(), grant]).unwrap();
    let last = journal.grants_in_force(0).unwrap().last().unwrap().id;
    journal.end_grants(0, GrantEndCause::Revoked, "ann", |held| held.id == last).unwrap();
    journal.append("02", vec![started()]).unwrap();
    journal.append("02", vec![Step::Read(RecordedView::default())]).unwrap();
    journal.begin("03", "s", asked("rm"), vec![refused()]).unwrap();
    journal.begin("04", "s", asked("lost"), vec![started(), closed(LossCause::KeeperLost)]).unwrap();
    journal.trust(trusted("a")).unwrap();
    run(&journal, "05", "s", "secret");
    journal.forget("05", "me").unwrap();
    journal.begin("06", "s", asked("git push"), vec![note("odd")]).unwrap();
    journal.ask("06", question("asker", None)).unwrap();
    journal.note(None, "free").unwrap();
    journal.note(None, "last").unwrap();
    (folder, journal)
}

/// A journal to attack again and again.
pub(crate) struct Original {
    bytes: Vec<u8>,
    pub(crate) rows: std::ops::RangeInclusive<u64>,
    pub(crate) head: Head,
}

impl Original {
    pub(crate) fn new() -> Self {
        let (folder, journal) = record();
        let head = journal.head().unwrap();
        drop(journal);
        let path = folder.path().join("journal.db");
        // Closing the last connection copies everything to this one file.
        drop(
            Connection::open(&path).map(|connection| connection.execute_batch("SELECT * FROM head")).unwrap(),
        );
        assert!(!folder.path().join("journal.db-wal").exists());
        let connection = Connection::open(&path).unwrap();
        let select = "SELECT min(seq), max(seq) FROM entries";
        let rows = connection.query_row(select, [], |row| Ok(row.get(0)?..=row.get(1)?)).unwrap();
        Self { bytes: std::fs::read(path).unwrap(), rows, head }
    }

    /// What `verify` finds after an attack: without an anchor, and with the head from before the attack.
    pub(crate) fn attacked(&self, attack: impl FnOnce(&Connection)) -> (Option<Break>, Option<Break>) {
        let folder = tempfile::tempdir().unwrap();
        let path = folder.path().join("journal.db");
        std::fs::write(&path, &self.bytes).unwrap();
        let connection = Connection::open(&path).unwrap();
        connection.execute_batch("PRAGMA synchronous = OFF").unwrap();
        attack(&connection);
        drop(connection);
        let journal = Journal::open(folder.path()).unwrap();
        let verified = [journal.verify(), journal.verify_with_head(self.head)];
        let [without, with] = verified.map(|verification| match verification.unwrap() {
            Verification::Intact(_) => None,
            Verification::Broken(broken) => Some(broken),
        });
        (without, with)
    }

    /// As `attacked`, with SQL statements, each of which must change something.
    fn edited(&self, statements: &[&str], seq: u64) -> (Option<Break>, Option<Break>) {
        self.attacked(|connection| {
            for sql in statements {
                let parameters = if sql.contains('?') { vec![seq] } else { vec![] };
                let changed = connection.execute(sql, rusqlite::params_from_iter(parameters)).unwrap();
                assert!(changed > 0 || sql.starts_with("CREATE") || sql.starts_with("DROP"), "{sql}");
            }
        })
    }
}

#[test]
fn the_attacked_journal_has_every_kind_of_entry_and_is_intact() {
    let original = Original::new();
    let found = original.attacked(|connection| {
        // An entry about a loss makes every verification without a head fail: `losses` has tests of it.
        for kind in EntryKind::ALL.iter().filter(|kind| **kind != EntryKind::Gap) {
            let select = "SELECT count(*) FROM entries WHERE kind = ?";
            let count: u64 = connection.query_row(select, [kind.name()], |row| row.get(0)).unwrap();
            assert!(count > 0, "{kind}");
        }
    });
    assert_eq!(found, (None, None), "the positive control");
}

/// Every column of every row changed, and every row emptied, removed, doubled, or swapped with the next.
#[test]
fn every_change_to_a_single_row_is_found() {
    const EDITS: &[&[&str]] = &[
        &["UPDATE entries SET at = at + 1 WHERE seq = ?"],
        &["UPDATE entries SET kind = if(kind = 'note', 'asked', 'note') WHERE seq = ?"],
        &["UPDATE entries SET kind = 'unheard of' WHERE seq = ?"],
        &["UPDATE entries SET exec_id = coalesce(exec_id, '') || 'x' WHERE seq = ?"],
        &["UPDATE entries SET exec_id = if(exec_id IS NULL, '', NULL) WHERE seq = ?"],
        &["UPDATE entries SET session = coalesce(session, '') || 'x' WHERE seq = ?"],
        &["UPDATE entries SET session = if(session IS NULL, '', NULL) WHERE seq = ?"],
        &["UPDATE entries SET carried = if(carried IS NULL, 1, NULL) WHERE seq = ?"],
        &["UPDATE entries SET salt = randomblob(16) WHERE seq = ?"],
        &["UPDATE entries SET salt = NULL, digest = zeroblob(32) WHERE seq = ?"],
        &["UPDATE entries SET body = coalesce(body, '{}') || ' ' WHERE seq = ?"],
        &["UPDATE entries SET body = '{\"text\":\"x\"}' WHERE seq = ?"],
        &["UPDATE entries SET digest = randomblob(32) WHERE seq = ?"],
        &["UPDATE entries SET digest = x'00' WHERE seq = ?"],
        &["UPDATE entries SET previous = randomblob(32) WHERE seq = ?"],
        &["UPDATE entries SET hash = randomblob(32) WHERE seq = ?"],
        &["UPDATE entries SET seq = seq + 1000 WHERE seq = ?"],
        &["UPDATE entries SET seq = -seq WHERE seq = ?"],
        &["DELETE FROM entries WHERE seq = ?"],
        &["INSERT INTO entries SELECT 0, at, kind, exec_id, session, carried, salt, body, digest, previous, hash
             FROM entries WHERE seq = ?"],
        &["INSERT INTO entries SELECT (SELECT max(seq) FROM entries) + 1, at, kind, exec_id, session, carried, salt,
             body, digest, previous, hash FROM entries WHERE seq = ?"],
    ];
    const EMPTY: &[&str] =
        &["UPDATE entries SET body = NULL, salt = NULL WHERE seq = ? AND body IS NOT NULL"];
    const SWAP: &[&str] = &[
        "UPDATE entries SET seq = -1 WHERE seq = ?",
        "UPDATE entries SET seq = ?1 WHERE seq = ?1 + 1",
        "UPDATE entries SET seq = ? + 1 WHERE seq = -1",
    ];
    let original = Original::new();
    for seq in original.rows.clone() {
        for edit in EDITS {
            let (without, with) = original.edited(edit, seq);
            assert!(without.is_some() && with.is_some(), "not found: {edit:?} with {seq}");
        }
        if seq < *original.rows.end() {
            assert!(original.edited(SWAP, seq).0.is_some(), "not found: {seq} swapped with the next");
        }
        let (without, _) = original.attacked(|connection| {
            if connection.execute(EMPTY[0], [seq]).unwrap() == 0 {
                // This entry was forgotten before, so there is nothing to empty. Another change takes its place.
                connection.execute("DELETE FROM head", []).unwrap();
            }
        });
        assert!(without.is_some(), "not found: {seq} emptied");
    }
}

#[test]
fn the_first_broken_entry_is_named() {
    let original = Original::new();
    let middle = original.rows.start() + 4;
    let named = |edit: &str| {
        let found = original.edited(&[edit], middle).0.unwrap();
        assert_eq!(found.seq, middle, "{edit}: {found}");
        found.what.to_string().split(':').next().unwrap().to_owned()
    };
    assert_eq!(named("UPDATE entries SET body = '{}' WHERE seq = ?"), "its content was changed");
    assert_eq!(named("UPDATE entries SET at = 0 WHERE seq = ?"), "its columns were changed");
    assert!(named("DELETE FROM entries WHERE seq = ?").starts_with("it is missing; entry"));
    assert!(
        named("UPDATE entries SET previous = zeroblob(32) WHERE seq = ?").starts_with("it follows an entry")
    );
    assert!(
        named("UPDATE entries SET body = NULL, salt = NULL WHERE seq = ?").starts_with("its content is gone")
    );
    assert!(named("UPDATE entries SET kind = 'x' WHERE seq = ?").starts_with("it can't be read"));
}

#[test]
fn changes_to_the_beginning_and_the_end_are_found() {
    let original = Original::new();
    for (start, edit) in [
        ("the chain begins here", "DELETE FROM entries WHERE seq < ?"),
        ("the chain ends here", "DELETE FROM entries WHERE seq > ?"),
        ("the chain ends here", "UPDATE head SET seq = ?"),
    ] {
        let found = original.edited(&[edit], original.rows.start() + 5).0.unwrap();
        assert!(found.what.to_string().starts_with(start), "{found}");
    }
    assert!(original.edited(&["DELETE FROM head"], 0).0.is_some());
    assert!(original.edited(&["DELETE FROM entries"], 0).0.is_some());
}

#[test]
fn changes_to_derived_tables_are_found() {
    let original = Original::new();
    for edit in [
        "UPDATE executions SET status = 'completed' WHERE id = '02'",
        "UPDATE executions SET status = 'lost' WHERE id = '05'",
        "UPDATE executions SET status = 'sideways' WHERE id = '02'",
        "UPDATE executions SET session = 'x' WHERE id = '01'",
        "UPDATE executions SET at = at - 1 WHERE id = '01'",
        "UPDATE executions SET last = last + 1 WHERE id = '01'",
        "UPDATE executions SET id = '99' WHERE id = '01'",
        "DELETE FROM executions WHERE id = '01'",
        "INSERT INTO executions VALUES ('99', 's', 0, 'completed', 1)",
        "INSERT INTO executions VALUES ('', 's', 0, 'completed', 1)",
        "UPDATE questions SET answer = NULL WHERE exec_id = '02'",
        "UPDATE questions SET answer = 9 WHERE exec_id = '06'",
        "DELETE FROM questions WHERE exec_id = '06'",
        "INSERT INTO questions VALUES (99, 9, '01', NULL)",
        "UPDATE grants SET session = 's'",
        "UPDATE grants SET seq = seq - 1",
        "DELETE FROM grants",
        "INSERT INTO grants VALUES (9, 's')",
        "UPDATE trusted SET sha256 = zeroblob(32)",
        "DELETE FROM trusted",
        "INSERT INTO trusted VALUES ('/x', zeroblob(32), 9)",
    ] {
        let found = original.edited(&[edit], 0).0.unwrap_or_else(|| panic!("not found: {edit}"));
        let said = found.what.to_string();
        assert!(said.starts_with("table `") || edit.contains("sideways"), "{edit}: {said}");
    }
}

#[test]
fn changes_to_the_table_definitions_are_found() {
    let original = Original::new();
    for edit in [
        "CREATE TRIGGER quiet AFTER INSERT ON executions BEGIN DELETE FROM executions WHERE id = new.id; END",
        "CREATE TABLE more (a INTEGER)",
        "DROP INDEX executions_open",
    ] {
        let found = original.edited(&[edit], 0).0.unwrap_or_else(|| panic!("not found: {edit}"));
        assert!(found.what.to_string().starts_with("the tables were changed"), "{found}");
    }
}

#[test]
fn a_flipped_bit_in_the_file_is_found_or_harmless() {
    // On the disk, not by SQL. A flipped bit that isn't found changes nothing that can be read.
    let original = Original::new();
    let export = |bytes: &[u8]| {
        let folder = tempfile::tempdir().unwrap();
        std::fs::write(folder.path().join("journal.db"), bytes).unwrap();
        let journal = Journal::open(folder.path()).ok()?;
        let mut out = Vec::new();
        let whole = matches!(journal.verify_with_head(original.head), Ok(Verification::Intact(_)));
        (whole && journal.export(&mut out).is_ok()).then_some(out)
    };
    let whole = export(&original.bytes).unwrap();
    let mut unseen = 0;
    let mut bytes = original.bytes.clone();
    for at in (100..bytes.len()).step_by(211) {
        bytes[at] ^= 1 << (at % 8);
        if let Some(out) = export(&bytes) {
            assert!(out == whole, "byte {at} was changed, and the export with it");
            unseen += 1;
        }
        bytes[at] ^= 1 << (at % 8);
    }
    assert!(unseen < bytes.len() / 211, "some were found");
}
