//! Spellings and what must be said of them, from a corpus that was run in a real bash.
//!
//! No line that must not be allowed is allowed, `deny` lines give deny or what they tolerate, and every everyday command
//! is allowed. A table per class is printed; run with `--no-capture` to see it.

#![expect(clippy::unwrap_used, reason = "a test may")]

use std::collections::BTreeMap;

use serde::Deserialize;
use shellgate_policy::{CommandContext, Decision, Entry, Machine, Prefix, Rules, Verdict, judge};

#[derive(Deserialize)]
struct Line {
    id: String,
    class: String,
    command: String,
    core: Vec<String>,
    exclude: Vec<String>,
    should: String,
    #[serde(default)]
    tolerate: Vec<String>,
    why: String,
}

fn lines() -> Vec<Line> {
    include_str!("vectors/policy.jsonl").lines().map(|line| serde_json::from_str(line).unwrap()).collect()
}

fn entry(kind: &str, prefix: &str) -> Entry {
    let words: Vec<String> = prefix.split(' ').map(str::to_owned).collect();
    let everything = prefix == "run_shell_command";
    Entry {
        prefix: if everything { Prefix::Everything } else { Prefix::Words(words) },
        shown: format!("{kind}: {prefix}"),
    }
}

fn said(line: &Line, root: &std::path::Path) -> Verdict {
    let rules = Rules {
        core: (!line.core.is_empty()).then(|| line.core.iter().map(|one| entry("core", one)).collect()),
        exclude: line.exclude.iter().map(|one| entry("exclude", one)).collect(),
        ..Rules::default()
    };
    let home = root.join("home");
    // A folder of declared programs. A command names it as `{PATH}`.
    let path = std::env::var("PATH").unwrap();
    let machine = Machine::new(root, root, Some(home), (&path).into());
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
struct Class {
    lines: usize,
    exactly: usize,
    tolerated: usize,
    wrong: usize,
}

#[test]
fn every_spelling_gets_the_verdict_that_it_should() {
    let folder = tempfile::tempdir().unwrap();
    let root = folder.path().canonicalize().unwrap();
    let mut classes: BTreeMap<String, Class> = BTreeMap::new();
    let mut wrong = Vec::new();
    for line in lines() {
        let verdict = said(&line, &root);
        let class = classes.entry(line.class.clone()).or_default();
        class.lines += 1;
        let said = name(verdict.decision());
        if said == line.should {
            class.exactly += 1;
        } else if line.tolerate.iter().any(|other| other == said) {
            class.tolerated += 1;
        } else {
            class.wrong += 1;
            let reasons: Vec<&str> = verdict.reasons().iter().map(|reason| reason.message.as_str()).collect();
            wrong.push(format!(
                "{} {:?} core {:?} exclude {:?}: {said}, should be {} ({}) {reasons:?}",
                line.id,
                line.command.chars().take(120).collect::<String>(),
                line.core,
                line.exclude,
                line.should,
                line.why
            ));
        }
    }
    println!("{:10} {:>5} {:>7} {:>9} {:>5}", "class", "lines", "exactly", "tolerated", "wrong");
    for (name, class) in &classes {
        println!("{name:10} {:5} {:7} {:9} {:5}", class.lines, class.exactly, class.tolerated, class.wrong);
    }
    for line in &wrong {
        eprintln!("{line}");
    }
    assert_eq!(wrong.len(), 0);
}
