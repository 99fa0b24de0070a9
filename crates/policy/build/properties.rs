//! Writes the table of properties as Rust: for each property, the names of the programs that have it.

use serde::Deserialize;
use std::collections::BTreeSet;
use std::fmt::Write;

/// Makes a list of the names.
macro_rules! properties {
    ($($(#[$doc:meta])* $name:literal = $property:ident,)*) => {
        const PROPERTIES: &[(&str, &str)] = &[$(($name, stringify!($property)),)*];
    };
}

include!("../src/programs/property_list.rs");

/// A row as it is written.
#[derive(Deserialize)]
#[serde(deny_unknown_fields, rename_all = "kebab-case")]
pub(crate) struct Property {
    name: String,
    /// Programs that have a grammar in the tables.
    #[serde(default)]
    programs: Vec<String>,
    /// Programs that have none.
    #[serde(default)]
    without_grammar: Vec<String>,
}

/// The rows as Rust. `known` are the names of all programs that have a grammar.
pub(crate) fn properties(rows: &[Property], known: &BTreeSet<&str>) -> Result<String, String> {
    let mut code = String::from("static PROGRAMS_WITH: &[(Property, &[&str])] = &[\n");
    let mut seen = BTreeSet::new();
    for row in rows {
        let name = row.name.as_str();
        let Some((_, variant)) = PROPERTIES.iter().find(|(known, _)| *known == name) else {
            return Err(format!("there is no property `{name}`"));
        };
        if !seen.insert(name) {
            return Err(format!("the property `{name}` is in two places"));
        }
        if let Some(program) = row.programs.iter().find(|program| !known.contains(program.as_str())) {
            return Err(format!("{name}: no table has a program `{program}`; see `without-grammar`"));
        }
        if let Some(program) = row.without_grammar.iter().find(|program| known.contains(program.as_str())) {
            return Err(format!("{name}: `{program}` has a grammar; it belongs to `programs`"));
        }
        let all: Vec<&String> = row.programs.iter().chain(&row.without_grammar).collect();
        // Writing to a String can't fail.
        let _ = writeln!(code, "(Property::{variant}, &{all:?}),");
    }
    if let Some((missing, _)) = PROPERTIES.iter().find(|(name, _)| !seen.contains(name)) {
        return Err(format!("no table says which programs have the property `{missing}`"));
    }
    code.push_str("];\n");
    Ok(code)
}
