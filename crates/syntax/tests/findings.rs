//! What is found in a text, from a data file: one line per text, with a line for each thing that is found in it.
//!
//! Each text is also run in real bash: what it starts must be found with exactly the words that bash passed.
//! `SHELLGATE_WRITE=1` writes what is found now into the file, to be read and committed.

#![expect(clippy::unwrap_used, reason = "a test may")]

use serde::{Deserialize, Serialize};

use crate::oracle::bash;
use crate::oracle::matching::{Judged, judge};
use crate::support;

#[derive(Deserialize, Serialize)]
struct Case {
    text: String,
    finds: Vec<String>,
}

const FILE: &str = concat!(env!("CARGO_MANIFEST_DIR"), "/tests/cases/findings.jsonl");

fn cases() -> Vec<Case> {
    let text = std::fs::read_to_string(FILE).unwrap();
    text.lines().map(|line| serde_json::from_str(line).unwrap()).collect()
}

fn found(text: &str) -> Vec<String> {
    match shellgate_syntax::read(text) {
        Ok(findings) => support::lines(&findings),
        Err(error) => vec![format!("unreadable: {error}")],
    }
}

#[test]
fn texts_give_these_findings() {
    let mut wrong = Vec::new();
    let mut written = String::new();
    for mut case in cases() {
        let found = found(&case.text);
        if found != case.finds {
            wrong.push(format!("{:?}\n  expected {:#?}\n  found    {found:#?}", case.text, case.finds));
        }
        case.finds = found;
        written.push_str(&serde_json::to_string(&case).unwrap());
        written.push('\n');
    }
    if std::env::var_os("SHELLGATE_WRITE").is_some() {
        std::fs::write(FILE, written).unwrap();
    }
    assert!(wrong.is_empty(), "{}", wrong.join("\n"));
}

/// Runs texts in bash. What it starts must be found, and what it takes must be read.
fn run(texts: impl Iterator<Item = String>) -> usize {
    let folder = bash::folder();
    let mut started = 0;
    let mut wrong = Vec::new();
    for text in texts {
        let result = shellgate_syntax::read(&text);
        let accepted = bash::accepts(&text);
        // Bash looks into backticks only when it gets there.
        if accepted != result.is_ok() && !text.contains('`') {
            wrong.push(format!("{text:?}: bash takes it: {accepted}, we do: {}", result.is_ok()));
        }
        for argv in bash::run(&text, folder.path()) {
            started += 1;
            let judged = judge(result.as_ref(), &argv);
            if judged == Judged::Missed || (judged == Judged::Refused && accepted) {
                wrong.push(format!("{text:?}: {argv:?} is {}", judged.name()));
            }
        }
    }
    assert!(wrong.is_empty(), "{}", wrong.join("\n"));
    started
}

#[test]
fn bash_starts_what_these_texts_give() {
    let started = run(cases().into_iter().map(|case| case.text));
    assert!(started > 200, "only {started} programs were started");
}

/// Bash 5.2 reads a substitution, writes it down again in its own words, and reads that: not always the same.
#[test]
fn bash_starts_what_these_texts_give_in_a_substitution() {
    let started = run(cases().into_iter().map(|case| format!("c9 \"$( {}\n)\"", case.text)));
    assert!(started > 200, "only {started} programs were started");
}
