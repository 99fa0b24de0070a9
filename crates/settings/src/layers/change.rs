//! A layer is a list of checked changes, each of one key.

use std::{collections::BTreeMap, path::PathBuf};

use crate::{
    Asker, EffectRule, Origin, Prefix, Rule, Sourced,
    keys::{Key, Slot, WordSlot},
};

/// The changes of a file, in the file's order.
pub(super) type Layer = Vec<Change>;

/// A change of one key.
#[derive(Debug)]
pub(super) struct Change {
    pub(super) key: &'static Key,
    pub(super) origin: Origin,
    pub(super) value: NewValue,
}

/// A new value and its field, as one variant for each type, so that the two always have the same type.
#[derive(Debug)]
pub(super) enum NewValue {
    Switch(&'static Slot<bool>, bool),
    Whole(&'static Slot<u64>, u64),
    Word(&'static WordSlot, &'static str),
    Folder(&'static Slot<Option<PathBuf>>, Option<PathBuf>),
    Texts(&'static Slot<Vec<Sourced<String>>>, Vec<Sourced<String>>),
    Askers(&'static Slot<Vec<Sourced<Asker>>>, Vec<Sourced<Asker>>),
    Variables(&'static Slot<BTreeMap<String, Sourced<String>>>, BTreeMap<String, Sourced<String>>),
    Core(Option<Vec<Sourced<Prefix>>>),
    Exclude(Vec<Sourced<Prefix>>),
    Patterns(&'static Slot<Vec<Sourced<Prefix>>>, Vec<Sourced<Prefix>>),
    Rules(Vec<Rule>, Vec<EffectRule>),
}
