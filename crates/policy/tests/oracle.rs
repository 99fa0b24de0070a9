//! Small languages compared with the real programs: generated texts of awk, sed, find and SQL are judged, and each allowed one is
//! run under every version of its program. No program may start and no file may be written that the verdict didn't name.
//!
//! `SHELLGATE_ORACLE_CASES=20000 SHELLGATE_SEED=7 cargo nextest run -p shellgate-policy oracle --no-capture` runs more.

#![expect(clippy::unwrap_used, clippy::indexing_slicing, clippy::print_stdout, reason = "a test may")]

mod awk;
mod awk_traps;
mod find;
mod mutate;
mod observe;
// The same generator as for texts of bash.
#[path = "../../syntax/tests/oracle/random.rs"]
mod random;
mod sed;
mod sed_traps;
mod sql;

use std::collections::BTreeSet;
use std::path::Path;

use observe::{Observed, Observer, Run};
use random::Random;
use shellgate_policy::{CommandContext, Decision, Entry, Machine, Prefix, Rules, judge};

/// How many texts of each language are run at once.
const BATCH: usize = 100;

fn number(name: &str, default: u64) -> u64 {
    std::env::var(name).ok().and_then(|value| value.parse().ok()).unwrap_or(default)
}

fn entries(list: &[&str]) -> Vec<Entry> {
    let prefix = |text: &str| match text {
        "*" => Prefix::Everything,
        text => Prefix::Words(vec![text.to_owned()]),
    };
    list.iter().map(|text| Entry { prefix: prefix(text), shown: (*text).to_owned() }).collect()
}

/// The programs that an allowed text may start. `None`: neither kind of rules allows it.
fn foreseen(text: &str, root: &Path, core: &[&str]) -> Option<BTreeSet<String>> {
    let path = std::env::var_os("PATH").unwrap();
    let lists: [(&[&str], &[&str]); 2] = [(&["*"], &["touch"]), (core, &[])];
    lists.into_iter().find_map(|(core, exclude)| {
        let rules = Rules { core: Some(entries(core)), exclude: entries(exclude), ..Rules::default() };
        let machine = Machine::new(root, root, Some(root.join("../home")), path.clone());
        let verdict = judge(text, &CommandContext::default(), &rules, &machine);
        let program = |words: &[Option<String>]| words.first().cloned().flatten();
        (verdict.decision() == Decision::Allow)
            .then(|| verdict.parts().iter().filter_map(|part| program(&part.argv)).collect())
    })
}

/// Judges generated texts, runs the allowed ones, and compares.
fn compare(language: &str, versions: &[&str], core: &[&str], generate: fn(&mut Random) -> String) {
    let seed = number("SHELLGATE_SEED", 1);
    let count = number("SHELLGATE_ORACLE_CASES", 160) as usize;
    let mut random = Random::new(seed);
    let observer = Observer::new();
    let mut allowed = 0;
    let mut runs = 0;
    let mut observed = Observed::default();
    let mut batch: Vec<Run> = Vec::new();
    for at in 1..=count {
        let text = generate(&mut random);
        if let Some(programs) = foreseen(&text, observer.root(), core) {
            allowed += 1;
            let run = |version: &&str| Run {
                text: text.clone(),
                version: (*version).to_owned(),
                programs: programs.clone(),
            };
            batch.extend(versions.iter().map(run));
        }
        if batch.len() >= BATCH || at == count {
            runs += batch.len();
            let of_batch = observer.observe(&batch);
            observed.unforeseen.extend(of_batch.unforeseen);
            observed.exact += of_batch.exact;
            batch.clear();
        }
    }
    println!(
        "{language}, seed {seed}: {count} texts, {allowed} allowed, {runs} runs, {} exactly as foreseen, {} with something unforeseen",
        observed.exact,
        observed.unforeseen.len()
    );
    assert!(observed.unforeseen.is_empty(), "seed {seed}:\n{}", observed.unforeseen.join("\n"));
    assert!(allowed * 20 > count, "too little was run to show anything");
}

#[test]
fn an_allowed_awk_program_does_nothing_unforeseen() {
    compare("awk", &["mawk", "gawk", "posix-gawk", "busybox", "original-awk"], &["awk"], awk::command);
}

#[test]
fn an_allowed_sed_script_does_nothing_unforeseen() {
    compare("sed", &["gnu", "posix-gnu", "busybox"], &["sed"], sed::command);
}

#[test]
fn an_allowed_find_expression_does_nothing_unforeseen() {
    compare("find", &["gnu", "busybox"], &["find", "echo", "true"], find::command);
}

#[test]
fn an_allowed_sql_text_does_nothing_unforeseen() {
    compare("sql", &["gnu"], &["sqlite3"], sql::command);
}

/// The observer sees starts and writes in every version, so a comparison without findings says something.
#[test]
fn starts_and_writes_are_seen() {
    let observer = Observer::new();
    let cases = [
        ("awk 'BEGIN{system(\"touch P\")}'", &["mawk", "gawk", "posix-gawk", "busybox", "original-awk"][..]),
        ("awk 'BEGIN{print > \"P\"}'", &["mawk", "gawk", "posix-gawk", "busybox", "original-awk"]),
        ("sed '1e touch P' in.txt", &["gnu", "posix-gnu"]),
        ("sed 'w P' in.txt", &["gnu", "posix-gnu", "busybox"]),
        ("find . -exec touch P ';'", &["gnu", "busybox"]),
        ("find . -fprint P", &["gnu"]),
        ("find . -name in.txt -delete", &["gnu"]),
        ("sqlite3 :memory: '.shell touch P'", &["gnu"]),
        ("sqlite3 :memory: \"select writefile('P', 'x')\"", &["gnu"]),
    ];
    for (text, versions) in cases {
        for version in versions {
            let programs = ["awk", "sed", "find", "sqlite3"].map(str::to_owned).into();
            let run = Run { text: text.to_owned(), version: (*version).to_owned(), programs };
            assert!(!observer.observe(&[run]).unforeseen.is_empty(), "{version}: {text}");
        }
    }
}
