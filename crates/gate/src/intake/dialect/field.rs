//! A field of a tool's arguments: one row of a table. Calls are read by it, and declarations for models are written from it.

/// A field of a tool's arguments.
#[derive(Debug)]
pub(crate) struct Field {
    pub(crate) name: &'static str,
    pub(crate) kind: Kind,
    /// Its description for models.
    pub(crate) about: &'static str,
    /// Other names that models use for it. Declarations don't mention them.
    pub(crate) aliases: &'static [&'static str],
    pub(crate) required: bool,
    /// Whether models rarely need it. Short declarations leave it out; calls may have it all the same.
    pub(crate) rare: bool,
}

/// The type of a field.
#[derive(Clone, Copy, Debug)]
pub(crate) enum Kind {
    Text,
    Flag,
    /// A whole number from 0.
    Number,
    /// A time, from 1 to `MAX_DURATION_MS`.
    Milliseconds,
    Texts,
    /// Names, each with a text.
    Variables,
    /// One of these words.
    OneOf(&'static [&'static str]),
}

/// Other names for the directory that a command runs in.
pub(crate) const FOLDER_NAMES: &[&str] = &["cwd", "workdir", "dir_path"];

impl Field {
    /// An optional field.
    pub(crate) const fn new(name: &'static str, kind: Kind, about: &'static str) -> Self {
        Self { name, kind, about, aliases: &[], required: false, rare: false }
    }

    pub(crate) const fn required(self) -> Self {
        Self { required: true, ..self }
    }

    /// Leaves the field out of short declarations.
    pub(crate) const fn rare(self) -> Self {
        Self { rare: true, ..self }
    }

    /// Adds other names for the field.
    pub(crate) const fn or(self, aliases: &'static [&'static str]) -> Self {
        Self { aliases, ..self }
    }
}
