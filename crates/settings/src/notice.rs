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
    /// It is judged apart, so that it can only make verdicts stricter. In a trusted file it would allow more.
    JudgedApart,
    /// The grants of a rule in an untrusted project file. The rule itself counts.
    Grants,
    /// It is not implemented yet.
    NotBuilt {
        /// What happens instead.
        instead: &'static str,
    },
}

/// How many keys a line for people names. `shellgate config show` names all.
const MAX_KEYS_IN_LINE: usize = 3;

impl Notice {
    /// Whether the setting would count if its file, a project's, were trusted.
    pub fn is_for_want_of_trust(&self) -> bool {
        !matches!(self.why, IgnoredReason::NotBuilt { .. })
    }

    /// The notices as lines for people. What an untrusted project file can't loosen is one line, whatever it is.
    pub fn lines(notices: &[Self]) -> Vec<String> {
        let untrusted: Vec<&Self> = notices.iter().filter(|notice| notice.is_for_want_of_trust()).collect();
        let file = untrusted.iter().find_map(|notice| match &notice.origin {
            Origin::File(place) => Some(place.path.display()),
            Origin::BuiltIn | Origin::Flag(_) => None,
        });
        let mut keys: Vec<&str> = untrusted.iter().map(|notice| notice.key).collect();
        keys.dedup();
        let shown = keys.iter().take(MAX_KEYS_IN_LINE).copied().collect::<Vec<_>>().join(", ");
        let more = match keys.len().saturating_sub(MAX_KEYS_IN_LINE) {
            0 => String::new(),
            count => format!(" and {count} more"),
        };
        let of_project = file.map(|file| {
            format!("{file} is not trusted and loosens nothing ({shown}{more}); `shellgate trust` shows it and asks")
        });
        let others = notices.iter().filter(|notice| !notice.is_for_want_of_trust()).map(Self::to_string);
        of_project.into_iter().chain(others).collect()
    }
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
            IgnoredReason::JudgedApart => {
                write!(
                    f,
                    "{origin}: {key} allows nothing by itself, only a trusted project file can loosen rules"
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
