//! Runs every `console` block of the documentation, and compares the output with the page.
//!
//! A line that begins with `$ ` is text for bash, run in a project made for this. The lines up to the next such line are its
//! output. A `toml` block behind a line that ends in "`~/.config/shellgate/config.toml`:" is the user's settings from there on.
//! Values that differ from run to run are replaced by stand-ins. `SHELLGATE_UPDATE=docs` rewrites the pages.

use std::collections::BTreeMap;
use std::path::PathBuf;

use regex::{Captures, Regex};

use crate::support::{Place, is_alive, kill, shellgate};

/// The stand-in for the first pid of an answer; further pids count up.
const FIRST_PROCESS: usize = 4711;

/// The stand-in for hashes that differ from run to run: the hash of `test`.
const HASH: &str = "9f86d081884c7d659a2feaa0c55ad015a3bf4f1b2b0b822cd15d6c15b0f00a08";

#[test]
fn dialects_shows_what_was_run() {
    page("docs/dialects.md", &project());
}

#[test]
fn approvals_shows_what_was_run() {
    page("docs/approvals.md", &project());
}

#[test]
fn policy_shows_what_was_run() {
    page_with_settings("docs/policy.md");
}

#[test]
fn rules_shows_what_was_run() {
    page_with_settings("docs/rules.md");
}

#[test]
fn readme_shows_what_was_run() {
    let place = project();
    std::fs::remove_file(settings(&place)).unwrap();
    page("README.md", &place);
}

#[test]
fn settings_shows_what_was_run_and_every_key() {
    let path = path("docs/settings.md");
    let old = std::fs::read_to_string(&path).unwrap();
    let (head, _) = old.split_once(shellgate::settings::keys::PAGE_HEADING).unwrap();
    let new = format!("{head}{}", shellgate::settings::keys::page());
    if std::env::var("SHELLGATE_UPDATE").is_ok_and(|what| what == "docs") {
        std::fs::write(&path, new).unwrap();
    } else if let Some(difference) = difference(&old, &new) {
        panic!(
            "docs/settings.md is not what the table of keys generates; `SHELLGATE_UPDATE=docs` writes it anew\n{difference}"
        );
    }
    let place = project();
    std::fs::create_dir_all(place.root().join(".git")).unwrap();
    place.write(".git/config", "[remote \"origin\"]\n\turl = https://example.org/me/project\n");
    place.write("Cargo.toml", "[package]\nname = \"project\"\n");
    let claude = r#"{"permissions": {"allow": ["Bash(npm run test:*)", "Bash(git diff:*)"], "ask": ["Bash(git push:*)"],
"deny": ["Bash(rm -rf *)", "Read(./.env)"]}}"#;
    std::fs::create_dir(place.home().join(".claude")).unwrap();
    std::fs::write(place.home().join(".claude/settings.json"), claude).unwrap();
    std::fs::write(settings(&place), "[limits]\ntimeout_ms = 60000\n").unwrap();
    place.write(".shellgate.toml", "[policy]\ncore = [\"cargo\"]\nexclude = [\"cargo publish\"]\n");
    page("docs/settings.md", &place);
}

/// A page whose first settings are the user's.
fn page_with_settings(name: &str) {
    let place = project();
    let text = std::fs::read_to_string(path(name)).unwrap();
    let (_, rest) = text.split_once("```toml\n").unwrap();
    let (settings, _) = rest.split_once("```\n").unwrap();
    std::fs::write(self::settings(&place), settings).unwrap();
    page(name, &place);
}

/// The user's settings.
fn settings(place: &Place) -> PathBuf {
    place.home().join(".config/shellgate/config.toml")
}

fn path(name: &str) -> PathBuf {
    PathBuf::from(env!("CARGO_MANIFEST_DIR")).join("../..").join(name)
}

fn page(name: &str, place: &Place) {
    let path = path(name);
    let old = std::fs::read_to_string(&path).unwrap();
    let new = rerun(&old, place);
    place.assert_nothing_is_left();
    if std::env::var("SHELLGATE_UPDATE").is_ok_and(|what| what == "docs") {
        std::fs::write(&path, new).unwrap();
    } else if let Some(difference) = difference(&old, &new) {
        panic!(
            "{name} shows something else than what is printed now; `SHELLGATE_UPDATE=docs` writes it anew\n{difference}"
        );
    }
}

/// The project in which the examples run.
fn project() -> Place {
    let place = Place::new(None);
    for folder in ["dist", "scripts"] {
        std::fs::create_dir(place.root().join(folder)).unwrap();
    }
    place.write("dist/app.js", "console.log(1)\n");
    let script = place.write("scripts/my_script.sh", "#!/bin/sh\npwd\n");
    std::fs::set_permissions(script, std::os::unix::fs::PermissionsExt::from_mode(0o755)).unwrap();
    place
}

/// The page with the current output of its commands.
fn rerun(page: &str, place: &Place) -> String {
    let mut new = String::new();
    let mut block = Block::None;
    let mut commands = 0;
    let mut are_settings_next = false;
    for line in page.lines() {
        let is_output = matches!(block, Block::Console(_)) && !line.starts_with("$ ") && !block.ends_at(line);
        if !is_output {
            new.push_str(&format!("{line}\n"));
        }
        match &mut block {
            Block::None => {
                block = Block::begun_by(line, are_settings_next);
                are_settings_next |= line.ends_with(SETTINGS_FOLLOW);
            }
            Block::Console(mark) if line == *mark => block = Block::None,
            Block::Console(_) => {
                let Some(text) = line.strip_prefix("$ ") else { continue };
                commands += 1;
                new.push_str(&run(text, place));
            }
            Block::Settings(text) if line == "```" => {
                std::fs::write(settings(place), text).unwrap();
                (block, are_settings_next) = (Block::None, false);
            }
            Block::Settings(text) => text.push_str(&format!("{line}\n")),
        }
    }
    assert!(matches!(block, Block::None) && commands > 0, "blocks are closed, and there are some");
    new
}

/// The end of a line before the user's settings.
const SETTINGS_FOLLOW: &str = "`~/.config/shellgate/config.toml`:";

/// The block of code that a line is in.
enum Block<'a> {
    /// In none that matters.
    None,
    /// Commands and their output, with the mark that ends it.
    Console(&'a str),
    /// The user's settings.
    Settings(String),
}

impl<'a> Block<'a> {
    fn begun_by(line: &'a str, are_settings_next: bool) -> Self {
        let mark = line.strip_suffix("console").unwrap_or_default();
        if mark.len() >= 3 && mark.chars().all(|c| c == '`') {
            return Self::Console(mark);
        }
        if are_settings_next && line == "```toml" { Self::Settings(String::new()) } else { Self::None }
    }

    fn ends_at(&self, line: &str) -> bool {
        matches!(self, Self::Console(mark) if line == *mark)
    }
}

/// The output of `text`, as the page shows it.
fn run(text: &str, place: &Place) -> String {
    let mut command = place.program("bash");
    let folder = shellgate().parent().unwrap().display().to_string();
    command.env("PATH", format!("{folder}:{}", crate::support::programs()));
    // Both streams go to one pipe, in the order in which a person would see them.
    let output = command.args(["-c", &format!("exec 2>&1; {text}")]).output().unwrap();
    let mut shown = String::from_utf8(output.stdout).unwrap();
    if !shown.ends_with('\n') {
        shown.push('\n');
    }
    tidy(&shown, place)
}

/// `text` with stand-ins for values that differ from run to run. Ends the processes that the text names.
fn tidy(text: &str, place: &Place) -> String {
    let shown = |path: PathBuf| path.canonicalize().unwrap().display().to_string();
    let mut text = text.replace(&shown(place.root()), "/home/me/project");
    text = text.replace(&shown(place.state()), "/home/me/.local/state/shellgate");
    text = text.replace(&shown(place.home()), "/home/me");
    let replace = |text: &str, pattern: &str, with: &str| {
        Regex::new(pattern).unwrap().replace_all(text, with).into_owned()
    };
    text = replace(&text, r"\b[0-9A-HJKMNP-TV-Z]{26}\b", "01JZ7Q0W4N8R5T6V7X9YABCDEF");
    text = replace(&text, r"\b\d{4}-\d\d-\d\d \d\d:\d\d:\d\d\b", "2026-11-15 08:43:34");
    text = replace(&text, r"head: (\d+):[0-9a-f]{64}", &format!("head: $1:{HASH}"));
    // A duration of zero means that nothing was started, so it stays.
    let took = |line: &str| match line.contains(r#""exit_code":null"#) && line.contains(r#""duration_ms":0,"#)
    {
        true => line.to_owned(),
        false => replace(line, r#""duration_ms":\d+"#, r#""duration_ms":12"#),
    };
    text = text.split_inclusive('\n').map(took).collect();
    text = replace(&text, r"(?m)(^|, )[\d.]+ m?s, directory", "${1}12 ms, directory");
    let mut known: BTreeMap<u64, usize> = BTreeMap::new();
    let labels = r#"((?:"(?:host_)?pid":|"backgroundPids":\[|Background PIDs: |Process Group PGID: |still running: ))([\d, ]+)"#;
    let numbers = Regex::new(r"\d+").unwrap();
    let text = Regex::new(labels).unwrap().replace_all(&text, |found: &Captures<'_>| {
        let pids = numbers.replace_all(&found[2], |pid: &Captures<'_>| {
            let next = FIRST_PROCESS + known.len();
            known.entry(pid[0].parse().unwrap()).or_insert(next).to_string()
        });
        format!("{}{pids}", &found[1])
    });
    known.into_keys().filter(|pid| is_ours(*pid, place)).for_each(kill);
    text.into_owned()
}

/// Whether a process was started in this place. The kernel may have reused its pid for another process.
fn is_ours(pid: u64, place: &Place) -> bool {
    let environment = std::fs::read(format!("/proc/{pid}/environ")).unwrap_or_default();
    let home = format!("HOME={}", place.home().display());
    is_alive(pid) && environment.split(|byte| *byte == 0).any(|entry| entry == home.as_bytes())
}

/// The lines in which two texts differ.
fn difference(old: &str, new: &str) -> Option<String> {
    if old == new {
        return None;
    }
    let (old, new): (Vec<&str>, Vec<&str>) = (old.lines().collect(), new.lines().collect());
    let same = |pairs: &mut dyn Iterator<Item = (&&str, &&str)>| pairs.take_while(|(a, b)| a == b).count();
    let before = same(&mut old.iter().zip(&new));
    let shorter = old.len().min(new.len()) - before;
    let after = same(&mut old.iter().rev().zip(new.iter().rev())).min(shorter);
    let part = |sign: char, lines: &[&str]| -> String {
        let middle = lines.get(before..lines.len() - after).unwrap_or_default();
        middle.iter().map(|line| format!("{sign}{line}\n")).collect()
    };
    Some(format!("from line {} on:\n{}{}", before + 1, part('-', &old), part('+', &new)))
}
