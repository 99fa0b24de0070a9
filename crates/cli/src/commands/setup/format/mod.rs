//! The formats of settings files. Each reads the values of a text, and does a step to the text itself, so that comments,
//! order and everything else stay as somebody wrote them.

mod json;
mod toml;
mod yaml;

use serde_json::Value;

use super::step::Step;

/// How a settings file is written.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Format {
    /// JSON, with comments and commas at the end of lists.
    Json,
    Toml,
    Yaml,
}

/// The text isn't what it should be: what is wrong, and where, both counted from 1.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct Broken {
    pub(crate) line: usize,
    pub(crate) column: usize,
    pub(crate) message: String,
}

/// The text is as it should be, and still we can't do this step to it.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct Unable;

impl Format {
    /// The values in a text. One without any is an empty table.
    pub(crate) fn read(self, text: &str) -> Result<Value, Broken> {
        match self {
            Self::Json => json::read(text),
            Self::Toml => toml::read(text),
            Self::Yaml => yaml::read(text),
        }
    }

    /// Whether two texts with these values say the same.
    pub(super) fn same(self, one: &Value, other: &Value) -> bool {
        // In TOML a table can be there because of those in it alone, and is gone without them.
        one == other || self == Self::Toml && toml::without_empty(one) == toml::without_empty(other)
    }

    /// The text after a step that matters.
    pub(super) fn apply(self, text: &str, step: &Step) -> Result<String, Unable> {
        match self {
            Self::Json => json::apply(text, step),
            Self::Toml => toml::apply(text, step),
            Self::Yaml => yaml::apply(text, step),
        }
        .ok_or(Unable)
    }
}

/// Line and column of a byte of a text, counted from 1.
fn place(text: &str, byte: usize) -> (usize, usize) {
    let before = text.get(..byte).unwrap_or(text);
    let line = before.matches('\n').count() + 1;
    let column = before.rsplit('\n').next().unwrap_or_default().chars().count() + 1;
    (line, column)
}
