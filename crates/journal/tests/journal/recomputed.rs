//! Attackers who know the format can recompute the chain. A head that was kept elsewhere shows that, too.

use std::collections::BTreeMap;

use rusqlite::{Connection, params};
use sha2::{Digest as _, Sha256};
use shellgate_journal::{Journal, Retention};

use crate::support::{asked, intact, journal, started};
use crate::tamper::Original;

/// Recomputes the chain, as an attacker who knows the format can.
fn recompute(connection: &Connection) {
    let mut select = connection.prepare("SELECT seq, at, kind, exec_id, session, carried, salt, body, digest, previous FROM entries ORDER BY seq").unwrap();
    let mut rows = select.query([]).unwrap();
    let mut previous: Option<Vec<u8>> = None;
    while let Some(row) = rows.next().unwrap() {
        let seq: u64 = row.get(0).unwrap();
        let (salt, body): (Option<Vec<u8>>, Option<String>) = (row.get(6).unwrap(), row.get(7).unwrap());
        let digest = match (salt, body) {
            (Some(salt), Some(body)) => Sha256::digest([salt, body.into_bytes()].concat()).to_vec(),
            _ => row.get(8).unwrap(),
        };
        let before = previous.unwrap_or_else(|| row.get(9).unwrap());
        let hex = |bytes: &[u8]| bytes.iter().map(|byte| format!("{byte:02x}")).collect::<String>();
        let mut header = serde_json::json!({
            "at": row.get::<_, i64>(1).unwrap(),
            "body_sha256": hex(&digest),
            "carried": row.get::<_, Option<u64>>(5).unwrap(),
            "exec_id": row.get::<_, Option<String>>(3).unwrap(),
            "kind": row.get::<_, String>(2).unwrap(),
            "previous": hex(&before),
            "seq": seq,
            "session": row.get::<_, Option<String>>(4).unwrap(),
        });
        header.as_object_mut().unwrap().retain(|_, value| !value.is_null());
        let hash = Sha256::digest(header.to_string()).to_vec();
        let update = "UPDATE entries SET digest = ?, previous = ?, hash = ? WHERE seq = ?";
        connection.execute(update, params![digest, before, hash, seq]).unwrap();
        connection.execute("UPDATE head SET seq = ?, hash = ?", params![seq, hash]).unwrap();
        previous = Some(hash);
    }
}

#[test]
fn a_recomputed_chain_is_found_with_a_head() {
    let original = Original::new();
    assert_eq!(original.attacked(recompute), (None, None), "recomputing an unchanged chain changes nothing");
    for seq in original.rows.clone() {
        let (without, with) = original.attacked(|connection| {
            let edit = "UPDATE entries SET at = at + 1 WHERE seq = ?";
            assert_eq!(connection.execute(edit, [seq]).unwrap(), 1);
            // A careful attacker adjusts the derived tables, too.
            connection.execute_batch(
                "UPDATE executions SET at = (SELECT at FROM entries WHERE exec_id = id AND kind = 'asked')
                   WHERE status <> 'forgotten'",
            ).unwrap();
            recompute(connection);
        });
        assert_eq!(without, None, "nothing to see without the head: {seq}");
        let with = with.unwrap();
        assert!(with.to_string().contains("but it was anchored with"), "{with}");
    }
}

#[test]
fn a_shortened_chain_is_found_with_a_head() {
    let original = Original::new();
    // The last two entries are notes: nothing is derived from them.
    for keep in [original.head.seq - 1, original.head.seq - 2] {
        let (without, with) = original.attacked(|connection| {
            connection.execute("DELETE FROM entries WHERE seq > ?", [keep]).unwrap();
            recompute(connection);
        });
        assert_eq!(without, None);
        assert!(with.unwrap().to_string().contains("what followed was removed"));
    }
}

#[test]
fn a_cut_off_beginning_with_a_false_checkpoint_is_found_with_a_head() {
    let original = Original::new();
    let (without, with) = original.attacked(|connection| {
        // Removes all entries and writes a checkpoint that claims they were pruned, after the anchored entry.
        let seq = original.head.seq + 1;
        let hash = "00".repeat(32);
        let body = format!(r#"{{"carried":0,"cause":"age","hash":"{hash}","removed":9,"through":{}}}"#, seq - 1);
        for table in ["entries", "executions", "questions", "grants", "trusted"] {
            connection.execute(&format!("DELETE FROM {table}"), []).unwrap();
        }
        let insert = "INSERT INTO entries VALUES (?, 0, 'checkpoint', NULL, NULL, NULL, zeroblob(16), ?, zeroblob(32), zeroblob(32), zeroblob(32))";
        connection.execute(insert, params![seq, body]).unwrap();
        recompute(connection);
    });
    assert_eq!(without, None);
    assert!(with.is_some());
}

#[test]
fn an_entry_that_calls_the_caller_keeper_is_read_verified_and_carried_as_it_is() {
    let (folder, journal) = journal();
    journal.begin("1", "s", asked("runs"), vec![started()]).unwrap();
    drop(journal);
    let connection = Connection::open(folder.path().join("journal.db")).unwrap();
    let edit = r#"UPDATE entries SET body = replace(body, '"caller":', '"keeper":') WHERE kind = 'started'"#;
    connection.execute(edit, []).unwrap();
    recompute(&connection);
    std::fs::remove_file(folder.path().join("journal.head")).unwrap();

    let journal = Journal::open(folder.path()).unwrap();
    intact(&journal);
    let caller =
        |journal: &Journal| journal.execution("1").unwrap().unwrap().started.unwrap().caller.unwrap();
    assert_eq!(caller(&journal).0, "caller");
    journal.prune(Retention { since: Some(i64::MAX), bytes: None }, &BTreeMap::new()).unwrap();
    intact(&journal);
    assert_eq!(caller(&journal).0, "caller");
    let body: String = connection
        .query_row("SELECT body FROM entries WHERE kind = 'started' AND carried = 2", [], |row| row.get(0))
        .unwrap();
    assert!(body.contains(r#""keeper":"caller""#), "a carried body is copied, not written anew: {body}");
}
