//! What a row of the table is made of.

use std::{collections::BTreeMap, path::PathBuf};

use crate::{Asker, Settings, Sourced, Word, words::Choices};

/// A key that can be set.
#[derive(Debug)]
pub struct Key {
    /// Its dotted path.
    pub path: &'static str,
    /// What it is for, in a line.
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
    /// Make it stricter: a switch on, a number lower, a word towards the strict end, fewer askers.
    Tightens,
    /// Add entries.
    Adds,
    /// Have it in a policy of its own; the stricter verdict of the two policies counts.
    Apart,
}

/// What a key holds, and where in the settings it is.
#[derive(Debug)]
pub(crate) enum Kind {
    /// `true` or `false`; `true` is the strict side.
    Switch(Slot<bool>),
    /// A whole number. Where it can be 0, 0 means: no limit.
    Whole { slot: Slot<u64>, min: u64, max: u64 },
    /// One of a few words.
    Word(WordSlot),
    /// A folder: absolute or below `~`; empty for none.
    Folder(Slot<Option<PathBuf>>),
    /// Strings, each with its origin.
    Texts { slot: Slot<Vec<Sourced<String>>>, of: TextsOf },
    /// Who may answer.
    Askers(Slot<Vec<Sourced<Asker>>>),
    /// Variables and their values.
    Variables(Slot<BTreeMap<String, Sourced<String>>>),
    /// The allowlist.
    Core,
    /// The denylist.
    Exclude,
    /// `[[policy.rule]]`
    Rules,
}

/// What the strings of a list are.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum TextsOf {
    Paths,
    VariableNames,
}

/// Where in the settings a value is.
#[derive(Debug)]
pub(crate) struct Slot<T> {
    pub(crate) get: fn(&Settings) -> &T,
    pub(crate) at: fn(&mut Settings) -> &mut T,
}

/// Names the field: `slot!(limits.timeout_ms)`.
macro_rules! slot {
    ($section:ident . $field:ident) => {
        Slot { get: |settings| &settings.$section.$field, at: |settings| &mut settings.$section.$field }
    };
}
pub(crate) use slot;

/// Where in the settings a word is, and which words there are.
#[derive(Debug)]
pub(crate) struct WordSlot {
    pub(crate) names: &'static [&'static str],
    pub(crate) strictness: fn(&str) -> Option<u8>,
    /// What holds now; when nothing does, the word that an untrusted file has to be at least as strict as.
    pub(crate) get: fn(&Settings) -> Option<&'static str>,
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
    /// The section that the key is in.
    pub fn section(&self) -> &'static str {
        self.path.split_once('.').map_or(self.path, |(section, _)| section)
    }

    /// The key's name in its section.
    pub fn name(&self) -> &'static str {
        self.path.split_once('.').map_or(self.path, |(_, name)| name)
    }

    /// What can be written there, as in "must be …".
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
            Kind::Rules => "a list of tables, each `[[policy.rule]]`".to_owned(),
        }
    }
}
