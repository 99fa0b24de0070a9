//! What the record says about itself, and what belongs to no execution.

use serde::{Deserialize, Serialize};

use crate::hash::Sha;
use crate::status::words;

/// Older entries were removed. The newest checkpoint says where the chain now begins.
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
    /// Why.
    pub cause: PruneCause,
}

words! {
    /// Why entries were removed.
    PruneCause {
        /// They were older than is to be kept.
        Age = "age",
        /// There was more than is to be kept.
        Size = "size",
    }
}

/// The content of an execution's entries was removed on a person's word.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct Tombstone {
    /// The entries without content.
    pub entries: Vec<u64>,
    /// Who said so.
    pub by: String,
}

/// A project's file that may loosen the rules.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct TrustedFile {
    /// The file.
    pub path: String,
    /// The hash of the content that is trusted.
    pub sha256: Sha,
    /// Who said so.
    pub by: String,
}

/// Something worth keeping that has no kind of its own.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct Note {
    /// What.
    pub text: String,
}
