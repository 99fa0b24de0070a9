//! The rules of reducers, read from the text that `build.rs` makes of `reducers/*.toml`.

use std::sync::OnceLock;

use regex::bytes::{Captures, Regex, RegexBuilder, RegexSet, RegexSetBuilder};

use super::search::SearchLimits;

static REDUCERS: &str = include_str!(concat!(env!("OUT_DIR"), "/reducers.txt"));

/// The programs of all reducers, with their subcommands, a line each. To name a program no reducer has to be read.
static PROGRAMS: &str = include_str!(concat!(env!("OUT_DIR"), "/programs.txt"));

/// The programs of all reducers, with their subcommands.
pub(super) fn programs() -> impl Iterator<Item = &'static str> {
    PROGRAMS.lines()
}

/// What happens to a line.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) enum Action {
    /// Runs of such lines are counted. Without a label they are left out.
    Drop,
    /// Such lines are counted together up to the next blank line, also if others are between them.
    Gather,
    /// So many of a run are shown, the others counted.
    First(RunLimits),
    /// Left out if what it names stands in a line that is shown.
    Once,
    /// Shown in this form.
    Rewrite(String),
    /// Shown with one blank where there were several.
    Squeeze,
    /// Lines of one file stand below its name, in this form.
    Group(String),
    /// A match of a search, in this form.
    Search(SearchLimits, String),
    /// Names of files stand behind their folder.
    Paths,
    /// The names below this line, up to a blank one, stand on one line.
    Listing,
    /// An entry of a drawn tree.
    Tree,
    /// This line and all lines to one that matches stay as they are.
    Verbatim(String),
    /// Stays as it is.
    Keep,
}

/// How many lines of a run are shown.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) struct RunLimits {
    pub(super) usual: usize,
    /// Where the view is still long.
    pub(super) tight: usize,
}

impl Action {
    /// Whether every word of the line is still shown, so that errors may have this form too.
    pub(super) fn keeps_words(&self) -> bool {
        matches!(self, Self::Squeeze | Self::Keep | Self::Verbatim(_) | Self::Group(_))
    }
}

/// A rule for lines that match its pattern.
#[derive(Clone, Debug)]
pub(super) struct Rule {
    pub(super) action: Action,
    pub(super) label: &'static str,
    /// Whether it also holds among lines that stay as they are.
    pub(super) anywhere: bool,
    /// The only block that it holds in. Empty: it holds in all.
    pub(super) within: &'static str,
    pub(super) pattern: &'static str,
}

/// Several lines that become one.
#[derive(Debug)]
pub(super) struct RecordRule {
    pub(super) start: &'static str,
    pub(super) title: &'static str,
    pub(super) body: &'static str,
    pub(super) to: &'static str,
    pub(super) parts: Vec<&'static str>,
}

/// A place in the output that rules can be limited to.
#[derive(Debug)]
pub(super) struct BlockRule {
    pub(super) name: &'static str,
    pub(super) start: &'static str,
    /// Empty: only a blank line ends it.
    pub(super) end: &'static str,
}

/// The lines of a backtrace.
#[derive(Debug)]
pub(super) struct FramesRule {
    pub(super) start: &'static str,
    pub(super) frame: &'static str,
    pub(super) place: &'static str,
    pub(super) foreign: &'static str,
}

/// A reducer as it is written.
#[derive(Debug, Default)]
pub(super) struct WrittenReducer {
    pub(super) name: &'static str,
    pub(super) programs: Vec<&'static str>,
    /// Options with which the rules don't hold.
    pub(super) unless: Vec<&'static str>,
    /// Whether the rules don't hold for lines of what is piped to the program.
    pub(super) is_filter: bool,
    pub(super) folds_equal_only: bool,
    pub(super) errors: Vec<&'static str>,
    pub(super) blocks: Vec<BlockRule>,
    pub(super) rules: Vec<Rule>,
    pub(super) record: Option<RecordRule>,
    pub(super) frames: Option<FramesRule>,
}

/// All reducers, in the order of their names. They are read once.
pub(super) fn written() -> &'static [WrittenReducer] {
    static WRITTEN: OnceLock<Vec<WrittenReducer>> = OnceLock::new();
    WRITTEN.get_or_init(read)
}

fn read() -> Vec<WrittenReducer> {
    let mut reducers: Vec<WrittenReducer> = Vec::new();
    for line in REDUCERS.lines() {
        let fields: Vec<&'static str> = line.split('\t').collect();
        if let ["reducer", name] = *fields {
            reducers.push(WrittenReducer { name, ..WrittenReducer::default() });
        }
        if let Some(reducer) = reducers.last_mut() {
            reducer.add(&fields);
        }
    }
    reducers
}

impl WrittenReducer {
    fn add(&mut self, fields: &[&'static str]) {
        match *fields {
            ["program", words] => self.programs.push(words),
            ["filter"] => self.is_filter = true,
            ["unless", option] => self.unless.push(option),
            ["block", name, start, end] => self.blocks.push(BlockRule { name, start, end }),
            ["fold", _] => self.folds_equal_only = true,
            ["error", pattern] => self.errors.push(pattern),
            ["line", action, label, max, other_max, to, until, place, within, pattern] => {
                let number = |text: &str| text.parse().unwrap_or_default();
                let (max, other_max) = (number(max), number(other_max));
                let action = match action {
                    "drop" => Action::Drop,
                    "gather" => Action::Gather,
                    "first" => Action::First(RunLimits { usual: max, tight: other_max }),
                    "once" => Action::Once,
                    "rewrite" => Action::Rewrite(to.to_owned()),
                    "squeeze" => Action::Squeeze,
                    "group" => Action::Group(to.to_owned()),
                    "search" => Action::Search(SearchLimits { file: max, all: other_max }, to.to_owned()),
                    "paths" => Action::Paths,
                    "listing" => Action::Listing,
                    "tree" => Action::Tree,
                    "verbatim" => Action::Verbatim(until.to_owned()),
                    _ => Action::Keep,
                };
                self.rules.push(Rule { action, label, anywhere: place == "anywhere", within, pattern });
            }
            ["record", start, title, body, to] => {
                self.record = Some(RecordRule { start, title, body, to, parts: Vec::new() });
            }
            ["frames", start, frame, place, foreign] => {
                self.frames = Some(FramesRule { start, frame, place, foreign });
            }
            ["part", pattern] => {
                if let Some(record) = &mut self.record {
                    record.parts.push(pattern);
                }
            }
            _ => {}
        }
    }
}

/// A compiled pattern. Classes are those of ASCII: patterns of Unicode are much larger, and tools speak ASCII.
pub(super) fn pattern(text: &str) -> Option<Regex> {
    RegexBuilder::new(text).unicode(false).build().ok()
}

/// Compiled patterns, of which the first that matches is looked for.
pub(super) fn patterns(texts: &[&str]) -> Option<RegexSet> {
    RegexSetBuilder::new(texts).unicode(false).build().ok()
}

/// `template` with `{name}` replaced by what a group of this name matched. A group that matched nothing is empty.
pub(super) fn fill(template: &str, captures: &Captures<'_>) -> String {
    let mut filled = String::new();
    let mut rest = template;
    while let Some((before, (name, after))) =
        rest.split_once('{').and_then(|(before, behind)| Some((before, behind.split_once('}')?)))
    {
        filled.push_str(before);
        filled.push_str(&group(captures, name));
        rest = after;
    }
    filled + rest
}

/// What the group of this name matched.
pub(super) fn group(captures: &Captures<'_>, name: &str) -> String {
    captures
        .name(name)
        .map(|found| String::from_utf8_lossy(found.as_bytes()).into_owned())
        .unwrap_or_default()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_pattern_can_be_compiled() {
        for reducer in written() {
            let rules = reducer.rules.iter().flat_map(|rule| {
                let until = match &rule.action {
                    Action::Verbatim(until) => Some(until.as_str()),
                    _ => None,
                };
                [Some(rule.pattern), until]
            });
            let record = reducer.record.iter().flat_map(|record| {
                [record.start, record.title, record.body].into_iter().chain(record.parts.iter().copied())
            });
            let frames = reducer
                .frames
                .iter()
                .flat_map(|frames| [frames.start, frames.frame, frames.place, frames.foreign]);
            let blocks = reducer.blocks.iter().flat_map(|block| [block.start, block.end]);
            let all = reducer
                .errors
                .iter()
                .copied()
                .chain(rules.flatten())
                .chain(record)
                .chain(frames)
                .chain(blocks);
            for text in all {
                assert!(pattern(text).is_some(), "{}: {text}", reducer.name);
            }
            assert!(!reducer.programs.is_empty(), "{}", reducer.name);
        }
    }

    #[test]
    fn templates_are_filled() {
        let pattern = pattern("^(?<a>[a-z]+) (?<b>[0-9]+)?").unwrap();
        let captures = pattern.captures(b"abc 17").unwrap();
        assert_eq!(fill("{b}: {a}{none}!", &captures), "17: abc!");
    }
}
