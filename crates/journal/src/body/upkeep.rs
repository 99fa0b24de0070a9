//! Entries about the journal itself, and entries that belong to no execution.

use serde::{Deserialize, Serialize};

use crate::hash::Sha;
use crate::status::named_enum;

/// Older entries were removed by pruning. The newest checkpoint says where the chain begins now.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct Checkpoint {
    /// The last entry that was removed.
    pub through: u64,
    /// Its hash.
    pub hash: Sha,
    /// How many were removed with this checkpoint.
    pub removed: u64,
    /// How many of them were appended again because they still count.
    pub carried: u64,
    /// Why they were removed.
    pub cause: PruneCause,
}

named_enum! {
    /// Why entries were removed.
    PruneCause {
        /// They were older than `keep_days`.
        Age = "age",
        /// Journal and spooled output were larger than `keep_mb`.
        Size = "size",
    }
}

/// Entries were lost: the database ended before the head that was kept outside it. This entry is the first one after the loss.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct Gap {
    /// The last entry that was lost.
    pub through: u64,
    /// Its hash.
    pub hash: Sha,
}

/// The content of an execution's entries was removed because a person asked for it.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct Tombstone {
    /// The entries that have no content any more.
    pub entries: Vec<u64>,
    /// The person who asked for it.
    pub by: String,
}

/// A project's settings file that may loosen the rules.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct TrustedFile {
    /// The file.
    pub path: String,
    /// The hash of the content that is trusted.
    pub sha256: Sha,
    /// The person who trusts it.
    pub by: String,
}

/// A text that has no kind of its own.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct Note {
    /// The text.
    pub text: String,
}
