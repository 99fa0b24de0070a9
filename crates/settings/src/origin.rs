//! The origin of a value: built in, a place in a file, or a flag.

use std::{fmt, path::Path, sync::Arc};

/// A place in a settings file. Lines and columns count from 1; a column is a character, not a byte.
#[derive(Debug, Clone, PartialEq, Eq, Hash)]
pub struct Place {
    /// The file, as it was named.
    pub path: Arc<Path>,
    /// The line.
    pub line: u32,
    /// The column.
    pub column: u32,
}

impl fmt::Display for Place {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{}:{}:{}", self.path.display(), self.line, self.column)
    }
}

/// Where a value came from.
#[derive(Debug, Clone, PartialEq, Eq, Hash)]
pub enum Origin {
    /// No layer set it.
    BuiltIn,
    /// A file set it, at this place.
    File(Place),
    /// This flag of the command line set it.
    Flag(&'static str),
}

impl fmt::Display for Origin {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::BuiltIn => f.write_str("built in"),
            Self::File(place) => place.fmt(f),
            Self::Flag(name) => write!(f, "`{name}`"),
        }
    }
}

/// A value with its origin. Lists consist of these, because their entries may come from several layers.
#[derive(Debug, Clone, PartialEq, Eq, Hash)]
pub struct Sourced<T> {
    /// The value.
    pub value: T,
    /// Its origin.
    pub origin: Origin,
}

impl<T> Sourced<T> {
    /// A value with its origin.
    pub const fn new(value: T, origin: Origin) -> Self {
        Self { value, origin }
    }
}

impl<T> std::ops::Deref for Sourced<T> {
    type Target = T;

    fn deref(&self) -> &T {
        &self.value
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn origins_are_printed_as_places_and_flags() {
        let place = Place { path: Path::new("/path/config.toml").into(), line: 12, column: 3 };
        assert_eq!(Origin::BuiltIn.to_string(), "built in");
        assert_eq!(Origin::File(place).to_string(), "/path/config.toml:12:3");
        assert_eq!(Origin::Flag("--timeout").to_string(), "`--timeout`");
    }
}
