//! What the guard applies to every program that a command starts, as plain data that travels over a socket.

use serde::{Deserialize, Serialize};
use shellgate_policy::Prefix;

use crate::encoded_confinement::Encoded;

/// The rules for the programs of a command.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct GuardRules {
    /// Programs that no process of the command may start.
    pub denied: Vec<ProgramRule>,
    /// The programs that the command's shell may start, beside shells and wrappers. What these start is free. `None`: any.
    pub allowed: Option<Vec<ProgramRule>>,
    /// The `PATH` on which the programs of rules are found.
    pub search_path: String,
}

/// A rule about programs.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct ProgramRule {
    /// The commands that it is about.
    pub prefix: RulePrefix,
    /// The rule as people know it, with the place where it is written.
    pub shown: String,
    /// Commands that it isn't about.
    pub except: Vec<RulePrefix>,
}

/// The commands that a rule is about: [`Prefix`], as data.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[expect(missing_docs, reason = "they are those of `Prefix`")]
pub enum RulePrefix {
    Everything,
    Words(Vec<String>),
    Exactly(Vec<String>),
    Pattern(Vec<String>),
}

impl From<&Prefix> for RulePrefix {
    fn from(prefix: &Prefix) -> Self {
        match prefix {
            Prefix::Everything => Self::Everything,
            Prefix::Words(words) => Self::Words(words.clone()),
            Prefix::Exactly(words) => Self::Exactly(words.clone()),
            Prefix::Pattern(words) => Self::Pattern(words.clone()),
        }
    }
}

impl From<RulePrefix> for Prefix {
    fn from(prefix: RulePrefix) -> Self {
        match prefix {
            RulePrefix::Everything => Self::Everything,
            RulePrefix::Words(words) => Self::Words(words),
            RulePrefix::Exactly(words) => Self::Exactly(words),
            RulePrefix::Pattern(words) => Self::Pattern(words),
        }
    }
}

/// The rules as bytes. Equal rules have equal bytes, so the keeper prepares them once.
pub type EncodedGuardRules = Encoded<GuardRules>;
