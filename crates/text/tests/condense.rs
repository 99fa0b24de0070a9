//! Condensed views of real outputs: they are shorter, and nothing that matters is missing.

#![allow(clippy::unwrap_used, clippy::expect_used, clippy::indexing_slicing, clippy::panic)]

use std::collections::{BTreeMap, BTreeSet};
use std::fs::{self, File};
use std::path::{Path, PathBuf};

use proptest::prelude::*;
use serde::Deserialize;
use shellgate_text::condense::{MIN_TOKENS, Reducer};
use shellgate_text::{Limit, Shares, Source, View, ViewOptions, estimate_tokens, view_with};

/// A limit that nothing here reaches.
const NO_LIMIT: Limit = Limit::Tokens(1_000_000);

#[derive(Deserialize)]
struct Cases {
    case: Vec<Case>,
}

/// A recorded output.
#[derive(Clone, Debug, Deserialize)]
struct Case {
    file: String,
    command: String,
    #[serde(rename = "exit")]
    _exit: i32,
    /// Counted with o200k.
    tokens: usize,
    survives: Vec<String>,
}

#[derive(Deserialize)]
struct ReducerFile {
    #[serde(default)]
    examples: Vec<String>,
}

fn outputs() -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).join("tests/cases/outputs")
}

fn cases() -> Vec<Case> {
    let text = fs::read_to_string(outputs().join("cases.toml")).unwrap();
    toml_edit::de::from_str::<Cases>(&text).unwrap().case
}

impl Case {
    fn bytes(&self) -> Vec<u8> {
        fs::read(outputs().join(format!("{}.txt", self.file))).unwrap()
    }

    fn argv(&self) -> Vec<String> {
        self.command.split(' ').map(str::to_owned).collect()
    }

    /// Lines that look like errors of the program.
    fn examples(&self) -> Vec<String> {
        let reducer = Reducer::for_program(Some(&self.argv()));
        let files = reducer.names().iter().flat_map(|name| {
            let path = Path::new(env!("CARGO_MANIFEST_DIR")).join(format!("reducers/{name}.toml"));
            toml_edit::de::from_str::<ReducerFile>(&fs::read_to_string(path).unwrap()).unwrap().examples
        });
        files.collect()
    }
}

fn shown(bytes: &[u8], argv: Option<&[String]>, limit: Limit) -> View {
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("output");
    fs::write(&path, bytes).unwrap();
    let file = File::open(&path).unwrap();
    let reducer = argv.map(|argv| Reducer::for_program(Some(argv)));
    let options = ViewOptions { limit, shares: Shares::Even, reducer: reducer.as_deref() };
    view_with(&Source::whole(&file, &path), options)
}

/// Without differences in blanks.
fn squeezed(text: &str) -> String {
    text.split_whitespace().collect::<Vec<_>>().join(" ")
}

/// The files that a view of a search names by their folder: below a line with the folder, or in a mark that counts their matches.
fn paths_behind_folders(view: &str) -> BTreeSet<String> {
    let mut paths = BTreeSet::new();
    let mut folder = "";
    for line in view.lines() {
        if let Some((folder, names)) =
            line.strip_prefix("[… ").and_then(|mark| mark.split_once(" in ")?.1.split_once(": "))
        {
            let names = names.rsplit_once(", from line ").unwrap().0;
            paths
                .extend(names.split(", ").map(|name| format!("{folder}{}", name.split(' ').next().unwrap())));
        } else if let Some(file) = line.strip_prefix(' ') {
            paths.insert(format!("{folder}{}", file.split(':').next().unwrap()));
        } else if line.ends_with('/') {
            folder = line;
        }
    }
    paths
}

#[test]
fn there_are_many_real_outputs_of_all_kinds() {
    let cases = cases();
    assert!(cases.len() >= 60, "{}", cases.len());
    let long =
        cases.iter().filter(|case| estimate_tokens(&String::from_utf8_lossy(&case.bytes())) > MIN_TOKENS);
    assert!(long.count() >= 50);
    let on_disk: u64 = cases.iter().map(|case| case.bytes().len() as u64).sum();
    assert!(on_disk < 2 << 20, "{on_disk}");
}

#[test]
fn what_matters_survives() {
    let mut lost = Vec::new();
    for case in cases() {
        let view = shown(&case.bytes(), Some(&case.argv()), NO_LIMIT);
        let text = squeezed(&view.text);
        let paths = paths_behind_folders(&view.text);
        for line in &case.survives {
            if !text.contains(&squeezed(line)) && !paths.contains(line) {
                lost.push(format!("{}: {line}", case.file));
            }
        }
    }
    assert!(lost.is_empty(), "{} lines are lost:\n{}", lost.len(), lost.join("\n"));
}

#[test]
fn short_output_stays_as_it_is() {
    let mut short = 0;
    for case in cases() {
        let plain = shown(&case.bytes(), None, NO_LIMIT);
        if estimate_tokens(&plain.text) <= MIN_TOKENS {
            short += 1;
            assert_eq!(shown(&case.bytes(), Some(&case.argv()), NO_LIMIT).text, plain.text, "{}", case.file);
        }
    }
    assert!(short >= 10, "{short}");
}

/// Less than this in hundredths of what was counted, and of short outputs a few tokens.
const ESTIMATE_MAX_PERCENT: usize = 15;
const ESTIMATE_MAX_TOKENS: usize = 5;

#[test]
fn the_estimate_of_tokens_is_near_what_was_counted() {
    let mut far = Vec::new();
    for case in cases() {
        let estimated = estimate_tokens(&shown(&case.bytes(), None, NO_LIMIT).text);
        let difference = estimated.abs_diff(case.tokens);
        if difference > (case.tokens * ESTIMATE_MAX_PERCENT / 100).max(ESTIMATE_MAX_TOKENS) {
            far.push(format!("{}: {estimated} for {}", case.file, case.tokens));
        }
    }
    assert!(far.is_empty(), "{}", far.join("\n"));
}

/// Tokens before and after, by program.
#[test]
fn it_costs_less() {
    let mut rows: BTreeMap<String, (usize, usize)> = BTreeMap::new();
    let mut table = String::from("output                            lines      tokens\n");
    for case in cases() {
        let plain = shown(&case.bytes(), None, NO_LIMIT);
        let condensed = shown(&case.bytes(), Some(&case.argv()), NO_LIMIT);
        let (before, after) = (estimate_tokens(&plain.text), estimate_tokens(&condensed.text));
        if before <= MIN_TOKENS {
            continue;
        }
        assert!(after <= before, "{}: {before} → {after}", case.file);
        let lines = (plain.text.lines().count(), condensed.text.lines().count());
        table += &format!("{:<28} {:>5} → {:<5} {:>6} → {:<6}\n", case.file, lines.0, lines.1, before, after);
        let row = rows.entry(case.file.split('/').next().unwrap().to_owned()).or_default();
        row.0 += before;
        row.1 += after;
    }
    table += "\nprogram    tokens\n";
    for (program, (before, after)) in rows {
        table += &format!("{program:<10} {before:>6} → {after}\n");
    }
    insta::assert_snapshot!(table);
}

/// As few tokens as rtk 0.16 needs for output of the same kind: 261 of 1,777 for `cargo test` with 2 of 60 tests failing, 460 of
/// 1,873 for `git log -20`, 1,098 of 4,785 for `grep`, 214 of 700 for `ls -la`.
#[test]
fn it_costs_no_more_than_with_a_filter_that_leaves_failures_and_files_out() {
    for (file, tokens, of_tokens) in [
        ("cargo/test-2-of-60-fail", 261, 1_777),
        ("git/log-20", 460, 1_873),
        ("grep/57-files", 1_098, 4_785),
        ("ls/long", 214, 700),
    ] {
        let case = cases().into_iter().find(|case| case.file == file).unwrap();
        let cost = |argv: Option<&[String]>| estimate_tokens(&shown(&case.bytes(), argv, NO_LIMIT).text);
        let (before, after) = (cost(None), cost(Some(&case.argv())));
        assert!(
            after * of_tokens <= before * tokens,
            "{file}: {after} of {before}, and rtk {tokens} of {of_tokens}"
        );
    }
}

/// Views of one output of each reducer, to be read.
#[test]
fn views_look_so() {
    for file in [
        "cargo/test-no-fail-fast",
        "cargo/test-2-of-60-fail",
        "grep/57-files",
        "gradle/2-errors",
        "mvn/1-of-41-fails",
        "docker/buildah-step-fails",
        "ls/long-recursive",
        "pytest/fail-verbose",
        "jest/fail-verbose",
        "go/test-fail-verbose",
        "git/log-20",
        "git/status-many",
        "rg/many",
        "eslint/errors",
        "apt/install",
        "pip/install-many",
        "make/errors-keep-going",
        "plain/ping-log",
    ] {
        let case = cases().into_iter().find(|case| case.file == file).unwrap();
        let view = shown(&case.bytes(), Some(&case.argv()), NO_LIMIT);
        insta::assert_snapshot!(file.replace('/', "-"), view.text);
    }
}

#[test]
fn every_reducer_has_examples_and_every_example_is_an_error() {
    let folder = Path::new(env!("CARGO_MANIFEST_DIR")).join("reducers");
    let mut names = BTreeSet::new();
    for entry in fs::read_dir(folder).unwrap().flatten() {
        let path = entry.path();
        if path.extension().is_none_or(|extension| extension != "toml") {
            continue;
        }
        let name = path.file_stem().unwrap().to_string_lossy().into_owned();
        let file: ReducerFile = toml_edit::de::from_str(&fs::read_to_string(&path).unwrap()).unwrap();
        assert!(name == "content" || !file.examples.is_empty(), "{name}");
        names.insert(name);
    }
    assert!(names.len() >= 20, "{names:?}");
}

#[test]
fn a_mark_can_t_be_forged_and_says_the_truth() {
    let mut text = String::new();
    for number in 0..400 {
        text += &format!("test group::case_{number} ... ok\n");
    }
    text += "[… 9 passed]\n";
    let argv = ["cargo".to_owned(), "test".to_owned()];
    let view = shown(text.as_bytes(), Some(&argv), NO_LIMIT);
    assert_eq!(view.text, "[… 400 passed]\n [… 9 passed]\n");
    assert_eq!(view.condensed_from, Some(401));
}

#[test]
fn what_is_still_too_long_is_cut_at_lines_of_the_original() {
    let case = cases().into_iter().find(|case| case.file == "grep/many").unwrap();
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("output");
    fs::write(&path, case.bytes()).unwrap();
    let file = File::open(&path).unwrap();
    let reducer = Reducer::for_program(Some(&case.argv()));
    let options = ViewOptions { limit: Limit::Tokens(600), shares: Shares::Even, reducer: Some(&reducer) };
    let read_as = Some(shellgate_text::ReadAs { id: "01J", stream: "stdout", first_line: 1 });
    let view = view_with(&Source { read_as, ..Source::whole(&file, &path) }, options);
    let mark = view.text.lines().find(|line| line.contains("left out: shell_output")).unwrap();
    let from: usize = mark.rsplit(':').next().unwrap().trim_end_matches(['}', ']']).parse().unwrap();
    let bytes = case.bytes();
    let original = String::from_utf8_lossy(&bytes);
    let next = original.lines().nth(from - 1).unwrap();
    let before = view.text.lines().take_while(|line| *line != mark).last().unwrap();
    let row = |line: &str| line.rsplit(':').next().unwrap().trim().to_owned();
    assert!(!view.text.contains(next), "the first line that is left out: {next}");
    let shown_last = original.lines().nth(from - 2).unwrap();
    assert!(before.starts_with("[… ") || row(shown_last) == row(before), "{before} and {shown_last}");
}

/// Whether a view shows what a line says behind its file's name below a line with that name.
fn stands_below_its_file(view: &str, line: &str) -> bool {
    let Some(at) = line.find([':', '(']) else { return false };
    let (file, finding) = line.split_at(at);
    let finding = squeezed(finding.trim_start_matches(':'));
    let mut heading = "";
    view.lines().any(|shown| {
        let is_below = shown.starts_with(' ');
        if !is_below {
            heading = shown;
        }
        is_below && heading == file && squeezed(shown) == finding
    })
}

/// An output that is not what it looks like.
#[derive(Debug, Deserialize)]
#[serde(deny_unknown_fields)]
struct OddCase {
    why: String,
    command: String,
    around: String,
    lines: Vec<String>,
    /// Whether `lines` come first.
    #[serde(default)]
    first: bool,
    /// Whether every line of `lines` survives.
    #[serde(default)]
    everything: bool,
    /// Whether the output must be shorter, so that rules held.
    #[serde(default)]
    shortened: bool,
    #[serde(default)]
    survives: Vec<String>,
}

impl OddCase {
    fn output(&self) -> String {
        const WORDS: &[&str] = &["amber", "birch", "cedar", "dune", "ember", "fjord", "grove"];
        let around = |range: std::ops::Range<usize>| -> String {
            // The numbers don't count on.
            let line = |at: usize| {
                let number = (at * 7_919 % 90 + 10).to_string();
                let line = self.around.replace("{n}", &number).replace("{w}", WORDS[at * at % 7]);
                line.replace("{{", "{") + "\n"
            };
            range.map(line).collect()
        };
        let before = if self.first { 0 } else { 150 };
        around(0..before) + &self.lines.join("\n") + "\n" + &around(before..300)
    }
}

#[test]
fn odd_outputs_lose_nothing_that_matters() {
    #[derive(Deserialize)]
    struct OddCases {
        case: Vec<OddCase>,
    }
    let text = fs::read_to_string(outputs().with_file_name("odd.toml")).unwrap();
    let cases = toml_edit::de::from_str::<OddCases>(&text).unwrap().case;
    let mut wrong = Vec::new();
    for case in &cases {
        let output = case.output();
        assert!(estimate_tokens(&output) > MIN_TOKENS, "{}: too short to be condensed", case.why);
        let argv: Vec<String> = case.command.split(' ').map(str::to_owned).collect();
        let view = shown(output.as_bytes(), Some(&argv), NO_LIMIT);
        let text = format!("\n{}\n", view.text);
        let all = case.lines.iter().filter(|_| case.everything).map(|line| format!("\n{line}\n"));
        for line in all.chain(case.survives.iter().cloned()) {
            let is_shown = if line.starts_with('\n') || line.ends_with('\n') {
                text.contains(&line)
            } else {
                squeezed(&text).contains(&squeezed(&line))
            };
            if !is_shown {
                wrong.push(format!(
                    "{}: {line:?} is lost in {}",
                    case.why,
                    &text.chars().take(600).collect::<String>()
                ));
            }
        }
        if case.shortened && view.condensed_from.is_none() {
            wrong.push(format!("{}: nothing is shortened", case.why));
        }
    }
    assert!(wrong.is_empty(), "{}", wrong.join("\n"));
}

proptest! {
    #![proptest_config(ProptestConfig { cases: 200, ..ProptestConfig::default() })]

    /// A line that looks like an error of the program is shown wherever it stands.
    #[test]
    fn an_error_is_never_dropped(
        which in any::<prop::sample::Index>(),
        places in prop::collection::vec((any::<prop::sample::Index>(), any::<prop::sample::Index>()), 1..5),
        dress in 0..4,
    ) {
        let cases = cases();
        let case = which.get(&cases);
        let examples = case.examples();
        if examples.is_empty() {
            return Ok(());
        }
        let bytes = case.bytes();
        let text = String::from_utf8_lossy(&bytes);
        let mut lines: Vec<String> = text.lines().map(str::to_owned).collect();
        let mut inserted = Vec::new();
        for (nth, (place, example)) in places.iter().enumerate() {
            // A word of its own, so that it is told from lines that were there.
            let line = format!("{} q{nth}z", example.get(&examples));
            let printed = match dress {
                0 => line.clone(),
                1 => format!("{line}\r"),
                2 => format!("\u{1b}[1;31m{line}\u{1b}[m"),
                _ => {
                    let (first, rest) = line.split_at(line.chars().next().map_or(0, char::len_utf8));
                    format!("{first}\u{1b}[31m{rest}\u{1b}[0m")
                }
            };
            lines.insert(place.index(lines.len() + 1), printed);
            inserted.push(line);
        }
        let view = shown((lines.join("\n") + "\n").as_bytes(), Some(&case.argv()), NO_LIMIT);
        let squeezed_view = squeezed(&view.text);
        for line in inserted {
            let is_shown = squeezed_view.contains(&squeezed(&line)) || stands_below_its_file(&view.text, &line);
            prop_assert!(is_shown, "{}: {line:?} is lost", case.file);
        }
    }

    /// A line that no rule knows is shown wherever it stands, as long as it is no part of a diff.
    #[test]
    fn what_no_rule_knows_is_shown(
        which in any::<prop::sample::Index>(),
        place in any::<prop::sample::Index>(),
        unknown in "(zq|Zq|  zq|\tzq|>>> zq|\\* zq|\\[zq\\]|#zq|→ zq|✗ zq)( [a-z]{2,7}){2,6}[.!?]",
    ) {
        let cases = cases();
        let case = which.get(&cases);
        let bytes = case.bytes();
        let text = String::from_utf8_lossy(&bytes);
        let mut lines: Vec<&str> = text.lines().collect();
        lines.insert(place.index(lines.len() + 1), &unknown);
        let view = shown((lines.join("\n") + "\n").as_bytes(), Some(&case.argv()), NO_LIMIT);
        let is_context = unknown.starts_with(' ') && view.text.contains("\n@@ ");
        let is_shown = squeezed(&view.text).contains(&squeezed(&unknown));
        prop_assert!(is_shown || is_context, "{}: {unknown:?} is lost", case.file);
    }

    /// Any text stays whole if there is no rule for it, or is marked where lines are missing.
    #[test]
    fn lines_are_shown_or_counted(lines in prop::collection::vec("[a-c]{0,2}[0-9]{0,3}", 0..1_500)) {
        let text = lines.join("\n") + "\n";
        let view = shown(text.as_bytes(), Some(&[]), NO_LIMIT);
        let mut counted = 0;
        for line in view.text.lines() {
            counted += match line.strip_prefix("[… ") {
                Some(mark) => mark.split(' ').next().unwrap().replace(',', "").parse::<usize>().unwrap(),
                None => 1,
            };
        }
        prop_assert_eq!(counted, text.lines().count());
    }
}
