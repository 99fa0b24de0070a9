//! The search for a program in the tables, and what its entry says.

use super::Canonical;
use super::form::{Entry, OptionEntry, Role, Synonym};
use super::special::{self, Special};
use super::stored::{GROUP, Stored};
use super::text_table::TextTable;
use super::words::{FAMILY_MACHINES, FAMILY_SUFFIXES, FAMILY_TARGETS};
use shellgate_syntax::Value;

include!(concat!(env!("OUT_DIR"), "/tables.rs"));

impl Entry {
    /// Its options; those of the entry itself before those that it has from its parent.
    pub(crate) fn options(&'static self) -> impl Iterator<Item = &'static OptionEntry> {
        self.option_numbers.iter().filter_map(|number| OPTIONS.get(usize::from(*number)))
    }

    /// The function that reads its calls, if the table can't say enough.
    pub(crate) fn special(&self) -> Option<Special> {
        self.special.and_then(|number| SPECIALS.get(usize::from(number)).copied())
    }

    /// The option with exactly this name.
    pub(crate) fn option(&'static self, name: &str) -> Option<&'static OptionEntry> {
        self.options().find(|option| option.names.contains(&name))
    }
}

/// The pattern of a synonym that every call has.
const ALWAYS: &str = "always";

/// The sign `*` itself in the pattern of a synonym.
const LITERAL_STAR: &str = "\\*";

impl Synonym {
    /// Whether every call of the program means it.
    pub(crate) fn is_always(&self) -> bool {
        self.option.is_empty() && self.pattern == ALWAYS
    }

    /// Whether a part of a call is this word.
    pub(crate) fn fits(&self, part: &Canonical) -> bool {
        let fits = |value: &Value| {
            if self.pattern.contains(LITERAL_STAR) {
                return value.known() == Some(&self.pattern.replace(LITERAL_STAR, "*"));
            }
            matches(&self.pattern.to_lowercase(), &value.lead().to_lowercase())
        };
        match part {
            Canonical::Word(value) => self.option.is_empty() && !self.is_always() && fits(value),
            Canonical::Option(name, None) => self.is_option(name),
            Canonical::Option(name, Some(value)) => name == self.option && fits(value),
        }
    }

    /// Whether it is about this option, whatever its value.
    pub(crate) fn is_option(&self, name: &str) -> bool {
        name == self.option && self.pattern == "*"
    }
}

impl OptionEntry {
    /// Whether it stands for options that the entry doesn't list, and of which nothing is known.
    pub(crate) fn is_loose(&self) -> bool {
        self.values.iter().any(|role| matches!(role, Role::Loose | Role::LooseWrite))
    }
}

/// No file has a longer name.
pub(crate) const NAME_MAX_BYTES: usize = 255;

/// The name of a target has a few dashes. One with more than this is no name of a family: each dash may end a target.
const MAX_FAMILY_DASHES: usize = 12;

/// The entry of the program with this basename: its own, or that of its family (`tables/families.toml`).
pub(crate) fn find(name: &str) -> Option<&'static Entry> {
    if name.len() > NAME_MAX_BYTES {
        return None;
    }
    find_own(name).or_else(|| {
        if name.bytes().filter(|byte| *byte == b'-').count() > MAX_FAMILY_DASHES {
            return None;
        }
        let first = name.split('-').next().unwrap_or(name);
        if FAMILY_MACHINES.iter().any(|pattern| matches(pattern, first)) && is_target(name) {
            return None;
        }
        let suffix = FAMILY_SUFFIXES.iter().find(|suffix| name.ends_with(**suffix));
        let without_suffix = suffix.and_then(|suffix| name.strip_suffix(suffix));
        let bare = without_suffix.unwrap_or(name);
        without_suffix.and_then(find_own).or_else(|| without_target(bare).find_map(find_own))
    })
}

/// The entry with this name, or with this name and a version.
fn find_own(name: &str) -> Option<&'static Entry> {
    let exact = |name: &str| PROGRAMS.get(NAMES.rows_of(name)?.trim_end().parse().ok()?);
    exact(name).or_else(|| exact(without_version(name)?).filter(|entry| entry.versions)).or_else(|| {
        let (_, entry) = PATTERNS.iter().find(|(pattern, _)| matches(pattern, name))?;
        PROGRAMS.get(*entry)
    })
}

/// `gcc-12` of `x86_64-linux-gnu-gcc-12`, `perl5.36` of `perl5.36-x86_64-linux-gnu`: what may be left without the target.
fn without_target(name: &str) -> impl Iterator<Item = &str> {
    name.match_indices('-').filter_map(move |(at, _)| {
        let (before, after) = (name.get(..at)?, name.get(at + 1..)?);
        if is_target(before) { Some(after) } else { is_target(after).then_some(before) }
    })
}

/// Whether a text is the name of a target and nothing more. What a pattern's last `*` stands for has no dash.
fn is_target(text: &str) -> bool {
    FAMILY_TARGETS.iter().any(|pattern| match pattern.strip_suffix('*') {
        None => matches(pattern, text),
        Some(start) => {
            let literal = start.trim_start_matches('*');
            let end = text.rfind(literal).map(|at| at + literal.len());
            matches(pattern, text)
                && end.and_then(|end| text.get(end..)).is_some_and(|rest| !rest.contains('-'))
        }
    })
}

/// `python` of `python3.11`, `gcc` of `gcc-12`. A digit that belongs to the name (`python3`) is in the table.
fn without_version(name: &str) -> Option<&str> {
    // `python3.11d`: a build of a version.
    let build =
        name.strip_suffix(['d', 'm', 't', 'u']).filter(|bare| bare.ends_with(|c: char| c.is_ascii_digit()));
    let bare = build.unwrap_or(name).trim_end_matches(|c: char| c.is_ascii_digit() || c == '.');
    let bare = bare.strip_suffix('-').unwrap_or(bare);
    (!bare.is_empty() && bare != name).then_some(bare)
}

/// Whether `name` fits a pattern in which `*` stands for anything. Each piece between stars is taken where it comes first, so
/// the work is linear.
pub(crate) fn matches(pattern: &str, name: &str) -> bool {
    // Most names are too short. This is cheaper than to look.
    let stars = pattern.bytes().filter(|byte| *byte == b'*').count();
    if name.len() + stars < pattern.len() {
        return false;
    }
    let mut pieces = pattern.split('*');
    let Some(mut rest) = pieces.next().and_then(|first| name.strip_prefix(first)) else { return false };
    let Some(last) = pieces.next_back() else { return rest.is_empty() };
    for piece in pieces {
        let Some((_, behind)) = rest.split_once(piece) else { return false };
        rest = behind;
    }
    rest.ends_with(last)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn programs_are_found_by_their_family() {
        for (name, first) in [
            ("gcc-12", Some("gcc")),
            ("x86_64-linux-gnu-gcc", Some("gcc")),
            ("x86_64-linux-gnu-gcc-12", Some("gcc")),
            ("aarch64-linux-gnu-g++-13", Some("gcc")),
            ("arm-none-eabi-gcc", Some("gcc")),
            ("x86_64-w64-mingw32-gcc-posix", Some("gcc")),
            ("clang++-15", Some("gcc")),
            ("python3.11", Some("python3")),
            ("python3.11-dbg", Some("python3")),
            ("perl5.36-x86_64-linux-gnu", Some("perl")),
            ("perl5.36.0", Some("perl")),
            ("node22", Some("node")),
            ("vim.basic", Some("vim")),
            ("vim.gtk3", Some("vim")),
            ("nc.openbsd", Some("nc")),
            ("lua5.4", Some("lua")),
            ("tclsh8.6", Some("tclsh")),
            ("x86_64-linux-gnu-nosuch", None),
            ("nosuch.basic", None),
            ("x86_64-unknown-linux-musl", None),
            ("i686-linux-gnu", None),
            ("linux-gnu", None),
            ("gccx", None),
            ("a-----------linux-gnu-gcc", None),
        ] {
            assert_eq!(find(name).and_then(|entry| entry.names.first().copied()), first, "{name}");
        }
    }
}
