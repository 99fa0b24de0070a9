//! `[[policy.rule]]`: the long form of a policy entry.

use super::{Decision, Origin, Prefix};

/// One `[[policy.rule]]`.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Rule {
    /// The commands that it is about.
    pub prefix: Prefix,
    /// What is to happen with them.
    pub decision: Decision,
    /// Why, for whoever is asked or refused.
    pub reason: Option<String>,
    /// What these commands get beyond the others.
    pub grants: Grants,
    /// Where it is written.
    pub origin: Origin,
}

/// What a rule gives to its commands, and to them only.
///
/// Paths are kept as written (`~/.ssh`, `$SSH_AUTH_SOCK`): they mean what they mean when the command starts.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct Grants {
    /// The network, where confinement would deny it.
    pub network: bool,
    /// Paths that can be read.
    pub read: Vec<String>,
    /// Paths that can be written.
    pub write: Vec<String>,
    /// Variables that are passed on, even if they look like secrets.
    pub env: Vec<String>,
    /// Unix sockets that can be reached.
    pub sockets: Vec<String>,
}

impl Grants {
    /// Whether nothing is granted.
    pub fn is_empty(&self) -> bool {
        *self == Self::default()
    }
}
