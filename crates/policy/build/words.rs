//! Writes the named word lists of the tables as Rust constants: `git-data-settings` becomes `GIT_DATA_SETTINGS`.

use serde::Deserialize;
use std::collections::BTreeMap;
use std::fmt::Write;

/// The value of a named list.
#[derive(Deserialize)]
#[serde(untagged)]
pub(crate) enum Words {
    /// Words.
    List(Vec<String>),
    /// One-letter options, as one text.
    Letters(String),
}

/// The lists as Rust.
pub(crate) fn words(lists: &BTreeMap<String, Words>) -> String {
    let mut code = String::new();
    for (name, words) in lists {
        let name = name.to_ascii_uppercase().replace('-', "_");
        // Writing to a String can't fail.
        let _ = match words {
            Words::List(list) => writeln!(code, "pub(crate) const {name}: &[&str] = &{list:?};"),
            Words::Letters(letters) => writeln!(code, "pub(crate) const {name}: &str = {letters:?};"),
        };
    }
    code
}
