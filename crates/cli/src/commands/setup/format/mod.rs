//! The formats of settings files. Each reads the values of a text and applies steps to the text itself, so that comments,
//! order and layout stay.

mod json;
mod toml;
mod yaml;

use serde_json::Value;

use super::step::Step;

/// The format of a settings file.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Format {
    /// JSON with comments and trailing commas.
    Json,
    Toml,
    Yaml,
}

/// A syntax error. Line and column are counted from 1.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct Broken {
    pub(crate) line: usize,
    pub(crate) column: usize,
    pub(crate) message: String,
}

/// The text is valid, but the editor can't apply this step to it.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct Unable;

impl Format {
    /// The values of a text. An empty text is an empty table.
    pub(crate) fn read(self, text: &str) -> Result<Value, Broken> {
        match self {
            Self::Json => json::read(text),
            Self::Toml => toml::read(text),
            Self::Yaml => yaml::read(text),
        }
    }

    /// Whether two texts with these values mean the same.
    pub(super) fn same(self, one: &Value, other: &Value) -> bool {
        // In TOML a table can exist only through the tables in it, and then vanishes with them.
        one == other || self == Self::Toml && toml::without_empty(one) == toml::without_empty(other)
    }

    /// Applies a step that changes something to a text.
    pub(super) fn apply(self, text: &str, step: &Step) -> Result<String, Unable> {
        match self {
            Self::Json => json::apply(text, step),
            Self::Toml => toml::apply(text, step),
            Self::Yaml => yaml::apply(text, step),
        }
        .ok_or(Unable)
    }
}

/// Line and column of a byte offset, counted from 1.
fn place(text: &str, byte: usize) -> (usize, usize) {
    let before = text.get(..byte).unwrap_or(text);
    let line = before.matches('\n').count() + 1;
    let column = before.rsplit('\n').next().unwrap_or_default().chars().count() + 1;
    (line, column)
}
