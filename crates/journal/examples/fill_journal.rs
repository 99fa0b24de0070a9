//! Fills the journal of a state folder, for `scripts/bench --growth`: `fill_journal FOLDER ENTRIES`.
//!
//! Calls are recorded as a front end records them, three entries each, until there are at least that many entries.
#![expect(clippy::print_stdout, reason = "prints what it has written")]
#![expect(clippy::unwrap_used, reason = "a program for measurements that fails should say where")]

use shellgate_journal::Journal;

#[path = "../benches/calls/mod.rs"]
mod calls;

/// `asked`, `started`, `ended`.
const ENTRIES_PER_CALL: u64 = 3;

fn main() {
    let words: Vec<String> = std::env::args().skip(1).collect();
    let [folder, entries] = words.as_slice() else {
        println!("usage: fill_journal FOLDER ENTRIES");
        std::process::exit(2);
    };
    let entries: u64 = entries.parse().unwrap();
    let journal = Journal::open(folder.as_ref()).unwrap();
    let mut written = journal.head().unwrap().seq;
    // Its calls are numbered, and each has another id.
    let mut count = usize::try_from(written).unwrap();
    while written < entries {
        calls::call(&journal, &mut count);
        written += ENTRIES_PER_CALL;
    }
    println!("{}", journal.head().unwrap().seq);
}
