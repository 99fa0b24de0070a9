//! Everyday commands and what must be said of them: what people and agents type all day is allowed by rules that name
//! its programs, and no question is asked about it.
//!
//! Every line gives its `should`, or what it tolerates: some commands should be allowed, but the judge can't tell yet. Lines
//! that should ask are the dangerous neighbours of those that are allowed. Counts are printed; run with `--no-capture` to
//! see them.

#![expect(clippy::unwrap_used, reason = "a test may")]

use std::collections::BTreeMap;

use serde::Deserialize;
use shellgate_policy::{CommandContext, Decision, Entry, Machine, Prefix, Rules, Verdict, judge};

#[derive(Deserialize)]
struct Line {
    command: String,
    core: Vec<String>,
    exclude: Vec<String>,
    should: String,
    #[serde(default)]
    tolerate: Vec<String>,
}

fn lines() -> Vec<Line> {
    include_str!("vectors/everyday.jsonl").lines().map(|line| serde_json::from_str(line).unwrap()).collect()
}

fn entry(text: &str) -> Entry {
    let prefix = match text {
        "*" => Prefix::Everything,
        text => Prefix::Words(text.split(' ').map(str::to_owned).collect()),
    };
    Entry { prefix, shown: text.to_owned() }
}

fn said(line: &Line, root: &std::path::Path) -> Verdict {
    let rules = Rules {
        core: (!line.core.is_empty()).then(|| line.core.iter().map(|text| entry(text)).collect()),
        exclude: line.exclude.iter().map(|text| entry(text)).collect(),
        ..Rules::default()
    };
    // A folder of declared programs. A command names it as `{PATH}`.
    let path = std::env::var("PATH").unwrap();
    let machine = Machine::new(root, root, Some(root.join("home")), (&path).into());
    judge(&line.command.replace("{PATH}", &path), &CommandContext::default(), &rules, &machine)
}

fn name(decision: Decision) -> &'static str {
    match decision {
        Decision::Allow => "allow",
        Decision::Ask => "ask",
        Decision::Deny => "deny",
    }
}

#[derive(Default)]
struct Count {
    lines: usize,
    exactly: usize,
    tolerated: usize,
    wrong: usize,
}

#[test]
fn everyday_commands_get_the_verdict_that_they_should() {
    let folder = tempfile::tempdir().unwrap();
    let root = folder.path().canonicalize().unwrap();
    let mut counts: BTreeMap<String, Count> = BTreeMap::new();
    let mut wrong = Vec::new();
    for line in lines() {
        let verdict = said(&line, &root);
        let count = counts.entry(line.should.clone()).or_default();
        count.lines += 1;
        let said = name(verdict.decision());
        if said == line.should {
            count.exactly += 1;
            if !line.tolerate.is_empty() {
                wrong.push(format!("no longer needed: tolerate of {:?}", line.command));
            }
        } else if line.tolerate.iter().any(|other| other == said) {
            count.tolerated += 1;
        } else {
            count.wrong += 1;
            let reasons: Vec<&str> = verdict.reasons().iter().map(|reason| reason.message.as_str()).collect();
            wrong.push(format!(
                "{:?} core {:?} exclude {:?}: {said}, should be {} {reasons:?}",
                line.command, line.core, line.exclude, line.should
            ));
        }
    }
    println!("{:7} {:>5} {:>7} {:>9} {:>5}", "should", "lines", "exactly", "tolerated", "wrong");
    for (should, count) in &counts {
        println!("{should:7} {:5} {:7} {:9} {:5}", count.lines, count.exactly, count.tolerated, count.wrong);
    }
    for line in &wrong {
        eprintln!("{line}");
    }
    assert_eq!(wrong.len(), 0);
    // Needless questions are at most one in a hundred.
    let allowed = counts.get("allow").unwrap();
    assert!(allowed.tolerated * 100 <= allowed.lines, "{} of {}", allowed.tolerated, allowed.lines);
}
