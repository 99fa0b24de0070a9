//! Writes the table of keys that run commands as Rust.

use serde::Deserialize;
use std::fmt::Write;

/// A row as it is written.
#[derive(Deserialize)]
#[serde(deny_unknown_fields, rename_all = "kebab-case")]
pub(crate) struct Keys {
    names: Vec<String>,
    #[serde(default)]
    at_line_start: Vec<String>,
    #[serde(default)]
    anywhere: Vec<String>,
    #[serde(default)]
    after_colon: Vec<String>,
    /// Read by the tests, not by the build.
    #[expect(dead_code, reason = "here so that the key is known")]
    tests: serde::de::IgnoredAny,
}

/// The rows as Rust.
pub(crate) fn keys(rows: &[Keys]) -> String {
    let mut code = String::from("static KEYS: &[CommandKeys] = &[\n");
    for row in rows {
        // Writing to a String can't fail.
        let _ = writeln!(
            code,
            "CommandKeys {{ names: &{:?}, at_line_start: &{:?}, anywhere: &{:?}, after_colon: &{:?} }},",
            row.names, row.at_line_start, row.anywhere, row.after_colon,
        );
    }
    code.push_str("];\n");
    code
}
