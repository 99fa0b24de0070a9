//! The cost of recording: `cargo bench -p shellgate-journal`. Words after `--` choose sizes: `0 100000 1000000`.
//!
//! A call is two transactions: `asked` and `started` together, then `ended`. "Warm" is a process that has the journal
//! open; "one-shot" opens it, records one call and closes it again, alone or while another process has it open.
#![expect(clippy::print_stdout, reason = "prints a table")]
#![expect(clippy::unwrap_used, reason = "a measurement that fails should say where")]

use std::collections::BTreeMap;
use std::path::Path;
use std::sync::atomic::{AtomicBool, Ordering};
use std::time::{Duration, Instant};

use shellgate_journal::{Durability, Journal, Query, Retention, Status};

mod calls;
use calls::call;

const CALLS_PER_MEASUREMENT: usize = 3000;

fn main() {
    let sizes: Vec<usize> = std::env::args().skip(1).filter_map(|word| word.parse().ok()).collect();
    let sizes = if sizes.is_empty() { vec![0, 100_000] } else { sizes };
    let folder = tempfile::tempdir_in(std::env::current_dir().unwrap()).unwrap();
    let journal = Journal::open(folder.path()).unwrap();
    let mut calls = 0;
    println!("{:>9}  {:<34} {:>9} {:>9} {:>9}", "rows", "work", "median", "99 %", "most");
    for size in sizes {
        while journal.head().unwrap().seq < size as u64 {
            call(&journal, &mut calls);
        }
        measure(folder.path(), &journal, &mut calls);
    }
    prune(folder.path(), &journal, &mut calls);
}

/// Prunes everything, and records calls meanwhile.
fn prune(folder: &Path, journal: &Journal, calls: &mut usize) {
    let rows = journal.head().unwrap().seq;
    let all = Retention { since: Some(i64::MAX), bytes: None };
    let done = AtomicBool::new(false);
    let mut meanwhile = Vec::new();
    let took = std::thread::scope(|scope| {
        let pruning = scope.spawn(|| {
            let other = Journal::open(folder).unwrap();
            let took = times(1, || other.prune(all, &BTreeMap::new()).unwrap());
            done.store(true, Ordering::Release);
            took
        });
        while !done.load(Ordering::Acquire) {
            let (one, two) = call(journal, calls);
            meanwhile.push(one + two);
        }
        pruning.join().unwrap()
    });
    show(rows, "pruning all of it", &took);
    show(rows, "warm: a whole call meanwhile", &meanwhile);
}

fn measure(folder: &Path, journal: &Journal, calls: &mut usize) {
    let rows = journal.head().unwrap().seq;
    let show = |work: &str, times: &[Duration]| show(rows, work, times);
    let (mut before, mut after) = (Vec::new(), Vec::new());
    for _ in 0..CALLS_PER_MEASUREMENT {
        let (one, two) = call(journal, calls);
        before.push(one);
        after.push(two);
    }
    let both: Vec<_> = before.iter().zip(&after).map(|(one, two)| *one + *two).collect();
    show("warm: asked + started", &before);
    show("warm: ended", &after);
    show("warm: a whole call", &both);
    show("one-shot, others have it open", &times(300, || call(&Journal::open(folder).unwrap(), calls)));
    let synced = Journal::open_with(folder, Durability::Power).unwrap();
    show("warm: a whole call, Power", &times(100, || call(&synced, calls)));
    drop(synced);
    show(
        "history, newest 50",
        &times(20, || journal.history(&Query { limit: 50, ..Query::default() }).unwrap()),
    );
    let rare = Query { containing: Some("nowhere to be found".into()), limit: 50, ..Query::default() };
    show("history, text that isn't there", &times(2, || journal.history(&rare).unwrap()));
    let rare = Query { statuses: vec![Status::TimedOut], limit: 50, ..Query::default() };
    show("history, state that isn't there", &times(5, || journal.history(&rare).unwrap()));
    let chats = Query { session: Some("s7".into()), limit: 50, ..Query::default() };
    show("history, one session", &times(5, || journal.history(&chats).unwrap()));
    show("verify", &times(1, || journal.verify().unwrap()));
    let alone = tempfile::tempdir_in(std::env::current_dir().unwrap()).unwrap();
    for file in ["journal.db", "journal.db-wal"] {
        std::fs::copy(folder.join(file), alone.path().join(file)).unwrap();
    }
    show("one-shot, alone", &times(300, || call(&Journal::open(alone.path()).unwrap(), calls)));
    show("open and close, alone", &times(300, || Journal::open(alone.path()).unwrap()));
}

fn times<T>(rounds: usize, mut work: impl FnMut() -> T) -> Vec<Duration> {
    let once = |_| {
        let start = Instant::now();
        drop(work());
        start.elapsed()
    };
    (0..rounds).map(once).collect()
}

fn show(rows: u64, work: &str, times: &[Duration]) {
    let mut times = times.to_vec();
    times.sort();
    let at = |percent: usize| times.get((times.len() - 1) * percent / 100).copied().unwrap_or_default();
    println!("{rows:>9}  {work:<34} {:>9.3?} {:>9.3?} {:>9.3?}", at(50), at(99), at(100));
}
