//! Processes that read all the time.

use std::sync::atomic::{AtomicBool, Ordering};
use std::time::Duration;

use rusqlite::Connection;

use crate::support::{intact, journal};

/// Bytes of the notes that are written. The log must stay much shorter.
const WRITTEN_BYTES: u64 = 24 << 20;
const LOG_MAX_BYTES: u64 = 16 << 20;

/// Begins a transaction that reads the journal as it is now.
fn begin(reader: &Connection) {
    reader.execute_batch("BEGIN").unwrap();
    reader.query_row("SELECT count(*) FROM executions", [], |row| row.get::<_, i64>(0)).unwrap();
}

/// SQLite begins its log anew only when no connection reads it.
#[test]
fn the_log_stays_short_while_one_reader_after_the_other_reads_it() {
    let (folder, journal) = journal();
    let text = "x".repeat(64 << 10);
    journal.note(None, &text).unwrap();
    let open = || Connection::open(folder.path().join("journal.db")).unwrap();
    let (readers, is_over) = ([open(), open()], AtomicBool::new(false));
    std::thread::scope(|scope| {
        scope.spawn(|| {
            // Each begins before the other one ends.
            let [first, second] = readers;
            begin(&first);
            while !is_over.load(Ordering::Relaxed) {
                for (next, last) in [(&second, &first), (&first, &second)] {
                    std::thread::sleep(Duration::from_millis(2));
                    begin(next);
                    last.execute_batch("COMMIT").unwrap();
                }
            }
        });
        let mut longest = 0;
        for _ in 0..WRITTEN_BYTES / (64 << 10) {
            journal.note(None, &text).unwrap();
            let log = std::fs::metadata(folder.path().join("journal.db-wal")).unwrap();
            longest = longest.max(log.len());
        }
        is_over.store(true, Ordering::Relaxed);
        assert!(longest < LOG_MAX_BYTES, "the log had {longest} bytes");
    });
    intact(&journal);
}
