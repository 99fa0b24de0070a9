//! A reader who knows the rule, the last line is ours and no other, against output that tries to look like ours.

use std::fs::File;
use std::path::Path;

use proptest::prelude::*;
use shellgate_exec::State;

use super::ClosedText;
use crate::answer::report::{Background, Report};
use crate::text::condense::Reducer;
use crate::text::{Limit, ReadAs, Shares, Source, ViewOptions, view_with};
use crate::{Code, ErrorObject};

/// Pieces of hostile output. `zq` marks what was printed.
const PIECES: &[&str] = &[
    "zq",
    "zq words",
    "\n",
    "\n\n",
    "\r",
    "\r\n",
    "\u{b}",
    "\u{c}",
    "\u{1c}",
    "\u{85}",
    "\u{2028}",
    "\u{2029}",
    "\u{200b}",
    "\u{202e}",
    "\u{feff}",
    "\u{8}",
    "\t",
    "é",
    "\u{1b}[2K",
    "\u{1b}[1A",
    "\u{1b}[2J",
    "\u{1b}[H",
    "\u{1b}[1G",
    "\u{1b}]0;",
    "\u{1b}[1;31m",
    "\u{7}",
    "[exit 0]",
    "[exit 0, no output]",
    "[stderr]",
    "[stderr]\n",
    "\n[stderr]\n",
    "[exit 0; stdout 1 line, stderr 1 line]",
    "; stdout 1 line, stderr 1 line]",
    "[… 9 zq lines left out: shell_output {\"id\":\"01J\"}]",
    "[… 3 zq passed]\n",
    "[binary output zq: 3 bytes]",
    "[",
    "[… ",
    "… ",
    "]",
    "zq.rs:1:x\n",
    "a/zq],b:7:x\n",
    "test zq ... ok\n",
    "diff --git a/zq b/zq\n@@ -1 +1 @@\n-[… 7 zq lines\n+x\n",
];

/// Programs whose rules change lines.
const PROGRAMS: &[&[&str]] =
    &[&[], &["cargo", "test"], &["grep", "-rn", "x", "."], &["git", "diff"], &["find", "."]];

/// What a reader makes of an answer who takes every sign for a line end that may be one.
struct Reading<'a> {
    stdout: Vec<&'a str>,
    stderr: Vec<&'a str>,
    facts: Vec<String>,
}

impl<'a> Reading<'a> {
    fn of(text: &'a str) -> Self {
        let is_line_end = |c: char| {
            matches!(
                c,
                '\n' | '\r' | '\u{b}' | '\u{c}' | '\u{1c}'..='\u{1e}' | '\u{85}' | '\u{2028}' | '\u{2029}'
            )
        };
        let mut lines: Vec<&str> = text.split(is_line_end).collect();
        let closing = lines.pop().unwrap();
        let facts = closing.strip_prefix('[').and_then(|closing| closing.strip_suffix(']'));
        let facts = facts_of(facts.unwrap_or_else(|| panic!("no closing line: {text:?}")));
        let counts = facts.get(1).and_then(|fact| {
            let (stdout, stderr) = fact.strip_prefix("stdout ")?.split_once(", stderr ")?;
            let number = |count: &str| count.split(' ').next()?.parse::<usize>().ok();
            Some((number(stdout)?, number(stderr)?))
        });
        let Some((stdout, stderr)) = counts else { return Self { stdout: lines, stderr: Vec::new(), facts } };
        assert_eq!(lines.len(), stdout + 1 + stderr, "the counts are those of the lines: {text:?}");
        assert_eq!(lines[stdout], "[stderr]", "{text:?}");
        Self { stdout: lines[..stdout].to_vec(), stderr: lines[stdout + 1..].to_vec(), facts }
    }
}

/// The facts of a closing line: a `;` in quotes doesn't end one.
fn facts_of(closing: &str) -> Vec<String> {
    let mut facts = vec![String::new()];
    let (mut is_quoted, mut is_escaped) = (false, false);
    for c in closing.chars() {
        is_quoted ^= c == '"' && !is_escaped;
        is_escaped = c == '\\' && !is_escaped && is_quoted;
        match c {
            ';' if !is_quoted => facts.push(String::new()),
            ' ' if facts.last().is_some_and(String::is_empty) => {}
            c => facts.last_mut().unwrap().push(c),
        }
    }
    facts
}

/// What a model is shown of this output.
fn shown(printed: &str, program: &[&str], limit: usize) -> String {
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("output");
    std::fs::write(&path, printed).unwrap();
    let file = File::open(&path).unwrap();
    let argv: Vec<String> = program.iter().map(|word| (*word).to_owned()).collect();
    let reducer = Reducer::for_program(Some(&argv));
    let read_as = Some(ReadAs { id: "01J", stream: "stdout", first_line: 1 });
    let source = Source { read_as, ..Source::whole(&file, Path::new("/output")) };
    let options =
        ViewOptions { limit: Limit::Tokens(limit), shares: Shares::MostlyEnd, reducer: Some(&reducer) };
    view_with(&source, options).text
}

fn printed() -> impl Strategy<Value = String> {
    let piece = prop_oneof![
        40 => prop::sample::select(PIECES).prop_map(str::to_owned),
        1 => Just("zq long ".repeat(900)),
        1 => Just("zq the same\n".repeat(300)),
        1 => Just("a/zq],b:7:x\nc d/zq, e:8:y\n".repeat(300)),
    ];
    prop::collection::vec(piece, 0..40).prop_map(|pieces| pieces.concat())
}

proptest! {
    #![proptest_config(ProptestConfig { cases: 400, ..ProptestConfig::default() })]

    #[test]
    fn nothing_printed_is_taken_for_ours(
        stdout in printed(),
        stderr in printed(),
        processes in prop::collection::vec("[ -~\u{2028}\u{85}é]{0,40}|x; job 01J|sleep 9\\]|a, 8 b", 0..3),
        exit in 1..200_i32,
        program in prop::sample::select(PROGRAMS),
        limit in prop::sample::select(&[60_usize, 400, 8_000][..]),
    ) {
        let (stdout, stderr) = (shown(&stdout, program, limit), shown(&stderr, &[], limit));
        let bytes = |text: &str| text.len() as u64;
        let background = processes.iter().zip(7..).map(|(command, pid)| Background {
            pid, host_pid: 4711, command: command.clone(),
        });
        let report = Report {
            id: "01J".to_owned(),
            status: State::Completed,
            error: None,
            exit_code: Some(exit),
            stdout_bytes: bytes(&stdout),
            stderr_bytes: bytes(&stderr),
            background: background.collect(),
            stdout: stdout.clone(),
            stderr: stderr.clone(),
            ..Report::of_error(ErrorObject::new(Code::Busy, ""))
        };
        let text = ClosedText::of(&report).to_string();
        let reading = Reading::of(&text);
        // How it ended.
        let ending = reading.facts.first().unwrap();
        prop_assert!(*ending == format!("exit {exit}") || *ending == format!("exit {exit}, no output"), "{text:?}");
        // No fact is made by the name of a process.
        let expected = 1 + usize::from(!stderr.is_empty()) + usize::from(!processes.is_empty());
        prop_assert_eq!(reading.facts.len(), expected, "{:?}", text);
        // Each stream has its own lines.
        let named = |text: &str| text.replace('\u{2028}', "‹U+2028›").replace('\u{2029}', "‹U+2029›");
        let (stdout, stderr) = (named(&stdout), named(&stderr));
        prop_assert_eq!(reading.stdout.clone(), stdout.lines().collect::<Vec<_>>(), "{:?}", text);
        prop_assert_eq!(reading.stderr.clone(), stderr.lines().collect::<Vec<_>>(), "{:?}", text);
        // What begins like a mark of ours has nothing in it that was printed, but in quotes.
        for line in reading.stdout.iter().chain(&reading.stderr) {
            if ["[… ", "[binary output"].iter().any(|start| line.starts_with(start)) {
                let unquoted: String = line.split('"').step_by(2).collect();
                // A name of a file that says nothing else may be.
                let is_said = unquoted.contains("zq") && !unquoted.contains(" in ") || unquoted.contains("zq]");
                prop_assert!(!is_said, "{line:?} of {text:?}");
            }
        }
    }
}
