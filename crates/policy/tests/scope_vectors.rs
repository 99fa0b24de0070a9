//! Program calls and whether they stay inside a folder, from a corpus that was run with a tracer.

#![expect(clippy::unwrap_used, reason = "a test may")]

use std::path::Path;
use std::process::Command;

use serde::Deserialize;
use shellgate_policy::{Machine, check_scope};

#[derive(Deserialize)]
struct Line {
    id: String,
    command: String,
    parameters: Vec<String>,
    directory: String,
    should: String,
    #[serde(default)]
    tolerate: Vec<String>,
    why: String,
}

/// The folders that the lines speak of, built as the corpus was.
fn fixture(base: &Path) {
    let script = include_str!("vectors/scope-fixture.sh");
    let done = Command::new("bash").args(["-c", script, "scope-fixture"]).arg(base).output().unwrap();
    assert!(done.status.success(), "{done:?}");
}

/// A word as it is refused before its scope is looked at, by the reader of agent-world's calls.
fn is_shell_syntax(word: &str) -> bool {
    word.contains("$(") || word.contains('`')
}

#[test]
fn every_call_is_accepted_or_refused_as_it_should() {
    let folder = tempfile::tempdir().unwrap();
    let base = folder.path().canonicalize().unwrap().join("base");
    fixture(&base);
    let root = base.join("trusted");
    let place = |text: &str| {
        text.replace("{ROOT_UPPER}", &root.to_str().unwrap().to_uppercase())
            .replace("{ROOT}", root.to_str().unwrap())
            .replace("{OUT}", base.join("outside").to_str().unwrap())
            .replace("{HOME}", base.join("home").to_str().unwrap())
    };
    let (mut wrong, mut lines) = (0, 0);
    for line in include_str!("vectors/scope.jsonl").lines() {
        let line: Line = serde_json::from_str(line).unwrap();
        lines += 1;
        let directory = root.join(place(&line.directory)).canonicalize();
        let enters =
            directory.as_ref().is_ok_and(|directory| directory.starts_with(&root) && directory.is_dir());
        let argv: Vec<String> = [line.command.clone()]
            .into_iter()
            .chain(line.parameters.iter().map(|word| place(word)))
            .collect();
        let accepted = enters && !argv.iter().any(|word| is_shell_syntax(word)) && {
            let machine = Machine::new(
                &root,
                &directory.unwrap(),
                Some(base.join("home")),
                std::env::var_os("PATH").unwrap(),
            );
            check_scope(&argv, &machine).is_ok()
        };
        let said = if accepted { "accept" } else { "reject" };
        if said != line.should && !line.tolerate.iter().any(|other| other == said) {
            wrong += 1;
            eprintln!("{} {argv:?} in {:?}: accepted {accepted} ({})", line.id, line.directory, line.why);
        }
    }
    assert_eq!((wrong, lines), (0, 205));
}
