//! The rules of reducers, read from the text that `build.rs` makes of `reducers/*.toml`.

use std::sync::OnceLock;

use regex::bytes::{Captures, Regex, RegexBuilder, RegexSet, RegexSetBuilder};

static REDUCERS: &str = include_str!(concat!(env!("OUT_DIR"), "/reducers.txt"));

/// What happens to a line.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) enum Action {
    /// Runs of such lines are counted. Without a label they are left out.
    Drop,
    /// Such lines are counted together up to the next blank line, also if others are between them.
    Gather,
    /// So many of a run are shown, the others counted.
    First(usize),
    /// Shown in this form.
    Rewrite(String),
    /// Shown with one blank where there were several.
    Squeeze,
    /// Lines of one file stand below its name, so many of them; in this form.
    Group(usize, String),
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

/// A group of so many lines shows all of them.
pub(super) const SHOWS_ALL: usize = 100_000;

impl Action {
    /// Whether every word of the line is still shown, so that errors may have this form too.
    pub(super) fn keeps_words(&self) -> bool {
        match self {
            Self::Squeeze | Self::Keep | Self::Verbatim(_) => true,
            Self::Group(max, _) => *max >= SHOWS_ALL,
            _ => false,
        }
    }
}

/// A rule for lines that match its pattern.
#[derive(Clone, Debug)]
pub(super) struct Rule {
    pub(super) action: Action,
    pub(super) label: &'static str,
    /// Whether it also holds among lines that stay as they are.
    pub(super) anywhere: bool,
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

/// A reducer as it is written.
#[derive(Debug, Default)]
pub(super) struct WrittenReducer {
    pub(super) name: &'static str,
    pub(super) programs: Vec<&'static str>,
    pub(super) folds_equal_only: bool,
    pub(super) errors: Vec<&'static str>,
    pub(super) rules: Vec<Rule>,
    pub(super) record: Option<RecordRule>,
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
            ["fold", _] => self.folds_equal_only = true,
            ["error", pattern] => self.errors.push(pattern),
            ["line", action, label, max, to, until, place, pattern] => {
                let max = max.parse().unwrap_or_default();
                let action = match action {
                    "drop" => Action::Drop,
                    "gather" => Action::Gather,
                    "first" => Action::First(max),
                    "rewrite" => Action::Rewrite(to.to_owned()),
                    "squeeze" => Action::Squeeze,
                    "group" => Action::Group(max, to.to_owned()),
                    "paths" => Action::Paths,
                    "listing" => Action::Listing,
                    "tree" => Action::Tree,
                    "verbatim" => Action::Verbatim(until.to_owned()),
                    _ => Action::Keep,
                };
                self.rules.push(Rule { action, label, anywhere: place == "anywhere", pattern });
            }
            ["record", start, title, body, to] => {
                self.record = Some(RecordRule { start, title, body, to, parts: Vec::new() });
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
            for text in reducer.errors.iter().copied().chain(rules.flatten()).chain(record) {
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
