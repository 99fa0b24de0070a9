//! Runs the tests in the tables. Every row has at least one.

use super::entry;
use super::form::Role;
use super::form::{Entry, OptionEntry, Parsing};
use super::{CallMeaning, Canonical, EffectKind, ProgramKind, understand, understand_as};
use serde::Deserialize;
use shellgate_syntax::{Span, Unknown, Value, Why, Word};
use std::fmt::Write;
use std::path::Path;
use std::{fs, mem};

#[derive(Deserialize)]
struct File {
    #[serde(default)]
    program: Vec<Row>,
}

#[derive(Deserialize)]
struct Row {
    names: Vec<String>,
    #[serde(default)]
    tests: Vec<Test>,
    #[serde(default)]
    subcommand: Vec<Row>,
}

#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
struct Test {
    call: String,
    #[serde(default)]
    runs: Vec<String>,
    #[serde(default)]
    shell: Vec<String>,
    #[serde(default)]
    inline: Vec<String>,
    #[serde(default)]
    opaque: Vec<String>,
    #[serde(default)]
    writes: Vec<String>,
    #[serde(default)]
    unusual: bool,
    #[serde(default)]
    maybe: bool,
    input: Option<String>,
    reads: Option<Vec<String>>,
    assigns: Option<Vec<String>>,
    arithmetic: Option<Vec<String>>,
    directory: Option<String>,
    canonical: Option<String>,
}

#[test]
fn every_row_has_tests_and_they_hold() {
    let mut wrong = String::new();
    let mut rows = 0;
    let mut tests = 0;
    let folder = Path::new(env!("CARGO_MANIFEST_DIR")).join("tables");
    let mut files: Vec<_> = fs::read_dir(folder).unwrap().map(|entry| entry.unwrap().path()).collect();
    files.retain(|path| path.extension().is_some_and(|end| end == "toml"));
    files.sort();
    for path in files {
        let text = fs::read_to_string(&path).unwrap();
        let file: File = toml_edit::de::from_str(&text).unwrap_or_else(|e| panic!("{}: {e}", path.display()));
        let mut queue: Vec<(String, Row)> =
            file.program.into_iter().map(|row| (String::new(), row)).collect();
        while let Some((parents, row)) = queue.pop() {
            let name = format!("{parents}{} ", row.names[0]);
            rows += 1;
            tests += row.tests.len();
            if row.tests.is_empty() {
                writeln!(wrong, "{}: {name}has no tests", path.display()).unwrap();
            }
            for test in &row.tests {
                check(&mut wrong, &name, test);
            }
            queue.extend(row.subcommand.into_iter().map(|row| (name.clone(), row)));
        }
    }
    println!("{rows} rows, {tests} tests");
    assert!(rows > 0 && wrong.is_empty(), "\n{wrong}");
}

/// Programs whose every word is read, option or not.
const NO_OPTIONS: &[&str] = &["test", "["];

#[test]
fn an_option_that_no_table_lists_is_unusual() {
    let mut wrong = String::new();
    let mut checked = 0;
    let mut queue: Vec<(String, &Entry)> =
        entry::PROGRAMS.all().map(|entry| (String::new(), entry)).collect();
    while let Some((before, entry)) = queue.pop() {
        let name = entry.names[0].replace('*', "x");
        let call = format!("{before}{name} --surely-no-option");
        let catches_all = |option: &OptionEntry| option.names.iter().any(|name| ["-*", "--*"].contains(name));
        let reads_options = !matches!(entry.parsing, Parsing::Words);
        if reads_options && !entry.open && !entry.options().any(catches_all) && !NO_OPTIONS.contains(&&*name)
        {
            checked += 1;
            let effects = understand(&words(&call)).effects;
            if !effects.iter().any(|effect| matches!(effect.kind, EffectKind::Unusual(_))) {
                writeln!(wrong, "{call}: {effects:?}").unwrap();
            }
        }
        queue.extend(entry.subcommands.iter().map(|sub| (format!("{before}{name} "), sub)));
    }
    assert!(checked > 50 && wrong.is_empty(), "\n{wrong}");
}

/// A suffix with a slash in it leads to a file elsewhere.
#[test]
fn a_suffix_of_written_files_is_no_plain_data() {
    let mut wrong = Vec::new();
    let mut queue: Vec<&Entry> = entry::PROGRAMS.all().collect();
    while let Some(entry) = queue.pop() {
        let is_plain = |option: &&OptionEntry| {
            option.names.iter().any(|name| name.ends_with("suffix")) && option.values == [Role::Data]
        };
        if entry.kind == ProgramKind::Writer {
            wrong.extend(entry.options().find(is_plain).map(|option| (entry.names[0], &option.names)));
        }
        queue.extend(&entry.subcommands);
    }
    assert!(wrong.is_empty(), "options for suffixes have the role `backup-suffix`: {wrong:?}");
}

#[test]
fn any_words_can_be_read() {
    let mut calls = 0;
    for entry in entry::PROGRAMS.all() {
        let name = entry.names[0];
        for odd in [
            "",
            "-",
            "--",
            "---",
            "-=",
            "--=",
            "--x=",
            "+",
            "=",
            "é",
            "-é",
            "--é=é",
            "{}",
            ";",
            "$",
            "\"-$\"",
            "\"--o=$\"",
            "\"é$\"",
        ] {
            for call in
                [format!("{name} {odd}"), format!("{name} {odd} {odd} x"), format!("{name} x {odd} -- {odd}")]
            {
                let words = words(&call);
                // Only that reading ends counts here.
                let _ = understand(&words);
                let _ = understand_as(&words, None, true);
                calls += 1;
            }
        }
    }
    assert!(calls > 1000, "{calls}");
}

#[test]
fn words_that_are_added_may_be_options_or_commands() {
    let maybe = |call: &str| {
        let effects = understand_as(&words(call), None, true).effects;
        effects.iter().any(|effect| {
            matches!(effect.kind, EffectKind::MaybeOption(_) | EffectKind::Argv { .. } | EffectKind::Shell(_))
        })
    };
    assert!(maybe("env"), "what is added is the command");
    assert!(maybe("timeout 5"));
    assert!(maybe("sed -n p"));
    assert!(maybe("bash -c"));
    assert!(!maybe("echo a"));
}

fn check(wrong: &mut String, name: &str, test: &Test) {
    let meaning = understand(&words(&test.call));
    let mut seen = seen(&meaning);
    let mut compare = |what: &str, got: Vec<String>, want: &[String]| {
        if got != want {
            writeln!(wrong, "{name}| {} | {what}: expected {want:?}, got {got:?}", test.call).unwrap();
        }
    };
    let one = |yes: bool| if yes { vec!["yes".to_owned()] } else { Vec::new() };
    compare("runs", mem::take(&mut seen.runs), &test.runs);
    compare("shell", mem::take(&mut seen.shell), &test.shell);
    compare("inline", mem::take(&mut seen.inline), &test.inline);
    compare("opaque", mem::take(&mut seen.opaque), &test.opaque);
    compare("writes", mem::take(&mut seen.writes), &test.writes);
    compare("unusual", one(seen.unusual), &one(test.unusual));
    compare("maybe", one(seen.maybe), &one(test.maybe));
    compare("input", seen.input.clone(), &test.input.clone().into_iter().collect::<Vec<_>>());
    if let Some(reads) = &test.reads {
        compare("reads", mem::take(&mut seen.reads), reads);
    }
    if let Some(assigns) = &test.assigns {
        compare("assigns", mem::take(&mut seen.assigns), assigns);
    }
    if let Some(arithmetic) = &test.arithmetic {
        compare("arithmetic", mem::take(&mut seen.arithmetic), arithmetic);
    }
    if let Some(directory) = &test.directory {
        compare("directory", mem::take(&mut seen.directory), std::slice::from_ref(directory));
    }
    if let Some(canonical) = &test.canonical {
        compare("canonical", vec![shown(&meaning.canonical)], std::slice::from_ref(canonical));
    }
}

/// Effects as strings.
#[derive(Default)]
struct Seen {
    runs: Vec<String>,
    shell: Vec<String>,
    inline: Vec<String>,
    opaque: Vec<String>,
    writes: Vec<String>,
    reads: Vec<String>,
    assigns: Vec<String>,
    arithmetic: Vec<String>,
    directory: Vec<String>,
    input: Vec<String>,
    unusual: bool,
    maybe: bool,
}

fn seen(meaning: &CallMeaning) -> Seen {
    let mut seen = Seen::default();
    for effect in &meaning.effects {
        match &effect.kind {
            EffectKind::Argv { words, .. } => {
                seen.runs.push(words.iter().map(plain).collect::<Vec<_>>().join(" "))
            }
            EffectKind::Shell(word) => seen.shell.push(plain(word)),
            EffectKind::ShellInput(None) => seen.input.push("shell".to_owned()),
            EffectKind::ShellInput(Some(word)) => seen.opaque.push(plain(word)),
            EffectKind::Opaque(word, _) => seen.opaque.push(plain(word)),
            EffectKind::Inline(word, _) => seen.inline.push(plain(word)),
            EffectKind::OpaqueInput(_) => seen.input.push("code".to_owned()),
            EffectKind::Assigns { name, value } => {
                let value = value.as_ref().and_then(Value::known).map(|value| format!("={value}"));
                seen.assigns.push(format!("{}{}", text(name), value.unwrap_or_default()));
            }
            EffectKind::Arithmetic(word) => seen.arithmetic.push(plain(word)),
            EffectKind::Writes(word) => seen.writes.push(plain(word)),
            EffectKind::Reads(word) | EffectKind::Uses(word) => seen.reads.push(plain(word)),
            EffectKind::Directory(word) => seen.directory.push(word.as_ref().map(plain).unwrap_or_default()),
            EffectKind::Unusual(_) => seen.unusual = true,
            EffectKind::MaybeOption(_) => seen.maybe = true,
            // The attack texts are its tests: what it means depends on the folder.
            EffectKind::Imports(_) | EffectKind::Connects(_) => {}
        }
    }
    seen
}

fn shown(canonical: &[Canonical]) -> String {
    let mut words = Vec::new();
    for part in canonical {
        match part {
            Canonical::Word(value) => words.push(text(value)),
            Canonical::Option(name, value) => {
                words.push(name.clone());
                words.extend(value.as_ref().map(text));
            }
        }
    }
    words.join(" ")
}

fn plain(word: &Word) -> String {
    text(&word.value)
}

/// What is known of a value; the rest is `$`.
fn text(value: &Value) -> String {
    match value {
        Value::Known(text) => text.clone(),
        Value::Unknown(unknown) => format!("{}$", unknown.lead),
    }
}

/// Splits a call like a shell would, with `$` for what isn't known.
pub(super) fn words(call: &str) -> Vec<Word> {
    let mut words = Vec::new();
    let mut current: Option<(usize, String)> = None;
    let mut unknown: Option<(usize, bool)> = None;
    let mut quote = None;
    let mut characters = call.char_indices().peekable();
    let finish = |start: usize, end: usize, text: String, unknown: Option<(usize, bool)>| {
        let value = match unknown {
            None => Value::Known(text),
            Some((lead, splits)) => {
                let why = Why::Parameter("x".to_owned());
                Value::Unknown(Unknown {
                    lead: text.get(..lead).unwrap().to_owned(),
                    splits,
                    why,
                    tail: None,
                })
            }
        };
        Word { span: Span::new(start, end), value }
    };
    while let Some((at, c)) = characters.next() {
        if quote.is_none() && c.is_whitespace() {
            if let Some((start, text)) = current.take() {
                words.push(finish(start, at, text, unknown.take()));
            }
            continue;
        }
        let (_, text) = current.get_or_insert_with(|| (at, String::new()));
        match (quote, c) {
            (None, '\'' | '"') => quote = Some(c),
            (Some(mark), c) if mark == c => quote = None,
            (None, '\\') => text.extend(characters.next().map(|(_, c)| c)),
            (Some('"'), '\\') if characters.peek().is_some_and(|(_, c)| "\\\"$`".contains(*c)) => {
                text.extend(characters.next().map(|(_, c)| c));
            }
            (None | Some('"'), '$') => {
                unknown.get_or_insert((text.len(), quote.is_none()));
            }
            _ => text.push(c),
        }
    }
    if let Some((start, text)) = current {
        words.push(finish(start, call.len(), text, unknown));
    }
    words
}
