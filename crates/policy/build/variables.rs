//! Writes the table of variables as Rust.

use serde::Deserialize;
use std::fmt::Write;

const EFFECTS: &[&str] =
    &["loads", "programs", "finds", "settings", "writes", "network", "shell", "harmless"];

/// A row as it is written.
#[derive(Deserialize)]
#[serde(deny_unknown_fields, rename_all = "kebab-case")]
pub(crate) struct Variable {
    names: Vec<String>,
    effect: String,
    about: String,
    #[serde(default)]
    harmless: Vec<String>,
    #[serde(default)]
    only_with: Vec<String>,
    #[serde(default)]
    any_case: bool,
    #[serde(default)]
    only_exported: bool,
}

/// The rows as Rust.
pub(crate) fn variables(rows: &[Variable]) -> Result<String, String> {
    let mut code = String::from("static VARIABLES: &[VariableRow] = &[\n");
    for row in rows {
        let first = row.names.first().ok_or("a variable has no name")?;
        if !EFFECTS.contains(&row.effect.as_str()) {
            return Err(format!(
                "{first}: effect = `{}` should be one of {}",
                row.effect,
                EFFECTS.join(", ")
            ));
        }
        if let Some(name) = row.names.iter().find(|name| name.trim_end_matches('*').contains('*')) {
            return Err(format!("{name}: `*` can only be at the end"));
        }
        let mut letters = row.effect.chars();
        let effect: String =
            letters.next().map(|c| c.to_ascii_uppercase()).into_iter().chain(letters).collect();
        // Writing to a String can't fail.
        let _ = writeln!(
            code,
            "VariableRow {{ about: {:?}, effect: VariableEffect::{effect}, names: &{:?}, harmless: &{:?}, \
             only_with: &{:?}, any_case: {}, only_exported: {} }},",
            row.about, row.names, row.harmless, row.only_with, row.any_case, row.only_exported,
        );
    }
    code.push_str("];\n");
    Ok(code)
}
