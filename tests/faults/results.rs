//! What came of each fault, and the files in `SHELLGATE_FAULTS_RESULTS` by which a run of hours can be interrupted and goes on.

use std::collections::BTreeMap;
use std::io::Write as _;
use std::path::{Path, PathBuf};

use super::Verdict;
use super::plan::Fault;

/// The results of one row of the table.
pub(super) struct Results {
    row: String,
    /// The file to which each result is added.
    file: Option<PathBuf>,
    /// The last result of each fault.
    known: BTreeMap<String, &'static str>,
    wrong: Vec<String>,
}

/// The names of the verdicts in the files.
const VERDICTS: [&str; 3] = ["success", "honest", "wrong"];

impl Results {
    /// The results so far. Those that were wrong are tried again.
    pub(super) fn load(row: &str) -> Self {
        let folder = std::env::var_os("SHELLGATE_FAULTS_RESULTS").map(PathBuf::from);
        let file = folder.map(|folder| folder.join(format!("{}.tsv", row.replace([' ', '/'], "-"))));
        let known = file.as_deref().map(read).unwrap_or_default();
        Self { row: row.to_owned(), file, known, wrong: Vec::new() }
    }

    pub(super) fn is_known(&self, fault: &Fault) -> bool {
        self.known.get(&key(fault)).is_some_and(|verdict| *verdict != "wrong")
    }

    pub(super) fn add(&mut self, fault: &Fault, came: Result<Verdict, String>) {
        let verdict = match &came {
            Ok(Verdict::Success) => VERDICTS[0],
            Ok(Verdict::HonestError) => VERDICTS[1],
            Err(_) => VERDICTS[2],
        };
        let why = came.err().unwrap_or_default();
        self.known.insert(key(fault), verdict);
        if !why.is_empty() {
            println!("wrong: {}: {}: {why}", self.row, fault.inject);
            self.wrong.push(format!("{}: {why}", fault.inject));
        }
        if let Some(file) = &self.file {
            let why = why.escape_debug();
            let line = format!("{}\t{}\t{verdict}\t{}\t{why}\n", self.row, key(fault), fault.inject);
            let file = std::fs::OpenOptions::new().create(true).append(true).open(file);
            file.unwrap().write_all(line.as_bytes()).unwrap();
        }
    }

    /// Prints the counts. Fails if any result of this run is wrong.
    pub(super) fn assert_none_is_wrong(&self) {
        let count = |verdict: &str| self.known.values().filter(|known| **known == verdict).count();
        let [success, honest, wrong] = VERDICTS.map(count);
        println!(
            "faults {}: {} tried, {honest} honest errors, {success} successes, {wrong} wrong",
            self.row,
            self.known.len()
        );
        assert!(!self.known.is_empty(), "{}: nothing was tried", self.row);
        assert!(self.wrong.is_empty(), "{}:\n{}", self.row, self.wrong.join("\n"));
    }
}

/// What a fault is known by: call, site and kind.
fn key(fault: &Fault) -> String {
    format!("{}\t{}\t{}", fault.call, fault.mark, fault.kind)
}

/// The results in a file. A line that was cut off when its process was killed counts as not there.
fn read(file: &Path) -> BTreeMap<String, &'static str> {
    let text = std::fs::read_to_string(file).unwrap_or_default();
    let result = |line: &str| {
        let fields: Vec<&str> = line.split('\t').collect();
        let verdict = VERDICTS.into_iter().find(|verdict| fields.get(4) == Some(verdict))?;
        Some((fields.get(1..4)?.join("\t"), verdict))
    };
    text.lines().filter_map(result).collect()
}
