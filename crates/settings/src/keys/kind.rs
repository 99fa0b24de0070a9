//! The types of a row in the table of keys.

use std::{collections::BTreeMap, path::PathBuf};

use crate::{Asker, Prefix, Settings, Sourced, Word, words::Choices};

/// A key that can be set.
#[derive(Debug)]
pub struct Key {
    /// Its dotted path.
    pub path: &'static str,
    /// Its description, in a line.
    pub about: &'static str,
    /// What an untrusted project file may do to it.
    pub untrusted: Untrusted,
    pub(crate) kind: Kind,
}

/// What an untrusted project file may do to a key.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Untrusted {
    /// Nothing.
    Ignored,
    /// Make it stricter: a switch on, a lower number, a stricter word, fewer askers.
    Tightens,
    /// Add entries.
    Adds,
    /// Set it in a separate policy. The stricter verdict of the two policies counts.
    Apart,
}

/// The type of a key, and its field in the settings.
#[derive(Debug)]
pub(crate) enum Kind {
    /// `true` or `false`. `true` is stricter.
    Switch(Slot<bool>),
    /// A whole number. If 0 is allowed, it means no limit.
    Whole { slot: Slot<u64>, min: u64, max: u64 },
    /// One of a few words.
    Word(WordSlot),
    /// A folder: an absolute path or one below `~`; in a project's file also one relative to the file. Empty: none.
    Folder(Slot<Option<PathBuf>>),
    /// Strings, each with its origin.
    Texts { slot: Slot<Vec<Sourced<String>>>, of: TextsOf },
    /// Where questions may be answered.
    Askers(Slot<Vec<Sourced<Asker>>>),
    /// Variables and their values.
    Variables(Slot<BTreeMap<String, Sourced<String>>>),
    /// The allowlist.
    Core,
    /// The denylist.
    Exclude,
    /// Patterns of words; they add up over all layers.
    Patterns(Slot<Vec<Sourced<Prefix>>>),
    /// `[[policy.rule]]`
    Rules,
}

/// What kind of strings a list has.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum TextsOf {
    Paths,
    VariableNames,
}

/// The field of a value in the settings.
#[derive(Debug)]
pub(crate) struct Slot<T> {
    pub(crate) get: fn(&Settings) -> &T,
    pub(crate) at: fn(&mut Settings) -> &mut T,
}

/// Makes the slot of a field: `slot!(limits.timeout_ms)`.
macro_rules! slot {
    ($section:ident . $field:ident) => {
        Slot { get: |settings| &settings.$section.$field, at: |settings| &mut settings.$section.$field }
    };
}
pub(crate) use slot;

/// The field of a word in the settings, and the words that it can be.
#[derive(Debug)]
pub(crate) struct WordSlot {
    pub(crate) names: &'static [&'static str],
    pub(crate) strictness: fn(&str) -> Option<u8>,
    /// The current word. `None`: it is not set.
    pub(crate) get: fn(&Settings) -> Option<&'static str>,
    /// The word to compare with while it is not set: an untrusted file must be at least as strict.
    pub(crate) unset: &'static str,
    pub(crate) set: fn(&mut Settings, &str),
}

/// Makes slots for the words of one enum.
pub(crate) struct WordSlotOf<T>(std::marker::PhantomData<T>);

impl<T: Word> WordSlotOf<T> {
    pub(crate) const fn make(
        unset: &'static str,
        get: fn(&Settings) -> Option<&'static str>,
        set: fn(&mut Settings, &str),
    ) -> WordSlot {
        WordSlot {
            names: T::NAMES,
            strictness: |name| T::from_name(name).map(T::strictness),
            get,
            unset,
            set,
        }
    }
}

impl Key {
    /// The section of the key.
    pub fn section(&self) -> &'static str {
        self.path.split_once('.').map_or(self.path, |(section, _)| section)
    }

    /// The key's name in its section.
    pub fn name(&self) -> &'static str {
        self.path.split_once('.').map_or(self.path, |(_, name)| name)
    }

    /// The allowed values, to follow "must be".
    pub fn wanted(&self) -> String {
        match &self.kind {
            Kind::Switch(_) => "`true` or `false`".to_owned(),
            Kind::Whole { min, max, .. } => format!("a whole number from {min} to {max}"),
            Kind::Word(word) => format!("one of {}", Choices(word.names)),
            Kind::Folder(_) => "an absolute path or one that begins with `~/`".to_owned(),
            Kind::Texts { of: TextsOf::Paths, .. } => "a list of paths".to_owned(),
            Kind::Texts { of: TextsOf::VariableNames, .. } => "a list of variable names".to_owned(),
            Kind::Askers(_) => format!("a list with any of {}", Choices(Asker::NAMES)),
            Kind::Variables(_) => "a table of variable names and strings".to_owned(),
            Kind::Core | Kind::Exclude => "a list of command prefixes".to_owned(),
            Kind::Patterns(_) => "a list of commands, with `*` for any words".to_owned(),
            Kind::Rules => "a list of tables, each `[[policy.rule]]`".to_owned(),
        }
    }
}
