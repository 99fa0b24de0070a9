//! Turns `tables/*.toml` into static data. `tables/README.md` describes the notation.

#[path = "build/generate.rs"]
mod generate;
#[path = "build/notation.rs"]
mod notation;
#[path = "build/variables.rs"]
mod variables;

use std::path::Path;
use std::{env, fs};

fn main() -> Result<(), String> {
    println!("cargo::rerun-if-changed=tables");
    println!("cargo::rerun-if-changed=build");
    println!("cargo::rerun-if-changed=src/program/role_list.rs");
    let tables = notation::Tables::read(Path::new("tables"))?;
    let out = env::var("OUT_DIR").map_err(|e| format!("OUT_DIR: {e}"))?;
    let code = generate::tables(&tables)?;
    let write = |name: &str, code: &str| {
        fs::write(Path::new(&out).join(name), code).map_err(|e| format!("can't write the tables: {e}"))
    };
    write("tables.rs", &code)?;
    write("variables.rs", &variables::variables(&tables.variables)?)
}
