//! What a call does, in the words that rules, people and programs use.
//!
//! An effect is foretold from the text and the tables, before anything runs. What the tables don't explain is
//! [`EffectName::Unknown`]: it is never left out.

use std::fmt;

/// Makes the enum, its list and its names, so that they can't differ.
macro_rules! effects {
    ($($(#[$doc:meta])* $effect:ident = $name:literal,)*) => {
        /// The kinds of effects, the worst first.
        #[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
        pub enum EffectName {
            $($(#[$doc])* $effect,)*
        }

        impl EffectName {
            /// All effects, the worst first.
            pub const ALL: &'static [Self] = &[$(Self::$effect,)*];

            /// The name that settings and programs use.
            #[must_use]
            pub const fn name(self) -> &'static str {
                match self {
                    $(Self::$effect => $name,)*
                }
            }
        }
    };
}

effects! {
    /// Changes the machine: packages, services, the kernel, users, disks.
    Machine = "machine",
    /// Makes something public, or changes what others use: a push, a release, a deployment, a merge, a post.
    Publish = "publish",
    /// Deletes files.
    Delete = "delete",
    /// Reads a credential.
    Secret = "secret",
    /// Something that the tables don't explain.
    Unknown = "unknown",
    /// Reaches another machine.
    Network = "network",
    /// Runs code that the text doesn't show: scripts of the project, interpreters, build tools.
    Code = "code",
    /// Writes, creates or changes files.
    Write = "write",
    /// Reads files.
    Read = "read",
}

impl EffectName {
    /// The effect of this name.
    #[must_use]
    pub fn from_name(name: &str) -> Option<Self> {
        Self::ALL.iter().copied().find(|effect| effect.name() == name)
    }
}

impl fmt::Display for EffectName {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.pad(self.name())
    }
}

/// One thing that a call does.
#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub struct CallEffect {
    /// What it does.
    pub effect: EffectName,
    /// What it does it to: a path, a host, a package. `None`: nothing in particular, or it can't be known.
    pub target: Option<String>,
    /// Whether the text and the tables say exactly this. False: the effect or its target can't be known before running.
    pub known: bool,
    /// Of [`EffectName::Network`]: whether it sends something, and doesn't only fetch.
    pub sends: bool,
    /// Of [`EffectName::Machine`]: whether it reaches only what runs in the same sandbox, where there is one.
    pub held: bool,
}

impl CallEffect {
    pub(crate) fn new(effect: EffectName, target: Option<String>, known: bool) -> Self {
        Self { effect, target, known, sends: false, held: false }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn names_read_back() {
        for effect in EffectName::ALL {
            assert_eq!(EffectName::from_name(effect.name()), Some(*effect));
        }
        assert_eq!(EffectName::from_name("Read"), None);
    }
}
