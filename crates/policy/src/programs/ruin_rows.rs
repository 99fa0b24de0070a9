//! Calls that destroy what can't be brought back, from `tables/ruin.toml`: which calls, which targets make them ruin, what would
//! be lost, and a safer way.

use shellgate_syntax::Value;

use super::effect_rows::{is_option, words_of};
use super::text_table::TextTable;
use super::{CallMeaning, Canonical, EffectKind, base_name, fits_pattern};

include!(concat!(env!("OUT_DIR"), "/ruin.rs"));

/// A row of the table. Its program is the key that it is found by.
#[derive(Debug)]
pub(crate) struct RuinRow {
    /// Subcommands, or the first operands; `*` stands for anything inside a word.
    pub(crate) words: Vec<&'static str>,
    /// Options by their first names, all of which the call must have. `-X=POST`: with this value.
    pub(crate) options: Vec<&'static str>,
    /// Options and words with which the call does no harm. `<1>`: an operand.
    unless: Vec<&'static str>,
    /// Programs, one of which the call must run: `find -exec rm`.
    runs: Vec<&'static str>,
    /// The targets that make it ruin. None: it is ruin by itself.
    pub(crate) targets: Vec<TargetClass>,
    /// Which words are its targets.
    pub(crate) of: &'static str,
    /// Of [`TargetClass::Text`]: patterns of texts.
    pub(crate) texts: Vec<&'static str>,
    /// Whether a target that can't be known counts: the program has no other use.
    pub(crate) unknown: bool,
    /// What must be there to lose.
    pub(crate) when: Condition,
    /// What is lost, with `{target}`.
    pub(crate) destroys: &'static str,
    /// A safer way.
    pub(crate) instead: &'static str,
}

/// What a target is.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum TargetClass {
    /// `/`
    Top,
    /// A folder of the system.
    System,
    /// The user's home, or a folder of it that holds what the user can't make again.
    Home,
    /// The root itself.
    Root,
    /// A folder that the root is in.
    Parent,
    /// Everything in the root, a folder that it is in, a home or a folder of the system, by a pattern: `*`.
    Everything,
    /// The same, with what is in the folders there: `**`, or the names that `git ls-files` prints.
    Tree,
    /// The folder of a repository's history.
    Git,
    /// A mount point.
    Mount,
    /// A device with data on it.
    Device,
    /// A file that the system doesn't work without.
    SystemFile,
    /// A branch that others use, on a remote.
    SharedBranch,
    /// A statement of SQL that drops data.
    Statement,
    /// A text that fits a pattern of the row.
    Text,
    /// A number of processes that the session is among.
    Session,
    /// A name of such processes.
    SessionName,
    /// All of a folder of a repository, by git's spelling.
    Work,
}

/// Their names in the table.
const CLASSES: [(&str, TargetClass); 17] = [
    ("top", TargetClass::Top),
    ("system", TargetClass::System),
    ("home", TargetClass::Home),
    ("root", TargetClass::Root),
    ("parent", TargetClass::Parent),
    ("everything", TargetClass::Everything),
    ("tree", TargetClass::Tree),
    ("git", TargetClass::Git),
    ("mount", TargetClass::Mount),
    ("device", TargetClass::Device),
    ("system-file", TargetClass::SystemFile),
    ("shared-branch", TargetClass::SharedBranch),
    ("statement", TargetClass::Statement),
    ("text", TargetClass::Text),
    ("session", TargetClass::Session),
    ("session-name", TargetClass::SessionName),
    ("work", TargetClass::Work),
];

/// What must be there for a call to destroy something. It is looked up when the call is judged.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Condition {
    /// Nothing is looked up.
    Always,
    /// Changes of tracked files, staged or not.
    Uncommitted,
    /// Changes of tracked files that aren't staged.
    Changed,
    /// Files that git doesn't track.
    Untracked,
    /// The same, with those that git ignores.
    Ignored,
    /// Stashed changes.
    Stash,
    /// A branch whose last commit no other branch has.
    OnlyCopy,
}

/// Their names in the table.
const CONDITIONS: [(&str, Condition); 7] = [
    ("", Condition::Always),
    ("uncommitted", Condition::Uncommitted),
    ("changed", Condition::Changed),
    ("untracked", Condition::Untracked),
    ("ignored", Condition::Ignored),
    ("stash", Condition::Stash),
    ("only-copy", Condition::OnlyCopy),
];

/// The rows of a call: those of the program's own name, or else those of its entry.
pub(crate) fn ruin_rows(program: &str, meaning: &CallMeaning) -> Vec<RuinRow> {
    let own = rows_of(base_name(program));
    let rows = if own.is_empty() { meaning.entry.map(rows_of).unwrap_or_default() } else { own };
    rows.into_iter().filter(|row| row.is_about(meaning)).collect()
}

/// Whether a program has rows, by its own name or by that of its entry.
pub(crate) fn has_ruin_rows(program: &str) -> bool {
    let has = |name: &str| {
        RUIN.rows_of(name).is_some()
            || RUIN_PATTERNS.programs().any(|(pattern, _)| fits_pattern(pattern, name))
    };
    has(program) || super::listed_name(program).is_some_and(has)
}

/// Whether a part of a call is an option that a row names, also as a word of a program without an entry.
fn has_option(part: &Canonical, wanted: &str) -> bool {
    is_option(part, wanted) || matches!(part, Canonical::Word(value) if value.known() == Some(wanted))
}

/// The rows for programs of this name. `*` in a row's program stands for anything.
fn rows_of(name: &str) -> Vec<RuinRow> {
    let by_pattern = RUIN_PATTERNS.programs().filter(|(pattern, _)| fits_pattern(pattern, name));
    let texts = RUIN.rows_of(name).into_iter().chain(by_pattern.map(|(_, rows)| rows));
    texts.flat_map(str::lines).filter_map(RuinRow::read).collect()
}

/// What a name in the table stands for.
fn named<T: Copy>(names: &[(&str, T)], wanted: &str) -> Option<T> {
    names.iter().find(|(name, _)| *name == wanted).map(|(_, known)| *known)
}

impl RuinRow {
    /// A row as it is written in the text. The build writes no other.
    fn read(line: &'static str) -> Option<Self> {
        let fields: Vec<&'static str> = line.split('\t').collect();
        let [words, options, unless, runs, targets, of, texts, unknown, when, destroys, instead] =
            fields.try_into().ok()?;
        let list = |text: &'static str| text.split(' ').filter(|word| !word.is_empty()).collect::<Vec<_>>();
        Some(Self {
            words: list(words),
            options: list(options),
            unless: list(unless),
            runs: list(runs),
            targets: list(targets).into_iter().map(|name| named(&CLASSES, name)).collect::<Option<_>>()?,
            of,
            texts: list(texts),
            unknown: !unknown.is_empty(),
            when: named(&CONDITIONS, when)?,
            destroys,
            instead,
        })
    }
}

impl RuinRow {
    fn is_about(&self, meaning: &CallMeaning) -> bool {
        let words = words_of(meaning, meaning.subcommands.iter().copied());
        let is_harmless = |one: &&str| match *one {
            "<1>" => words.len() > meaning.subcommands.len().max(self.words.len()),
            option if option.starts_with('-') => {
                meaning.canonical.iter().skip(1).any(|part| has_option(part, option) && !takes_all(part))
                    || is_unexplained(meaning, option)
            }
            word => words.iter().any(|own| fits(*own, word)),
        };
        let runs = |effect: &EffectKind| match effect {
            EffectKind::Argv { words, .. } => words
                .first()
                .and_then(|word| word.value.known())
                .is_some_and(|name| self.runs.contains(&base_name(name))),
            _ => false,
        };
        // `rm -$x /`: with such a target, an option that isn't known may be the one.
        let may_have = || {
            let is_unknown = |kind: &EffectKind| matches!(kind, EffectKind::MaybeOption(word) if word.value.lead().starts_with('-'));
            let is_word = |part: &Canonical| matches!(part, Canonical::Word(Value::Unknown(word)) if word.lead.starts_with('-'));
            !self.targets.is_empty()
                && (meaning.effects.iter().any(|effect| is_unknown(&effect.kind))
                    || meaning.canonical.iter().any(is_word))
        };
        self.has_words(meaning)
            && (self.has_options(meaning) || may_have())
            && !self.unless.iter().any(is_harmless)
            && (self.runs.is_empty() || meaning.effects.iter().any(|effect| runs(&effect.kind)))
    }

    /// Whether a call certainly has the words and options of the row.
    pub(crate) fn is_named_by(&self, meaning: &CallMeaning) -> bool {
        self.has_words(meaning) && self.has_options(meaning)
    }

    fn has_words(&self, meaning: &CallMeaning) -> bool {
        let words = words_of(meaning, meaning.subcommands.iter().copied());
        // An entry may be for several subcommands, and `subcommands` has the first of them.
        let is_written = |at: usize, wanted: &str| {
            let written = meaning.written_subcommands.get(at).map(String::as_str);
            fits(written, wanted) || fits(words.get(at).copied().flatten(), wanted)
        };
        // Among options that aren't known, any word may be the value of one.
        if meaning.is_loose || meaning.kind.is_none() {
            let mut places = 0..words.len();
            self.words.iter().all(|wanted| places.any(|at| is_written(at, wanted)))
        } else {
            self.words.iter().enumerate().all(|(at, wanted)| is_written(at, wanted))
        }
    }

    fn has_options(&self, meaning: &CallMeaning) -> bool {
        let has = |wanted: &&str| {
            meaning.implied.contains(wanted)
                || meaning.kind.is_none() && has_value(meaning, wanted)
                || meaning.canonical.iter().skip(1).any(|part| has_option(part, wanted))
                || is_unexplained(meaning, wanted)
        };
        self.options.iter().all(has)
    }
}

/// Whether a call of a program without an entry has an option with such a value: `-X DELETE`, `-XDELETE`, `-X=DELETE`.
fn has_value(meaning: &CallMeaning, wanted: &str) -> bool {
    let Some((option, pattern)) = wanted.split_once('=') else { return false };
    let words: Vec<&str> = meaning
        .canonical
        .iter()
        .skip(1)
        .filter_map(|part| match part {
            Canonical::Word(value) => Some(value.lead()),
            Canonical::Option(..) => None,
        })
        .collect();
    let behind = words
        .windows(2)
        .any(|pair| matches!(pair, [name, value] if *name == option && fits_pattern(pattern, value)));
    let glued = |word: &&str| {
        let rest = word.strip_prefix(option).map(|rest| rest.strip_prefix('=').unwrap_or(rest));
        rest.is_some_and(|rest| !rest.is_empty() && fits_pattern(pattern, rest))
    };
    behind || words.iter().any(glued)
}

/// Whether a call has an option that the program's entry doesn't list.
fn is_unexplained(meaning: &CallMeaning, option: &str) -> bool {
    let is_it =
        |text: &str| text.strip_prefix(option).is_some_and(|rest| rest.is_empty() || rest.starts_with('='));
    meaning.unexplained.iter().any(|word| is_it(word.value.lead()))
}

fn fits(own: Option<&str>, wanted: &str) -> bool {
    own.is_some_and(|own| fits_pattern(wanted, own))
}

/// Whether an option narrows nothing: `-name '*'`.
fn takes_all(part: &Canonical) -> bool {
    matches!(part, Canonical::Option(_, Some(Value::Known(value))) if value == "*")
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_row_of_the_text_is_read() {
        let rows = RUIN.programs().chain(RUIN_PATTERNS.programs()).flat_map(|(_, rows)| rows.lines());
        let (read, unread): (Vec<_>, Vec<_>) = rows.partition(|row| RuinRow::read(row).is_some());
        assert!(read.len() > 100);
        assert_eq!(unread, [""; 0]);
    }
}
