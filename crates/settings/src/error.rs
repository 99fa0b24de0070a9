//! What can be wrong with settings, as sentences: where, what was found, what is wanted, and a hint.

use std::{fmt, path::Path, sync::Arc};

use super::{Place, PrefixError};

/// Settings that can't be used. Nothing runs until they are mended.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct SettingsError {
    /// Where.
    pub at: At,
    /// What.
    pub problem: Box<Problem>,
}

/// Where the trouble is.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum At {
    /// The file as a whole.
    File(Arc<Path>),
    /// A place in a file.
    Place(Place),
    /// A flag of the command line.
    Flag(&'static str),
}

impl fmt::Display for At {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::File(path) => path.display().fmt(f),
            Self::Place(place) => place.fmt(f),
            Self::Flag(name) => write!(f, "`{name}`"),
        }
    }
}

/// What is wrong.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
pub enum Problem {
    /// A file that was asked for isn't there.
    #[error("this settings file does not exist")]
    Missing,
    /// The system refuses.
    #[error("this settings file can't be read: {reason}")]
    Unreadable {
        /// In the system's words.
        reason: String,
    },
    /// Something else has this name.
    #[error("a settings file must be a regular file, found {found}")]
    NotAFile {
        /// What it is.
        found: &'static str,
    },
    /// Nobody writes settings this long.
    #[error("a settings file must not be larger than {most} bytes")]
    TooLarge {
        /// The limit.
        most: u64,
    },
    /// Someone else could change what is allowed here.
    #[error("a settings file must be writable by its owner only, found mode {mode:04o}")]
    OthersMayWrite {
        /// The permission bits.
        mode: u32,
    },
    /// Someone else can change what is allowed here.
    #[error("a settings file must belong to you (user {me}) or to root, found user {owner}")]
    Owner {
        /// Whose it is.
        owner: u32,
        /// Who we are.
        me: u32,
    },
    /// Bytes that are no text.
    #[error("a settings file must be UTF-8 text, found the byte 0x{byte:02x}")]
    NotUtf8 {
        /// The first byte that can't be.
        byte: u8,
    },
    /// Not TOML, or not JSON.
    #[error("this is not {language}: {message}")]
    Syntax {
        /// What it should be.
        language: &'static str,
        /// In the words of the parser.
        message: String,
        /// What may be meant.
        hint: Option<&'static str>,
    },
    /// A `[section]` that doesn't exist.
    #[error("there is no section [{name}]")]
    UnknownSection {
        /// Its name.
        name: String,
        /// What may be meant, or what there is.
        hint: String,
    },
    /// A key that doesn't exist.
    #[error("there is no setting {path}")]
    UnknownKey {
        /// Its dotted path.
        path: String,
        /// What may be meant, or what there is.
        hint: String,
    },
    /// A key that can't be left out.
    #[error("{path} is missing")]
    MissingKey {
        /// Its dotted path.
        path: String,
        /// How to write it.
        hint: String,
    },
    /// A value of the wrong type, or out of range, or no such word.
    #[error("{path} must be {wanted}, found {found}")]
    Wanted {
        /// The dotted path.
        path: String,
        /// What could have been.
        wanted: String,
        /// What is there.
        found: String,
        /// What may be meant.
        hint: Option<String>,
    },
    /// A key that is there twice.
    #[error("{path} is there twice")]
    Twice {
        /// Its dotted path.
        path: String,
    },
    /// An entry that is no command prefix.
    #[error("{0}")]
    Prefix(#[from] PrefixError),
    /// A flag's value that is out of range.
    #[error("must be from 1 to {most} ms, found {found}")]
    Timeout {
        /// What was given.
        found: u64,
        /// The most that can be.
        most: u64,
    },
    /// `~/` and no home.
    #[error("{path} begins with `~`, and there is no home folder")]
    NoHome {
        /// The dotted path.
        path: String,
    },
}

impl SettingsError {
    pub(crate) fn new(at: At, problem: Problem) -> Self {
        Self { at, problem: Box::new(problem) }
    }

    /// What to do about it, when that can be known.
    pub fn hint(&self) -> Option<String> {
        let hint = match &*self.problem {
            Problem::Missing => "check the path after `--config`".to_owned(),
            Problem::NotAFile { .. } => "move it away, or write the settings there".to_owned(),
            Problem::TooLarge { .. } => "check that this is the file that you mean".to_owned(),
            Problem::OthersMayWrite { .. } => match &self.at {
                At::File(path) => format!("run `chmod go-w {}`", shell_word(&path.display().to_string())),
                At::Place(_) | At::Flag(_) => return None,
            },
            Problem::Owner { .. } => {
                "read it, and if it says what you want, make a copy of your own".to_owned()
            }
            Problem::NotUtf8 { .. } => "save it as UTF-8".to_owned(),
            Problem::Syntax { hint, .. } => (*hint)?.to_owned(),
            Problem::UnknownSection { hint, .. }
            | Problem::UnknownKey { hint, .. }
            | Problem::MissingKey { hint, .. } => hint.clone(),
            Problem::Wanted { hint, .. } => hint.clone()?,
            Problem::Twice { .. } => "keep one of them".to_owned(),
            Problem::Prefix(error) => error.hint().to_owned(),
            Problem::NoHome { .. } => "write an absolute path, or set `HOME`".to_owned(),
            Problem::Unreadable { .. } | Problem::Timeout { .. } => return None,
        };
        Some(hint)
    }
}

/// A path as it can be pasted into a shell.
fn shell_word(text: &str) -> String {
    let plain = |c: char| c.is_ascii_alphanumeric() || "/._-+:@%,".contains(c);
    if text.chars().all(plain) { text.to_owned() } else { format!("'{}'", text.replace('\'', r"'\''")) }
}

impl fmt::Display for SettingsError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{}: {}", self.at, self.problem)
    }
}

impl std::error::Error for SettingsError {
    fn source(&self) -> Option<&(dyn std::error::Error + 'static)> {
        // The sentence has the problem in it already; naming it as the source would say it twice.
        None
    }
}

#[cfg(test)]
mod tests {
    use super::shell_word;

    #[test]
    fn a_hint_can_be_pasted() {
        assert_eq!(shell_word("/a/b-c.toml"), "/a/b-c.toml");
        assert_eq!(shell_word("/a b"), "'/a b'");
        assert_eq!(shell_word("/a';rm"), r"'/a'\'';rm'");
    }
}
