//! `[[policy.rule]]`: a policy entry with a decision, a reason and grants.

use super::{Decision, EffectName, Origin, Prefix};

/// One `[[policy.rule]]`.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Rule {
    /// The commands that it covers.
    pub prefix: Prefix,
    /// The decision for them.
    pub decision: Decision,
    /// The reason, for the person who is asked and for the caller that is refused.
    pub reason: Option<String>,
    /// Commands that it doesn't cover: all their words must be those of an entry.
    pub except: Vec<Prefix>,
    /// What these commands may use that others may not.
    pub grants: Grants,
    /// Where it is written.
    pub origin: Origin,
}

/// One `[[policy.rule]]` about what commands do.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct EffectRule {
    /// What they do.
    pub effect: EffectName,
    /// What they do it to: patterns of paths or of hosts, as written. Empty: anything.
    pub targets: Vec<String>,
    /// Targets that it doesn't cover.
    pub except: Vec<String>,
    /// The decision for them.
    pub decision: Decision,
    /// The reason, for the person who is asked and for the caller that is refused.
    pub reason: Option<String>,
    /// Where it is written.
    pub origin: Origin,
}

/// What the commands of a rule may use, and other commands may not.
///
/// Paths are kept as written (`~/.ssh`, `$SSH_AUTH_SOCK`), and resolved when the command starts.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct Grants {
    /// Whether they reach the network, even if confinement denies it.
    pub network: bool,
    /// Paths that they may read.
    pub read: Vec<String>,
    /// Paths that they may write.
    pub write: Vec<String>,
    /// Variables that they get even if they look like secrets.
    pub env: Vec<String>,
    /// Unix sockets that they may connect to.
    pub sockets: Vec<String>,
}

impl Grants {
    /// Whether the rule grants nothing.
    pub fn is_empty(&self) -> bool {
        *self == Self::default()
    }
}
