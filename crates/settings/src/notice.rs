//! Settings that have no effect, and why.

use std::fmt;

use super::Origin;

/// A setting that was ignored. A person should know, but it is no error.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Notice {
    /// The setting.
    pub key: &'static str,
    /// Where it is written.
    pub origin: Origin,
    /// Why it was ignored.
    pub why: IgnoredReason,
}

/// Why a setting has no effect.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum IgnoredReason {
    /// Only trusted files may set this at all.
    NeedsTrust,
    /// It isn't stricter than the current value.
    NotStricter {
        /// The current value, as it is written in a file.
        stays: String,
    },
    /// The grants of a rule in an untrusted project file. The rule itself counts.
    Grants,
    /// It is not implemented yet.
    NotBuilt {
        /// What happens instead.
        instead: &'static str,
    },
}

impl fmt::Display for Notice {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let Self { key, origin, why } = self;
        match why {
            IgnoredReason::NeedsTrust => {
                write!(f, "{origin}: {key} is ignored, only a trusted project file can set it")
            }
            IgnoredReason::NotStricter { stays } => {
                write!(
                    f,
                    "{origin}: {key} stays {stays}, an untrusted project file can only make it stricter"
                )
            }
            IgnoredReason::NotBuilt { instead } => write!(f, "{origin}: {key} has no effect: {instead}"),
            IgnoredReason::Grants => {
                write!(
                    f,
                    "{origin}: the grants of this {key} are ignored, only a trusted project file can grant"
                )
            }
        }
    }
}
