//! `kill -9` at any moment.
//!
//! Real processes write, prune and forget, each to the same journal, and say on their standard output what they were
//! promised: "begun ID" and "ended ID" after the call returned. They are killed at moments that nobody chose. Then the
//! journal must open, verify, hold all that was promised, and know no more than was asked of it.
//!
//! `JOURNAL_CRASHES=500` makes it longer.

use std::collections::{BTreeMap, BTreeSet};
use std::io::{BufRead as _, BufReader, Write as _};
use std::path::Path;
use std::process::{Child, Command, Stdio};
use std::time::Duration;

use shellgate_journal::{EndStatus, Error, Head, Journal, LossCause, Query, Retention, Status, Verification};

use crate::support::{asked, closed, command, ended, intact, role, started};

const NAME: &str = "crash::killed_at_any_moment_nothing_promised_is_lost";
const WRITERS: usize = 3;

#[test]
fn killed_at_any_moment_nothing_promised_is_lost() {
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
            // From nearly at once, while it still makes or opens the journal, to some milliseconds into its work.
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
                "what was there before is there: {verification:?}"
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
fn killed_while_it_is_made_it_is_made_by_the_next() {
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
            // What is forgotten goes when its end goes, not with its tombstone.
            say("forgotten", &id, head.seq);
        }
        if call % 7 == 5 && name.ends_with('2') {
            // Enough that something goes each time, and the newest calls stay.
            let retention = Retention { since: None, bytes: Some(300_000) };
            journal.prune(retention, &BTreeMap::new()).unwrap();
        }
    }
}

/// What the killed processes said.
#[derive(Default)]
struct Promised {
    /// What each execution was last told, and the number of that entry.
    told: BTreeMap<String, (Word, u64)>,
    /// Those that we closed ourselves.
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
    /// Kills a process at that moment and reads what it said. Whether it was killed while it wrote.
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
                // What follows may have been written without being said.
                Word::Begun => &[Status::Running, Status::Completed],
                Word::Ended => &[Status::Completed, Status::Forgotten],
                Word::Forgotten => &[Status::Forgotten],
            };
            assert!(fits.contains(status), "{id} is {status}");
        }
    }
}

#[test]
fn a_transaction_that_was_never_finished_is_not_there() {
    // The same on purpose, so that it doesn't take luck: the log is cut in the middle of a transaction.
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
