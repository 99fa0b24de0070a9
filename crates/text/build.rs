//! Turns `reducers/*.toml` into one text without pointers: pointers would be relocated in every process, and most processes
//! never condense anything. `reducers/README.md` describes the notation; a mistake in a file fails the build.

use std::collections::BTreeMap;
use std::fmt::Write as _;
use std::path::Path;
use std::{env, fs};

use serde::Deserialize;

/// What can be done with a line.
const ACTIONS: &[&str] = &[
    "drop", "gather", "first", "once", "rewrite", "squeeze", "group", "search", "paths", "listing", "tree",
    "verbatim", "keep",
];

/// A reducer as it is written.
#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
struct Reducer {
    /// Program and subcommand.
    programs: Vec<String>,
    /// Options with which the output has another form, so that the rules don't hold.
    #[serde(default)]
    unless: Vec<String>,
    /// Whether the program, if it names no files, prints lines of what is piped to it. The rules don't hold then.
    #[serde(default)]
    filter: bool,
    /// Lines that are never changed.
    #[serde(default)]
    errors: Vec<String>,
    /// Lines that tests insert anywhere; they look like errors of the program.
    #[serde(default, rename = "examples")]
    _examples: Vec<String>,
    /// `near` or `equal`.
    #[serde(default)]
    fold: String,
    /// Places in the output, by name, that rules can be limited to.
    #[serde(default)]
    blocks: BTreeMap<String, Block>,
    #[serde(default)]
    lines: Vec<LineRule>,
    record: Option<Record>,
    frames: Option<Frames>,
}

/// What happens to lines of one kind.
#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
struct LineRule {
    #[serde(rename = "match")]
    pattern: String,
    #[serde(rename = "do")]
    action: String,
    #[serde(default)]
    label: String,
    #[serde(default)]
    max: usize,
    /// Of `first`: how many where the view is long. If it is missing: as many.
    tight: Option<usize>,
    /// Of `search`: how many of all files.
    #[serde(default)]
    max_all: usize,
    #[serde(default)]
    to: String,
    #[serde(default)]
    until: String,
    /// Also among lines that stay as they are.
    #[serde(default)]
    anywhere: bool,
    /// Only in this block.
    #[serde(default)]
    within: String,
}

/// Lines behind one that matches `start`, up to a blank line or one that matches `end`. If `start` has groups `old` and `new`, it
/// is a hunk, and they say how many lines it has.
#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
struct Block {
    start: String,
    #[serde(default)]
    end: String,
}

/// Several lines that become one.
#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
struct Record {
    start: String,
    parts: Vec<String>,
    title: String,
    body: String,
    to: String,
}

/// The lines of a backtrace.
#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
struct Frames {
    start: String,
    frame: String,
    place: String,
    foreign: String,
}

fn main() -> Result<(), String> {
    println!("cargo::rerun-if-changed=reducers");
    println!("cargo::rerun-if-changed=build.rs");
    let folder = fs::read_dir("reducers").map_err(|error| format!("reducers: {error}"))?;
    let mut files: Vec<_> = folder.flatten().map(|entry| entry.path()).collect();
    files.retain(|path| path.extension().is_some_and(|extension| extension == "toml"));
    files.sort();
    let (mut text, mut names) = (String::new(), String::new());
    for path in files {
        let name = path.file_stem().unwrap_or_default().to_string_lossy().into_owned();
        let written = fs::read_to_string(&path).map_err(|error| format!("{name}: {error}"))?;
        let reducer: Reducer =
            toml_edit::de::from_str(&written).map_err(|error| format!("reducers/{name}.toml: {error}"))?;
        add(&mut text, &name, &reducer).map_err(|error| format!("reducers/{name}.toml: {error}"))?;
        for program in &reducer.programs {
            names.push_str(program);
            names.push('\n');
        }
    }
    let out = env::var("OUT_DIR").map_err(|error| format!("OUT_DIR: {error}"))?;
    for (name, content) in [("reducers.txt", text), ("programs.txt", names)] {
        fs::write(Path::new(&out).join(name), content)
            .map_err(|error| format!("can't write the reducers: {error}"))?;
    }
    Ok(())
}

/// Adds the lines of a reducer. The first field says what a line is.
fn add(text: &mut String, name: &str, reducer: &Reducer) -> Result<(), String> {
    let mut line = |fields: &[&str]| match fields.iter().find(|field| field.contains(['\t', '\n'])) {
        Some(field) => Err(format!("{field:?} has a tab or a line end: write \\t")),
        None => writeln!(text, "{}", fields.join("\t")).map_err(|error| error.to_string()),
    };
    line(&["reducer", name])?;
    match reducer.fold.as_str() {
        "" | "near" => {}
        "equal" => line(&["fold", "equal"])?,
        other => return Err(format!("`fold` is {other:?}")),
    }
    for program in &reducer.programs {
        line(&["program", program])?;
    }
    if reducer.filter {
        line(&["filter"])?;
    }
    reducer.unless.iter().try_for_each(|option| line(&["unless", option]))?;
    for pattern in &reducer.errors {
        line(&["error", pattern])?;
    }
    for (name, Block { start, end }) in &reducer.blocks {
        line(&["block", name, start, end])?;
    }
    for rule in &reducer.lines {
        let LineRule { pattern, action, label, max, tight, max_all, to, until, anywhere, within } = rule;
        if !ACTIONS.contains(&action.as_str()) {
            return Err(format!("`do` is {action:?}, and should be one of {}", ACTIONS.join(", ")));
        }
        let needs = |wanted: &str, field: &str, has: bool| match action == wanted && !has {
            true => Err(format!("`do = \"{wanted}\"` needs `{field}`: {pattern}")),
            false => Ok(()),
        };
        needs("gather", "label", !label.is_empty())?;
        needs("first", "max", *max > 0)?;
        needs("once", "name", pattern.contains("(?<name>"))?;
        needs("group", "to", !to.is_empty())?;
        needs("search", "max and max_all", *max > 0 && max_all >= max || !pattern.contains("(?<file>"))?;
        needs("rewrite", "to", !to.is_empty())?;
        needs("verbatim", "until", !until.is_empty())?;
        if !within.is_empty() && !reducer.blocks.contains_key(within) {
            return Err(format!("there is no block {within:?}: {pattern}"));
        }
        let place = if *anywhere { "anywhere" } else { "" };
        let other_max = if action == "search" { *max_all } else { tight.unwrap_or(*max) };
        let (max, other_max) = (max.to_string(), other_max.to_string());
        line(&["line", action, label, &max, &other_max, to, until, place, within, pattern])?;
    }
    if let Some(Record { start, parts, title, body, to }) = &reducer.record {
        line(&["record", start, title, body, to])?;
        parts.iter().try_for_each(|part| line(&["part", part]))?;
    }
    if let Some(Frames { start, frame, place, foreign }) = &reducer.frames {
        line(&["frames", start, frame, place, foreign])?;
    }
    Ok(())
}
