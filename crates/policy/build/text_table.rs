//! Writes rows of programs as one text, in the order of the programs' names, and where the rows of each program begin in it.
//!
//! The tables have thousands of words, and each pointer to one would be relocated whenever a process starts.

use std::collections::BTreeMap;
use std::fmt::Write;

/// A table as Rust: `static NAME: TextTable`.
pub(crate) fn text_table(name: &str, programs: &BTreeMap<&str, Vec<String>>) -> String {
    let (mut text, mut starts) = (String::new(), Vec::new());
    for (program, rows) in programs {
        starts.push(text.len());
        // Writing to a String can't fail.
        let _ = writeln!(text, "{program}\n{}", rows.join("\n"));
    }
    format!("static {name}: TextTable = TextTable {{ text: {text:?}, starts: &{starts:?} }};\n")
}
