//! Texts with what bash runs in them, from data files.

use serde::Deserialize;
use shellgate_syntax::{Unreadable, read};

#[derive(Deserialize)]
struct Case {
    name: String,
    text: String,
    valid: bool,
    runs: Vec<String>,
}

/// Lines that are valid only with `extglob` on, which `bash -c` hasn't.
const EXTENDED: &[&str] = &["extglob", "extglob in case"];

#[test]
fn every_line_of_grammar_is_read_right() {
    let mut wrong = Vec::new();
    for line in include_str!("cases/grammar.jsonl").lines() {
        let case: Case = serde_json::from_str(line).unwrap();
        let valid = case.valid && !EXTENDED.contains(&case.name.as_str());
        match read(&case.text) {
            Ok(_) if !valid => wrong.push(format!("{}: read, but bash refuses it", case.name)),
            Err(error) if valid => wrong.push(format!("{}: {error}", case.name)),
            Err(Unreadable::Budget(error)) => wrong.push(format!("{}: {error}", case.name)),
            Err(_) => {}
            Ok(findings) => {
                let mut found: Vec<_> =
                    findings.invocations.iter().filter_map(|one| one.words.first()?.value.known()).collect();
                found.retain(|name| name.starts_with(['c', 'x']) && name.len() == 2);
                found.sort_unstable();
                found.dedup();
                if found != case.runs {
                    wrong.push(format!("{}: found {found:?}, runs {:?}", case.name, case.runs));
                }
                if !findings.doubts.is_empty() {
                    wrong.push(format!("{}: {:?}", case.name, findings.doubts));
                }
            }
        }
    }
    assert!(wrong.is_empty(), "{}", wrong.join("\n"));
}

#[derive(Deserialize)]
struct Everyday {
    text: String,
}

#[test]
fn everyday_commands_are_read_with_certainty() {
    let mut wrong = Vec::new();
    for line in include_str!("cases/everyday.jsonl").lines() {
        let case: Everyday = serde_json::from_str(line).unwrap();
        match read(&case.text) {
            Ok(findings) if findings.doubts.is_empty() => {}
            other => wrong.push(format!("{:?}: {other:?}", case.text)),
        }
    }
    assert!(wrong.is_empty(), "{}", wrong.join("\n"));
}
