//! The strongest test: texts are run in real bash, and every program that bash looked for must be among the findings.
//!
//! `SHELLGATE_SEED=7 SHELLGATE_TEXTS=20000 cargo test --release -p shellgate-syntax --test main oracle -- --nocapture` runs
//! more of them; `SHELLGATE_SHOW=1` prints every text that bash takes and we don't read with certainty.

#![expect(clippy::unwrap_used, clippy::indexing_slicing, clippy::print_stdout, reason = "a test may")]

pub(crate) mod bash;
pub(crate) mod generate;
pub(crate) mod matching;
pub(crate) mod mutate;
pub(crate) mod random;

use std::collections::BTreeMap;
use std::path::Path;

use generate::Generator;
use matching::{Judged, judge};
use random::Random;
use serde::Deserialize;

#[derive(Deserialize)]
struct Case {
    text: String,
}

/// Texts to change: those of the data files.
fn seeds() -> Vec<String> {
    let lines =
        include_str!("cases/grammar.jsonl").lines().chain(include_str!("cases/findings.jsonl").lines());
    lines
        .map(|line| serde_json::from_str::<Case>(line).unwrap().text)
        .filter(|text| !text.contains(['\0', '/']) && text.len() < 500)
        .collect()
}

/// A third as the grammar makes them, a third of those changed, a third of the data files' changed.
fn texts(seed: u64, count: usize) -> Vec<String> {
    let mut random = Random::new(seed);
    let seeds = seeds();
    let mut texts = Vec::with_capacity(count);
    while texts.len() < count {
        let generated = Generator::text(&mut random);
        let seed = seeds[random.below(seeds.len())].clone();
        let text = match random.below(3) {
            0 => generated,
            1 => mutate::mutate(&mut random, &generated, &seed),
            _ => mutate::mutate(&mut random, &seed, &generated),
        };
        if !text.contains(['/', '\0']) && !text.is_empty() {
            texts.push(text);
        }
    }
    texts
}

#[derive(Default)]
struct Counts {
    programs: usize,
    valid: usize,
    certain: usize,
    by: BTreeMap<&'static str, usize>,
    missed: Vec<String>,
}

impl Counts {
    fn add(&mut self, text: &str, folder: &Path) {
        let result = shellgate_syntax::read(text);
        let certain = result.as_ref().is_ok_and(|findings| findings.doubts.is_empty());
        let accepted = bash::accepts(text);
        if accepted {
            self.valid += 1;
            self.certain += usize::from(certain);
        } else if result.is_ok() {
            *self.by.entry("(texts that we read and bash refuses)").or_default() += 1;
        }
        if (accepted != certain) && std::env::var_os("SHELLGATE_SHOW").is_some() {
            match &result {
                Ok(findings) => println!("bash takes it: {accepted} {text:?} {:?}", findings.doubts),
                Err(error) => println!("bash takes it: {accepted} {text:?} {error}"),
            }
        }
        for argv in bash::run(text, folder) {
            self.programs += 1;
            let judged = judge(result.as_ref(), &argv);
            *self.by.entry(judged.name()).or_default() += 1;
            if judged == Judged::Missed {
                self.missed.push(format!("{text:?}\n    started {argv:?}"));
            }
        }
    }
}

#[test]
fn every_program_that_bash_starts_is_found() {
    let seed = number("SHELLGATE_SEED", 1);
    let count = number("SHELLGATE_TEXTS", 500) as usize;
    let folder = bash::folder();
    let mut counts = Counts::default();
    for text in texts(seed, count) {
        counts.add(&text, folder.path());
    }
    println!(
        "seed {seed}: {count} texts, {} programs started; bash takes {} texts, {} of them were read with certainty",
        counts.programs, counts.valid, counts.certain
    );
    println!("{:#?}", counts.by);
    assert!(counts.missed.is_empty(), "seed {seed}: missed in\n{}", counts.missed.join("\n"));
    assert!(counts.programs > count, "too little was run to show anything");
    assert!(counts.certain * 100 >= counts.valid * 65, "too much was read with doubts");
}

/// The findings are those of a shorter text, as if the reader had missed some programs.
#[test]
fn a_missing_finding_is_noticed() {
    let folder = bash::folder();
    let started = bash::run("c1 x | c2 `c3`", folder.path());
    let findings = shellgate_syntax::read("c1 x").unwrap();
    let judged: Vec<_> = started.iter().map(|argv| (argv[0].as_str(), judge(Ok(&findings), argv))).collect();
    assert!(judged.contains(&("c1", Judged::Found)), "{judged:?}");
    assert!(judged.contains(&("c2", Judged::Missed)), "{judged:?}");
    assert!(judged.contains(&("c3", Judged::Missed)), "{judged:?}");
}

fn number(name: &str, default: u64) -> u64 {
    std::env::var(name).ok().and_then(|value| value.parse().ok()).unwrap_or(default)
}
