//! The reducer for a program: the rules of all files of `reducers/` that name it.

use std::collections::BTreeMap;
use std::sync::{Arc, Mutex, OnceLock, PoisonError};

use regex::bytes::{Captures, Regex, RegexSet};

use super::blocks::{BlockReader, OpenBlock};
use super::frames::FramesReader;
use super::records::RecordReader;
use super::rules::{Action, Rule, WrittenReducer, pattern, patterns, programs, written};

/// Words before a program that start it. `python` also stands for its versions.
const LAUNCHERS: &[&[&str]] = &[
    &["npx"],
    &["bunx"],
    &["npm", "exec"],
    &["pnpm", "exec"],
    &["pnpm", "dlx"],
    &["pnpm"],
    &["yarn", "run"],
    &["yarn", "exec"],
    &["yarn"],
    &["bun", "run"],
    &["python", "-m"],
    &["py", "-m"],
    &["uv", "run"],
    &["poetry", "run"],
    &["pipenv", "run"],
    &["hatch", "run"],
    &["pdm", "run"],
    &["bundle", "exec"],
];

/// Options with a value that stand before a subcommand.
const OPTIONS_WITH_VALUE: &[&str] =
    &["-C", "-c", "--git-dir", "--work-tree", "--prefix", "--filter", "-F", "--cwd", "--directory"];

/// Lines that look like an error of any program are not folded with lines that only resemble them.
const ANY_ERROR: &str = r"(?i)(\b|_)(err(or)?s?\b|e[rR][rR][oO][rR]|warn(ing)?s?\b|fail|fatal|panic|exception|traceback|denied|refused|not found|no such|cannot|can't|could not|unable|undefined|unresolved|missing|conflict|abort|timed? ?out|killed|invalid|unexpected|assert|deprecate|deprecation|segmentation|critical|alert|vulnerab)";

/// Rules that shorten the output of a program.
#[derive(Debug)]
pub struct Reducer {
    names: Vec<&'static str>,
    errors: Option<RegexSet>,
    any_error: Option<Regex>,
    blocks: Vec<BlockReader>,
    rules: Vec<CompiledRule>,
    matching: Option<RegexSet>,
    pub(super) record: Option<RecordReader>,
    pub(super) frames: Option<FramesReader>,
    folds_near: bool,
}

/// What a line does to blocks.
#[derive(Debug)]
pub(super) struct BlockChange {
    /// The block that the line is in.
    pub(super) of_line: Option<usize>,
    /// The one that the next line may be in.
    pub(super) next: Option<OpenBlock>,
}

/// A rule whose pattern is compiled.
#[derive(Debug)]
pub(super) struct CompiledRule {
    pub(super) rule: Rule,
    /// The number of the only block that it holds in.
    within: Option<usize>,
    captures: Option<Regex>,
    pub(super) until: Option<Regex>,
}

impl CompiledRule {
    pub(super) fn captures<'l>(&self, line: &'l str) -> Option<Captures<'l>> {
        self.captures.as_ref()?.captures(line.as_bytes())
    }
}

impl Reducer {
    /// The reducer for the output of this program. `None`, or a program without rules: only runs of lines are folded.
    #[must_use]
    pub fn for_program(argv: Option<&[String]>) -> Arc<Self> {
        Self::of_written(argv.unwrap_or_default(), |_| true)
    }

    /// The reducer for the output of a program that another's output is piped to. If it names no files, it may only print lines of
    /// that: they are not its own.
    #[must_use]
    pub fn for_piped(argv: &[String]) -> Arc<Self> {
        // The first operand is the pattern.
        let is_operand =
            |word: &&String| !word.starts_with(['-', '+']) && !word.bytes().all(|byte| byte.is_ascii_digit());
        let names_files = argv.iter().skip(1).filter(is_operand).count() > 1;
        Self::of_written(argv, |written| names_files || !written.is_filter)
    }

    fn of_written(argv: &[String], holds: impl Fn(&WrittenReducer) -> bool) -> Arc<Self> {
        static COMPILED: OnceLock<Mutex<BTreeMap<String, Arc<Reducer>>>> = OnceLock::new();
        let words: Vec<&str> = argv.iter().map(String::as_str).collect();
        let calls = calls_of(&words);
        let is_wanted = |written: &&WrittenReducer| is_written_for(written, &calls) && holds(written);
        let wanted: Vec<&WrittenReducer> = written().iter().filter(is_wanted).collect();
        let key: Vec<&str> = wanted.iter().map(|written| written.name).collect();
        let compiled = COMPILED.get_or_init(Mutex::default);
        let mut compiled = compiled.lock().unwrap_or_else(PoisonError::into_inner);
        Arc::clone(compiled.entry(key.join(" ")).or_insert_with(|| Arc::new(Self::compiled(&wanted))))
    }

    /// The program and subcommand as the reducers name it: `cargo test`. `None`: no reducer knows it.
    #[must_use]
    pub fn program_name(argv: &[String]) -> Option<&'static str> {
        let words: Vec<&str> = argv.iter().map(String::as_str).collect();
        let calls = calls_of(&words);
        let named = calls.iter().filter_map(|call| {
            programs().filter(|program| call.is_of(program)).max_by_key(|program| program.len())
        });
        named.max_by_key(|name| name.len())
    }

    /// The names of the files that its rules are from.
    #[must_use]
    pub fn names(&self) -> &[&'static str] {
        &self.names
    }

    fn compiled(wanted: &[&'static WrittenReducer]) -> Self {
        let names = wanted.iter().map(|written| written.name).collect();
        let folds_near = !wanted.iter().any(|written| written.folds_equal_only);
        let mut errors: Vec<&str> = Vec::new();
        let (mut blocks, mut rules, mut record, mut frames) = (Vec::new(), Vec::new(), None, None);
        for written in wanted {
            errors.extend(&written.errors);
            record = record.or_else(|| written.record.as_ref().and_then(RecordReader::new));
            frames = frames.or_else(|| written.frames.as_ref().and_then(FramesReader::new));
            let before = blocks.len();
            blocks.extend(written.blocks.iter().filter_map(BlockReader::new));
            let block_named = |name: &str| written.blocks.iter().position(|block| block.name == name);
            rules.extend(written.rules.iter().cloned().map(|rule| {
                let within = block_named(rule.within).map(|at| before + at);
                compile(rule, within)
            }));
        }
        let texts: Vec<&str> = rules.iter().map(|compiled: &CompiledRule| compiled.rule.pattern).collect();
        Self {
            names,
            errors: patterns(&errors),
            any_error: pattern(ANY_ERROR),
            matching: patterns(&texts),
            blocks,
            rules,
            record,
            frames,
            folds_near,
        }
    }

    /// Whether lines that only resemble each other are folded.
    pub(super) fn folds_near(&self) -> bool {
        self.folds_near
    }

    /// Whether a line looks like an error of the program.
    pub(super) fn is_error(&self, line: &str) -> bool {
        self.errors.as_ref().is_some_and(|errors| errors.is_match(line.as_bytes()))
    }

    /// Whether a line looks like an error of any program.
    pub(super) fn may_be_error(&self, line: &str) -> bool {
        self.any_error.as_ref().is_none_or(|any| any.is_match(line.as_bytes()))
    }

    pub(super) fn rule_numbered(&self, number: usize) -> Option<&CompiledRule> {
        self.rules.get(number)
    }

    /// The block that a line is in or opens, if the line before it was in `open`. The line that opens a block is not in it.
    pub(super) fn block_after(&self, open: Option<OpenBlock>, line: &str) -> BlockChange {
        let stays = open.and_then(|open| self.blocks.get(open.number)?.with_line(open, line));
        let started = || {
            let mut blocks = self.blocks.iter().enumerate();
            blocks.find_map(|(number, block)| block.start(number, line))
        };
        match stays {
            Some(open) => BlockChange { of_line: Some(open.number), next: Some(open) },
            None => BlockChange { of_line: None, next: started() },
        }
    }

    /// The first rule that matches a line, with its number. `block`: the one that the line is in.
    pub(super) fn rule(&self, line: &str, block: Option<usize>) -> Option<(usize, &CompiledRule)> {
        self.matching(line, block).next()
    }

    /// The first rule that matches a line and holds among lines that stay as they are.
    pub(super) fn rule_anywhere(&self, line: &str, block: Option<usize>) -> Option<(usize, &CompiledRule)> {
        self.matching(line, block).find(|(_, rule)| rule.rule.anywhere)
    }

    fn matching(&self, line: &str, block: Option<usize>) -> impl Iterator<Item = (usize, &CompiledRule)> {
        let matching = self.matching.as_ref().map(|matching| matching.matches(line.as_bytes()));
        let numbers = matching.into_iter().flat_map(IntoIterator::into_iter);
        numbers
            .filter_map(|number| Some((number, self.rules.get(number)?)))
            .filter(move |(_, rule)| rule.within.is_none() || rule.within == block)
    }

    /// Whether fewer lines of long runs can be shown than usual.
    pub(super) fn can_be_tight(&self) -> bool {
        let is_tighter = |rule: &CompiledRule| matches!(&rule.rule.action, Action::First(limits) if limits.tight < limits.usual);
        self.rules.iter().any(is_tighter)
    }
}

fn compile(rule: Rule, within: Option<usize>) -> CompiledRule {
    let captures = match rule.action {
        Action::Rewrite(_)
        | Action::Group(_)
        | Action::Search(..)
        | Action::Once
        | Action::Paths
        | Action::Listing
        | Action::Tree => pattern(rule.pattern),
        _ => None,
    };
    let until = match &rule.action {
        Action::Verbatim(until) => pattern(until),
        _ => None,
    };
    CompiledRule { rule, within, captures, until }
}

/// Whether the rules are for this call.
fn is_written_for(written: &WrittenReducer, calls: &[Call<'_>]) -> bool {
    let words = calls.first().map(|call| call.words).unwrap_or_default();
    names_one_of(&written.programs, calls).is_some()
        && !written.unless.iter().any(|option| words.iter().any(|word| is_option(option, word)))
}

/// Whether a word is this option: `--count` also with a value or with a longer name, `-c` also among other letters.
fn is_option(option: &str, word: &str) -> bool {
    let letter = option.strip_prefix('-').filter(|letter| letter.len() == 1);
    match (letter, word.strip_prefix('-')) {
        (Some(letter), Some(letters)) if !letters.starts_with('-') => letters.contains(letter),
        _ => word.starts_with(option),
    }
}

/// The entry of `programs` that names this call, also behind a launcher.
fn names_one_of(programs: &[&'static str], calls: &[Call<'_>]) -> Option<&'static str> {
    let mut named = calls.iter().filter_map(|call| {
        let named = programs.iter().copied().filter(|program| call.is_of(program));
        named.max_by_key(|program| program.len())
    });
    named.next()
}

/// A call: its words, and the name of its program. Each call is compared with hundreds of programs.
struct Call<'a> {
    name: &'a str,
    words: &'a [&'a str],
}

/// A call, and those that it starts as a launcher.
fn calls_of<'a>(words: &'a [&'a str]) -> Vec<Call<'a>> {
    let calls = std::iter::successors(Some(words), |words| behind_launcher(words));
    calls.filter_map(|words| Some(Call { name: base_name(words.first()?), words })).collect()
}

/// The call that a launcher starts.
fn behind_launcher<'w, 'a>(words: &'w [&'a str]) -> Option<&'w [&'a str]> {
    let program = base_name(words.first()?);
    let is_first = |name: &str| program == name || name == "python" && program.starts_with("python");
    let launcher = LAUNCHERS.iter().find(|launcher| {
        launcher.first().is_some_and(|name| is_first(name))
            && launcher.iter().skip(1).eq(words.iter().skip(1).take(launcher.len() - 1))
    })?;
    let behind = words.get(launcher.len()..)?;
    let options = behind.iter().take_while(|word| word.starts_with('-')).count();
    behind.get(options..).filter(|behind| !behind.is_empty())
}

impl Call<'_> {
    /// Whether it is of this program and subcommand.
    fn is_of(&self, program: &str) -> bool {
        let Some(subcommand) = program.strip_prefix(self.name) else { return false };
        if subcommand.is_empty() {
            return true;
        }
        if !subcommand.starts_with(' ') {
            return false;
        }
        let mut skips_value = false;
        let mut operands = self.words.iter().skip(1).filter(|word| {
            let is_option = word.starts_with(['-', '+']);
            let is_value = std::mem::replace(&mut skips_value, OPTIONS_WITH_VALUE.contains(word));
            !is_option && !is_value
        });
        subcommand.split(' ').filter(|word| !word.is_empty()).all(|name| operands.next() == Some(&name))
    }
}

fn base_name(program: &str) -> &str {
    program.rsplit('/').next().unwrap_or(program)
}

#[cfg(test)]
mod tests {
    use super::*;

    fn name(command: &str) -> Option<&'static str> {
        let argv: Vec<String> = command.split(' ').map(str::to_owned).collect();
        Reducer::program_name(&argv)
    }

    #[test]
    fn programs_are_found_behind_launchers_and_options() {
        for (command, expected) in [
            ("cargo test", Some("cargo test")),
            ("cargo +nightly -q test --all", Some("cargo test")),
            ("git -C sub -c a.b=c log -3", Some("git log")),
            ("python3.11 -m pytest -x", Some("pytest")),
            ("npx --yes jest --ci", Some("jest")),
            ("yarn jest", Some("jest")),
            ("yarn install", Some("yarn install")),
            ("./node_modules/.bin/tsc -p .", Some("tsc")),
            ("cargo", None),
            ("xcargo test", None),
            ("pnpm", None),
        ] {
            assert_eq!(name(command), expected, "{command}");
        }
    }
}
