//! The four documents that the dialects were built from, sentence by sentence, against the real binary.
//!
//! `tests/seeds/*.toml` has a row for every sentence and example. A row is named by its document and line: `asimi:14`. There
//! are five kinds of rows:
//!
//! - It holds, and its checks pass.
//! - It waits for a part that is not built yet. Its checks must fail, so that the row is updated when that part is built.
//! - It was settled otherwise, because it contradicts another row or was given up on purpose. It says what holds instead.
//! - It is about another system.
//! - It claims nothing.

mod run;
mod table;
mod view;

use std::collections::{BTreeMap, BTreeSet};
use std::fmt::Write as _;
use std::sync::Mutex;
use std::sync::atomic::{AtomicUsize, Ordering};

use table::{Kind, Row, Table};

use crate::support::{ORDINARY, is_root};

/// How many rows run at once: most of them wait for something.
const AT_ONCE: usize = 4;

const TABLES: [(&str, &str); 4] = [
    ("asimi", include_str!("seeds/asimi.toml")),
    ("gemini", include_str!("seeds/gemini.toml")),
    ("qwen", include_str!("seeds/qwen.toml")),
    ("agent_world", include_str!("seeds/agent_world.toml")),
];

fn table(name: &str) -> Table {
    Table::read(TABLES.iter().find(|(known, _)| *known == name).unwrap().1)
}

/// Runs every row of a table, as ourselves and as an ordinary user.
fn all_rows_are_as_they_say(name: &str) {
    let table = table(name);
    let users: &[Option<u32>] = if is_root() { &[None, Some(ORDINARY)] } else { &[None] };
    let jobs: Vec<_> = users.iter().flat_map(|user| table.row.iter().map(move |row| (row, *user))).collect();
    // Where the binary has to be copied, that happens now and once.
    crate::support::shellgate();
    let (next, wrong) = (AtomicUsize::new(0), Mutex::new(Vec::new()));
    std::thread::scope(|scope| {
        for _ in 0..AT_ONCE {
            scope.spawn(|| {
                while let Some((row, user)) = jobs.get(next.fetch_add(1, Ordering::Relaxed)) {
                    let Some(complaint) = judge(row, &run::row(&table.dialect, row, *user)) else { continue };
                    let who = user.map_or(String::new(), |user| format!(" as user {user}"));
                    wrong
                        .lock()
                        .unwrap()
                        .push(format!("{name}:{}{who}: {}\n  {complaint}", row.line, row.says));
                }
            });
        }
    });
    let wrong = wrong.into_inner().unwrap();
    assert!(wrong.is_empty(), "{} rows are not as they say\n\n{}\n", wrong.len(), wrong.join("\n\n"));
    let summary = summary(name, &table);
    println!("{summary}");
    insta::with_settings!({ omit_expression => true }, {
        insta::assert_snapshot!(name, summary);
    });
}

/// The problem with a row, given the complaints of its checks.
fn judge(row: &Row, complaints: &[String]) -> Option<String> {
    match (row.kind(), complaints) {
        (Kind::Waits(issue), []) if !row.check.is_empty() => {
            Some(format!("it waits for issue {issue} and holds already: turn me on"))
        }
        (Kind::Waits(_), _) | (_, []) => None,
        _ => Some(complaints.join("\n  ")),
    }
}

/// A summary: how many rows hold, which don't, and why.
fn summary(name: &str, table: &Table) -> String {
    let mut kinds: BTreeMap<Kind, Vec<String>> = BTreeMap::new();
    for row in &table.row {
        let reason = row.reason().map_or(String::new(), |reason| format!(" ({reason})"));
        kinds.entry(row.kind()).or_default().push(format!("{name}:{}: {}{reason}", row.line, row.says));
    }
    let mut text = String::new();
    for (kind, rows) in kinds {
        let what = match kind {
            Kind::Holds => "hold and are checked",
            Kind::Waits(issue) => &format!("wait for issue {issue}"),
            Kind::Settled => "are settled otherwise",
            Kind::Elsewhere => "are about another system and were not run",
            Kind::Prose => "claim nothing",
        };
        let _ = writeln!(text, "{} {what}", rows.len());
        for row in rows {
            let _ = writeln!(text, "  {row}");
        }
    }
    text
}

#[test]
fn asimi() {
    all_rows_are_as_they_say("asimi");
}

#[test]
fn gemini() {
    all_rows_are_as_they_say("gemini");
}

#[test]
fn qwen() {
    all_rows_are_as_they_say("qwen");
}

#[test]
fn agent_world() {
    all_rows_are_as_they_say("agent_world");
}

#[test]
fn every_line_has_its_row_and_every_row_its_line() {
    for (name, _) in TABLES {
        let table = table(name);
        let numbers = table.numbers();
        let claimed: BTreeSet<u32> = table.row.iter().flat_map(table::Row::numbers).collect();
        let forgotten: Vec<_> = numbers.difference(&claimed).collect();
        assert!(forgotten.is_empty(), "{name}: no row speaks for {forgotten:?}");
        let mut names = BTreeSet::new();
        for row in &table.row {
            assert!(names.insert(&row.line), "{name}:{} is there twice", row.line);
            let edges = row.numbers();
            let (first, last) = (edges.first().unwrap(), edges.last().unwrap());
            assert!(numbers.contains(first) && numbers.contains(last), "{name}:{} has no text", row.line);
            let empty = row.kind() == Kind::Holds && row.check.is_empty();
            assert!(!empty, "{name}:{} says that it holds and checks nothing", row.line);
            let unfounded = matches!(row.kind(), Kind::Waits(_)) && row.reason().is_none();
            assert!(!unfounded, "{name}:{} waits and doesn't say why", row.line);
        }
    }
}
