//! A field of a tool's arguments: one row, from which calls are read and declarations are written.

/// A field.
#[derive(Debug)]
pub(crate) struct Field {
    pub(crate) name: &'static str,
    pub(crate) kind: Kind,
    /// What it means, for the model.
    pub(crate) about: &'static str,
    /// Other names that models use for it. Never advertised.
    pub(crate) aliases: &'static [&'static str],
    pub(crate) required: bool,
}

/// What a field takes.
#[derive(Clone, Copy, Debug)]
pub(crate) enum Kind {
    Text,
    Flag,
    /// A whole number that isn't negative.
    Number,
    /// A time, from 1 to `LONGEST_MS`.
    Milliseconds,
    Texts,
    /// Names with a text each.
    Variables,
    /// One of these words.
    OneOf(&'static [&'static str]),
}

/// Names for the folder that a command runs in.
pub(crate) const FOLDER_NAMES: &[&str] = &["cwd", "workdir", "dir_path"];

impl Field {
    /// One that may be left out.
    pub(crate) const fn new(name: &'static str, kind: Kind, about: &'static str) -> Self {
        Self { name, kind, about, aliases: &[], required: false }
    }

    pub(crate) const fn required(self) -> Self {
        Self { required: true, ..self }
    }

    /// The same field under other names as well.
    pub(crate) const fn or(self, aliases: &'static [&'static str]) -> Self {
        Self { aliases, ..self }
    }
}
