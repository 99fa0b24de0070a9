//! Errors in settings. Each says where it is, what was found, what is wanted, and mostly has a hint.

use std::{fmt, path::Path, sync::Arc};

use super::{PatternError, Place, PrefixError};

/// Settings that can't be used. No command runs until they are corrected.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct SettingsError {
    /// Where the error is.
    pub at: At,
    /// What is wrong.
    pub problem: Box<Problem>,
}

/// Where an error is.
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
    /// A file that was named doesn't exist.
    #[error("this settings file does not exist")]
    Missing,
    /// The system refuses to read the file.
    #[error("this settings file can't be read: {reason}")]
    Unreadable {
        /// The system's error message.
        reason: String,
    },
    /// The path is not a regular file.
    #[error("a settings file must be a regular file, found {found}")]
    NotAFile {
        /// What it is instead.
        found: &'static str,
    },
    /// The file is too large to be settings.
    #[error("a settings file must not be larger than {most} bytes")]
    TooLarge {
        /// The limit.
        most: u64,
    },
    /// Other users may write the file, and so change what is allowed.
    #[error("a settings file must be writable by its owner only, found mode {mode:04o}")]
    OthersMayWrite {
        /// The permission bits.
        mode: u32,
    },
    /// Another user owns the file, and so can change what is allowed.
    #[error("a settings file must belong to you (user {me}) or to root, found user {owner}")]
    Owner {
        /// The user that owns it.
        owner: u32,
        /// The user that runs shellgate.
        me: u32,
    },
    /// The file is not UTF-8.
    #[error("a settings file must be UTF-8 text, found the byte 0x{byte:02x}")]
    NotUtf8 {
        /// The first invalid byte.
        byte: u8,
    },
    /// The file is not TOML, or not JSON.
    #[error("this is not {language}: {message}")]
    Syntax {
        /// The language that it should be.
        language: &'static str,
        /// The parser's error message.
        message: String,
        /// How to correct it.
        hint: Option<&'static str>,
    },
    /// A `[section]` that doesn't exist.
    #[error("there is no section [{name}]")]
    UnknownSection {
        /// Its name.
        name: String,
        /// The name that was probably meant, or the names that exist.
        hint: String,
    },
    /// A key that doesn't exist.
    #[error("there is no setting {path}")]
    UnknownKey {
        /// Its dotted path.
        path: String,
        /// The name that was probably meant, or the names that exist.
        hint: String,
    },
    /// A required key is missing.
    #[error("{path} is missing")]
    MissingKey {
        /// Its dotted path.
        path: String,
        /// How to write it.
        hint: String,
    },
    /// A key that doesn't fit the others beside it.
    #[error("{path} doesn't fit here")]
    Unfit {
        /// Its dotted path.
        path: String,
        /// What to write.
        hint: String,
    },
    /// A value has the wrong type, is out of range, or is an unknown word.
    #[error("{path} must be {wanted}, found {found}")]
    Wanted {
        /// The dotted path.
        path: String,
        /// The values that are allowed.
        wanted: String,
        /// The value that was found.
        found: String,
        /// How to correct it.
        hint: Option<String>,
    },
    /// A key is given twice.
    #[error("{path} is given twice")]
    Twice {
        /// Its dotted path.
        path: String,
    },
    /// An entry is not a command prefix.
    #[error("{0}")]
    Prefix(#[from] PrefixError),
    /// An entry is not a pattern of words.
    #[error("{0}")]
    Pattern(#[from] PatternError),
    /// The value of a flag is out of range.
    #[error("must be from 1 to {most} ms, found {found}")]
    Timeout {
        /// The value that was given.
        found: u64,
        /// The largest value.
        most: u64,
    },
    /// A path begins with `~`, and the home folder is not known.
    #[error("{path} begins with `~`, but `HOME` is not set")]
    NoHome {
        /// The dotted path.
        path: String,
    },
}

impl SettingsError {
    pub(crate) fn new(at: At, problem: Problem) -> Self {
        Self { at, problem: Box::new(problem) }
    }

    /// How to correct it. `None`: there is no general advice.
    pub fn hint(&self) -> Option<String> {
        let hint = match &*self.problem {
            Problem::Missing => "check the path after `--config`".to_owned(),
            Problem::NotAFile { .. } => "move it away, or put the settings file there".to_owned(),
            Problem::TooLarge { .. } => "check that this is the right file".to_owned(),
            Problem::OthersMayWrite { .. } => match &self.at {
                At::File(path) => format!("run `chmod go-w {}`", shell_word(&path.display().to_string())),
                At::Place(_) | At::Flag(_) => return None,
            },
            Problem::Owner { .. } => "read it, and if you agree with it, make your own copy".to_owned(),
            Problem::NotUtf8 { .. } => "save it as UTF-8".to_owned(),
            Problem::Syntax { hint, .. } => (*hint)?.to_owned(),
            Problem::UnknownSection { hint, .. }
            | Problem::UnknownKey { hint, .. }
            | Problem::Unfit { hint, .. }
            | Problem::MissingKey { hint, .. } => hint.clone(),
            Problem::Wanted { hint, .. } => hint.clone()?,
            Problem::Twice { .. } => "keep one of them".to_owned(),
            Problem::Prefix(error) => error.hint().to_owned(),
            Problem::Pattern(error) => error.hint(),
            Problem::NoHome { .. } => "write an absolute path, or set `HOME`".to_owned(),
            Problem::Unreadable { .. } | Problem::Timeout { .. } => return None,
        };
        Some(hint)
    }
}

/// Quotes a path for a shell.
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
        // The message contains the problem already. As the source it would be printed twice.
        None
    }
}

#[cfg(test)]
mod tests {
    use super::shell_word;

    #[test]
    fn paths_in_hints_are_quoted_for_a_shell() {
        assert_eq!(shell_word("/a/b-c.toml"), "/a/b-c.toml");
        assert_eq!(shell_word("/a b"), "'/a b'");
        assert_eq!(shell_word("/a';rm"), r"'/a'\'';rm'");
    }
}
