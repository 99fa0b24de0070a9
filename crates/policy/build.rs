//! Turns `tables/*.toml` into static data. `tables/README.md` describes the notation.

#[path = "build/effects.rs"]
mod effects;
#[path = "build/generate.rs"]
mod generate;
#[path = "build/keys.rs"]
mod keys;
#[path = "build/notation.rs"]
mod notation;
#[path = "build/properties.rs"]
mod properties;
#[path = "build/ruin.rs"]
mod ruin;
#[path = "build/text_table.rs"]
mod text_table;
#[path = "build/variables.rs"]
mod variables;
#[path = "build/words.rs"]
mod words;

use std::path::Path;
use std::{env, fs};

fn main() -> Result<(), String> {
    println!("cargo::rerun-if-changed=tables");
    println!("cargo::rerun-if-changed=build");
    println!("cargo::rerun-if-changed=src/programs/role_list.rs");
    println!("cargo::rerun-if-changed=src/programs/property_list.rs");
    let tables = notation::Tables::read(Path::new("tables"))?;
    let out = env::var("OUT_DIR").map_err(|e| format!("OUT_DIR: {e}"))?;
    let code = generate::tables(&tables)?;
    let write = |name: &str, code: &str| {
        fs::write(Path::new(&out).join(name), code).map_err(|e| format!("can't write the tables: {e}"))
    };
    write("tables.rs", &code)?;
    write("variables.rs", &variables::variables(&tables.variables)?)?;
    let known = tables.programs.iter().flat_map(|row| &row.names).map(String::as_str).collect();
    write("properties.rs", &properties::properties(&tables.properties, &known)?)?;
    write("effects.rs", &effects::effects(&tables.effects)?)?;
    write("ruin.rs", &ruin::ruin(&tables.ruin)?)?;
    write("keys.rs", &keys::keys(&tables.keys))?;
    write("words.rs", &words::words(&tables.words))
}
