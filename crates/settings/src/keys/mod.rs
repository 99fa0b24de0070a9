//! The table of keys: their names, their types, and what an untrusted file may do to each.
//!
//! Reading, checking, error messages, hints and the reference text all use this table. A new setting is a field of the
//! model and a row here.

mod kind;
mod nearest;
mod page;
mod reference;
mod show;
mod table;

pub use self::{
    kind::{Key, Untrusted},
    nearest::{distance, nearest},
    page::{PAGE_HEADING, page},
    reference::reference,
};
pub(crate) use self::{
    kind::{Kind, Slot, TextsOf, WordSlot, WordSlotOf, slot},
    nearest::{did_you_mean, key_hint, section_hint},
    table::KEYS,
};

/// All keys, in the order of the reference.
pub fn all() -> &'static [Key] {
    KEYS
}

/// The key with this dotted path.
pub fn find(path: &str) -> Option<&'static Key> {
    KEYS.iter().find(|key| key.path == path)
}

/// The names of the sections.
pub fn sections() -> Vec<&'static str> {
    let mut sections: Vec<_> = KEYS.iter().map(Key::section).collect();
    sections.dedup();
    sections
}
