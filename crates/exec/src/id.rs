//! Names of executions.

use std::fmt;
use std::str::FromStr;

use serde::{Deserialize, Serialize};
use shellgate_sandbox::spawn::Tag;
use ulid::Ulid;

/// The name of one execution: a ULID, so that names sort by the time they were made.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, PartialOrd, Ord, Serialize, Deserialize)]
pub struct ExecId(u128);

impl ExecId {
    /// A new name, which no execution had before.
    #[must_use]
    pub fn generate() -> Self {
        Self(Ulid::generate().0)
    }

    /// The number that all processes of the execution inherit, and by which orphans are recognised.
    pub(crate) fn tag(self) -> Tag {
        // The low half of a ULID is its random part.
        Tag::new(self.0 as u64)
    }
}

impl FromStr for ExecId {
    type Err = ulid::DecodeError;

    fn from_str(text: &str) -> Result<Self, Self::Err> {
        Ulid::from_string(text).map(|ulid| Self(ulid.0))
    }
}

impl fmt::Display for ExecId {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        Ulid(self.0).fmt(f)
    }
}
