//! Turns `tables/*.toml` into static data. `tables/README.md` describes the notation.

#[path = "build/effects.rs"]
mod effects;
#[path = "src/programs/form.rs"]
#[expect(unreachable_pub, reason = "the library exports a part of it")]
mod form;
#[path = "build/generate.rs"]
mod generate;
#[path = "build/keys.rs"]
mod keys;
#[path = "src/programs/name_slot.rs"]
mod name_slot;
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
    println!("cargo::rerun-if-changed=src/programs/form.rs");
    println!("cargo::rerun-if-changed=src/programs/name_slot.rs");
    println!("cargo::rerun-if-changed=src/programs/role_list.rs");
    println!("cargo::rerun-if-changed=src/programs/property_list.rs");
    let tables = notation::Tables::read(Path::new("tables"))?;
    let out = env::var("OUT_DIR").map_err(|e| format!("OUT_DIR: {e}"))?;
    let write = |name: &str, content: &[u8]| {
        fs::write(Path::new(&out).join(name), content).map_err(|e| format!("can't write the tables: {e}"))
    };
    let programs = generate::tables(&tables)?;
    write("entries.bin", &programs.entries)?;
    write("options.bin", &programs.options)?;
    let write = |name: &str, code: &str| write(name, code.as_bytes());
    write("tables.rs", &programs.code)?;
    write("variables.rs", &variables::variables(&tables.variables)?)?;
    let known = tables.programs.iter().flat_map(|row| &row.names).map(String::as_str).collect();
    write("properties.rs", &properties::properties(&tables.properties, &known)?)?;
    write("effects.rs", &effects::effects(&tables.effects)?)?;
    write("ruin.rs", &ruin::ruin(&tables.ruin)?)?;
    write("keys.rs", &keys::keys(&tables.keys))?;
    write("words.rs", &words::words(&tables.words))
}
