//! Writes rows of programs as one text, in the order of the programs' names, and where the rows of each program begin in it.
//!
//! The tables have thousands of words, and each pointer to one would be relocated whenever a process starts.

use std::collections::BTreeMap;
use std::fmt::Write;

use crate::name_slot::{PLACE_BITS, candidates, hash, mark};

/// Of so many slots at most one holds a program: the search then mostly looks at one or two.
const SLOTS_PER_PROGRAM: usize = 2;

/// A table as Rust: `static NAME: TextTable`.
pub(crate) fn text_table(name: &str, programs: &BTreeMap<&str, Vec<String>>) -> Result<String, String> {
    let (mut text, mut starts) = (String::new(), Vec::new());
    let mut slots = vec![0; (programs.len() * SLOTS_PER_PROGRAM).next_power_of_two()];
    for (program, rows) in programs {
        starts.push(text.len());
        let place = u32::try_from(starts.len()).ok().filter(|place| place >> PLACE_BITS == 0);
        let place = place.ok_or_else(|| format!("{name} has more programs than a slot can name"))?;
        let hash = hash(program);
        for slot in candidates(hash, slots.len()) {
            if let Some(free @ 0) = slots.get_mut(slot) {
                *free = mark(hash) | place;
                break;
            }
        }
        // Writing to a String can't fail.
        let _ = writeln!(text, "{program}\n{}", rows.join("\n"));
    }
    Ok(format!(
        "static {name}: TextTable = TextTable {{ text: {text:?}, starts: &{starts:?}, slots: &{slots:?} }};\n"
    ))
}
