//! The tables as static data, and finding a program in them.

use super::role::Role;
use super::special::{self, Special};
use super::{Kind, ShellGrammar};

include!(concat!(env!("OUT_DIR"), "/tables.rs"));

/// A program or a subcommand.
#[derive(Debug)]
#[expect(clippy::struct_excessive_bools, reason = "each is a key that a table may set")]
pub(crate) struct Entry {
    /// Its spellings, the canonical one first.
    pub(crate) names: &'static [&'static str],
    /// Whether a version may follow the name.
    pub(crate) versions: bool,
    pub(crate) kind: Kind,
    /// How a shell reads a text.
    pub(crate) grammar: Option<ShellGrammar>,
    pub(crate) parsing: Parsing,
    pub(crate) abbreviate: bool,
    pub(crate) negatable: bool,
    /// Whether options and subcommands that aren't listed are plain words.
    pub(crate) open: bool,
    /// Whether `--` ends the options. If not, it is a word like others.
    pub(crate) dashes: bool,
    /// Its options, by their numbers in `OPTIONS`.
    numbers: &'static [u16],
    pub(crate) operands: Option<&'static [Operand]>,
    pub(crate) language: &'static str,
    pub(crate) input: Option<Input>,
    pub(crate) because: Option<&'static str>,
    pub(crate) special: Option<Special>,
    pub(crate) subcommands: &'static [Entry],
    /// Whether a word that may be an option makes a difference.
    pub(crate) matters: bool,
}

impl Entry {
    /// Its options; those of the entry itself before those that it has from its parent.
    pub(crate) fn options(&self) -> impl Iterator<Item = &'static Opt> + use<> {
        self.numbers.iter().filter_map(|number| OPTIONS.get(usize::from(*number)))
    }

    /// The option with exactly this name.
    pub(crate) fn option(&self, name: &str) -> Option<&'static Opt> {
        self.options().find(|option| option.names.contains(&name))
    }
}

/// How options are recognised.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Parsing {
    /// Anywhere.
    Permuted,
    /// Before the first operand.
    Leading,
    /// Long options with one dash, no bundles.
    Dashed,
    /// Not at all.
    Words,
    /// Every word is `key=value`.
    Assignments,
}

/// What standard input is when the call names nothing to run.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Input {
    Shell,
    Code,
}

/// An option.
#[derive(Debug)]
pub(crate) struct Opt {
    /// Its spellings, the canonical one first.
    pub(crate) names: &'static [&'static str],
    pub(crate) values: &'static [Role],
    pub(crate) takes: Takes,
    /// The program prints something and ends.
    pub(crate) prints: bool,
    /// What follows belongs to the code.
    pub(crate) ends: bool,
    /// Why a call with it is unusual.
    pub(crate) unusual: Option<&'static str>,
}

/// How an option gets its value.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Takes {
    Nothing,
    /// Glued, or the next word.
    Required,
    /// Glued or nothing.
    Optional,
    /// Digits may be glued; further letters of the bundle follow them.
    Digits,
    /// The next word after a letter; after a long name only glued.
    Glued,
}

/// An operand's place.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Operand {
    pub(crate) role: Role,
    pub(crate) required: bool,
    pub(crate) repeated: bool,
    /// Only if none of these options (by their first name) is there.
    pub(crate) unless: &'static [&'static str],
    /// Only if one of these is there.
    pub(crate) only_if: &'static [&'static str],
    pub(crate) unusual: Option<&'static str>,
}

/// The entry of the program with this basename.
pub(crate) fn find(name: &str) -> Option<&'static Entry> {
    let exact = |name: &str| NAMES.binary_search_by(|(known, _)| (*known).cmp(name)).ok();
    let at = |place: usize| NAMES.get(place).and_then(|(_, entry)| PROGRAMS.get(*entry));
    exact(name)
        .and_then(at)
        .or_else(|| {
            let bare = without_version(name)?;
            exact(bare).and_then(at).filter(|entry| entry.versions)
        })
        .or_else(|| {
            let (_, entry) = PATTERNS.iter().find(|(pattern, _)| matches(pattern, name))?;
            PROGRAMS.get(*entry)
        })
}

/// `python` of `python3.11`, `gcc` of `gcc-12`. A digit that belongs to the name (`python3`) is in the table.
fn without_version(name: &str) -> Option<&str> {
    let bare = name.trim_end_matches(|c: char| c.is_ascii_digit() || c == '.');
    let bare = bare.strip_suffix('-').unwrap_or(bare);
    (!bare.is_empty() && bare != name).then_some(bare)
}

/// Whether `name` fits a pattern in which `*` stands for anything.
fn matches(pattern: &str, name: &str) -> bool {
    match pattern.split_once('*') {
        None => pattern == name,
        Some((before, after)) => name.strip_prefix(before).is_some_and(|rest| {
            rest.char_indices()
                .map(|(at, _)| at)
                .chain([rest.len()])
                .any(|at| matches(after, rest.get(at..).unwrap_or_default()))
        }),
    }
}
