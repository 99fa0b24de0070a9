//! `kill -9` at any moment.
//!
//! Real processes write to, prune and forget from the same journal. After each call they print what was acknowledged, such
//! as "begun ID" or "ended ID". They are killed at random moments. Then the journal must open and verify, have everything
//! that was acknowledged, and have nothing that no process wrote.
//!
//! `JOURNAL_CRASHES=500` makes it longer.

use std::collections::{BTreeMap, BTreeSet};
use std::io::{BufRead as _, BufReader, Write as _};
use std::path::Path;
use std::process::{Child, Command, Stdio};
use std::time::Duration;

use shellgate_journal::{EndStatus, Error, Head, Journal, LossCause, Query, Retention, Status, Verification};

use crate::support::{asked, closed, command, ended, intact, role, started};

const NAME: &str = "crash::processes_killed_at_any_moment_lose_no_acknowledged_entry";
const WRITERS: usize = 3;

#[test]
fn processes_killed_at_any_moment_lose_no_acknowledged_entry() {
    if let Some((name, folder)) = role() {
        return write(&name, &folder);
    }
    let crashes = std::env::var("JOURNAL_CRASHES").map_or(40, |count| count.parse().unwrap());
    let folder = tempfile::tempdir().unwrap();
    let mut promised = Promised::default();
    let mut anchor: Option<Head> = None;
    let mut random = 0x2545_f491_4f6c_dd1d_u64;
    let mut inside = 0;
    for crash in 0..crashes {
        let writers: Vec<_> =
            (0..WRITERS).map(|name| spawn(&format!("{crash:05}-{name}"), folder.path())).collect();
        for writer in writers {
            // From nearly at once, while it still creates or opens the journal, to some milliseconds later.
            random = random.wrapping_mul(6_364_136_223_846_793_005).wrapping_add(1_442_695_040_888_963_407);
            inside +=
                usize::from(promised.kill_after(Duration::from_micros((random >> 33) % 15_000), writer));
        }
        let journal = Journal::open(folder.path()).unwrap();
        let whole = intact(&journal);
        if let Some(anchor) = anchor
            && whole.pruned.is_none_or(|pruned| pruned.seq <= anchor.seq)
        {
            let verification = journal.verify_with_head(anchor).unwrap();
            assert!(
                matches!(verification, Verification::Intact(_)),
                "the entries from before are intact: {verification:?}"
            );
        }
        promised.compare(&journal, whole.pruned.map_or(0, |head| head.seq));
        for open in journal.open_executions().unwrap() {
            let how = if open.started.is_some() { LossCause::KeeperLost } else { LossCause::NeverStarted };
            journal.append(&open.id, vec![closed(how)]).unwrap();
            promised.lost.insert(open.id);
        }
        assert!(journal.open_executions().unwrap().is_empty());
        anchor = Some(journal.head().unwrap());
    }
    assert!(
        inside > crashes / 2,
        "most were killed between two promises: {inside} of {crashes} times {WRITERS}"
    );
    assert!(promised.ended() > crashes, "and much was written: {}", promised.ended());
}

#[test]
fn a_process_killed_while_it_creates_the_journal_leaves_that_to_the_next() {
    for round in 0..20_u64 {
        let folder = tempfile::tempdir().unwrap();
        let mut promised = Promised::default();
        for name in 0..2 {
            let writer = spawn(&format!("{round:05}-{name}"), folder.path());
            promised.kill_after(Duration::from_micros(round * 500), writer);
        }
        let journal = Journal::open(folder.path()).unwrap();
        promised.compare(&journal, intact(&journal).pruned.map_or(0, |head| head.seq));
    }
}

fn spawn(name: &str, folder: &Path) -> Child {
    let mut writer = command(Command::new(std::env::current_exe().unwrap()), NAME, name, folder);
    writer.stdout(Stdio::piped()).spawn().unwrap()
}

/// Writes until it is killed.
fn write(name: &str, folder: &Path) {
    let say = |word: &str, id: &str, seq: u64| {
        // One write, so that a line is whole or absent.
        let mut out = std::io::stdout();
        out.write_all(format!("\n{word} {id} {seq}\n").as_bytes()).unwrap();
        out.flush().unwrap();
    };
    say("ready", name, 0);
    for call in 0.. {
        let journal = Journal::open(folder).unwrap();
        let id = format!("{name}-{call:05}");
        say("asking", &id, 0);
        let head = journal.begin(&id, name, asked(&"x".repeat(call % 9000)), vec![started()]).unwrap();
        say("begun", &id, head.seq);
        let head = journal.append(&id, vec![ended(EndStatus::Completed)]).unwrap();
        say("ended", &id, head.seq);
        if call % 7 == 3 && name.ends_with('1') {
            journal.forget(&id, "me").unwrap();
            // Pruning removes a forgotten execution with its end, not with its tombstone.
            say("forgotten", &id, head.seq);
        }
        if call % 7 == 5 && name.ends_with('2') {
            // Each pruning removes some entries and keeps the newest calls.
            let retention = Retention { since: None, bytes: Some(300_000) };
            journal.prune(retention, &BTreeMap::new()).unwrap();
        }
    }
}

/// What the killed processes printed.
#[derive(Default)]
struct Promised {
    /// The last thing that was acknowledged for each execution, and the number of its entry.
    told: BTreeMap<String, (Word, u64)>,
    /// The executions that this test closed.
    lost: BTreeSet<String>,
}

#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
enum Word {
    Asking,
    Begun,
    Ended,
    Forgotten,
}

impl Promised {
    /// Kills a process and reads what it printed. Returns whether it was killed while it wrote.
    fn kill_after(&mut self, moment: Duration, mut writer: Child) -> bool {
        std::thread::sleep(moment);
        writer.kill().unwrap();
        let mut last = None;
        for line in BufReader::new(writer.stdout.take().unwrap()).lines() {
            let line = line.unwrap();
            let [word, id, seq] = line.split(' ').collect::<Vec<_>>()[..] else { continue };
            let word = match word {
                "asking" => Word::Asking,
                "begun" => Word::Begun,
                "ended" => Word::Ended,
                "forgotten" => Word::Forgotten,
                _ => continue,
            };
            self.told.insert(id.to_owned(), (word, seq.parse().unwrap()));
            last = Some(word);
        }
        let status = writer.wait().unwrap();
        assert!(status.code().is_none(), "it ended by itself: {status}");
        matches!(last, Some(Word::Asking | Word::Begun))
    }

    fn ended(&self) -> usize {
        self.told.values().filter(|(word, _)| *word >= Word::Ended).count()
    }

    fn compare(&self, journal: &Journal, pruned: u64) {
        let history = journal.history(&Query::default()).unwrap();
        let found: BTreeMap<_, _> = history.iter().map(|found| (found.id.as_str(), found.status)).collect();
        for id in found.keys() {
            assert!(self.told.contains_key(*id), "a phantom: {id}");
        }
        for (id, (word, seq)) in &self.told {
            let Some(status) = found.get(id.as_str()) else {
                assert!(
                    *word == Word::Asking || *seq <= pruned,
                    "{id} is lost: entry {seq}, pruned up to {pruned}"
                );
                continue;
            };
            let fits: &[Status] = match word {
                _ if self.lost.contains(id) => &[Status::Lost],
                Word::Asking => &[Status::Running],
                // The next entry may have been written, and its process killed before it printed that.
                Word::Begun => &[Status::Running, Status::Completed],
                Word::Ended => &[Status::Completed, Status::Forgotten],
                Word::Forgotten => &[Status::Forgotten],
            };
            assert!(fits.contains(status), "{id} is {status}");
        }
    }
}

#[test]
fn an_unfinished_transaction_is_rolled_back() {
    // Here the log is cut in the middle of a transaction, which a kill hits only by luck.
    let folder = tempfile::tempdir().unwrap();
    let journal = Journal::open(folder.path()).unwrap();
    journal.begin("1", "s", asked("one"), vec![started()]).unwrap();
    let head = journal.head().unwrap();
    let log = folder.path().join("journal.db-wal");
    let whole = std::fs::metadata(&log).unwrap().len();
    journal.append("1", vec![ended(EndStatus::Completed)]).unwrap();
    let longer = std::fs::metadata(&log).unwrap().len();
    drop(journal);
    let (database, bytes) =
        (std::fs::read(folder.path().join("journal.db")).unwrap(), std::fs::read(&log).unwrap());
    let mut seen = BTreeSet::new();
    for cut in (whole..=longer).step_by(1000).chain([longer]) {
        let copy = tempfile::tempdir().unwrap();
        std::fs::write(copy.path().join("journal.db"), &database).unwrap();
        std::fs::write(copy.path().join("journal.db-wal"), &bytes[..usize::try_from(cut).unwrap()]).unwrap();
        let journal = Journal::open(copy.path()).unwrap();
        let found = intact(&journal).head;
        assert!(found == head || cut == longer, "half a transaction at {cut}: {found}");
        assert!(matches!(journal.verify_with_head(head).unwrap(), Verification::Intact(_)));
        seen.insert(found.seq);
        let error = journal.append("2", vec![started()]).unwrap_err();
        assert!(matches!(error, Error::UnknownExecution { .. }));
        journal.note(None, "goes on").unwrap();
        intact(&journal);
    }
    assert_eq!(seen.len(), 2, "with and without the end");
}
