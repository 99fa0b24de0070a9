//! Writes the table of effects as Rust: the rows of each program together, in the order of the programs' names.

use serde::Deserialize;
use std::collections::BTreeMap;
use std::fmt::Write;

const EFFECTS: &[&str] = &["read", "write", "delete", "network", "publish", "machine", "code", "secret"];

/// A row as it is written.
#[derive(Deserialize)]
#[serde(deny_unknown_fields, rename_all = "kebab-case")]
pub(crate) struct EffectRow {
    effect: String,
    calls: Vec<String>,
    #[serde(default)]
    unless: Vec<String>,
    #[serde(default)]
    target: String,
    #[serde(default)]
    sends: bool,
    #[serde(default)]
    held: bool,
    #[serde(default)]
    reads_sql: String,
}

/// The rows as Rust.
pub(crate) fn effects(rows: &[EffectRow]) -> Result<String, String> {
    let mut programs: BTreeMap<&str, Vec<String>> = BTreeMap::new();
    for row in rows {
        let effect = row.effect.as_str();
        if !EFFECTS.contains(&effect) {
            return Err(format!("effect = `{effect}` should be one of {}", EFFECTS.join(", ")));
        }
        if row.sends && effect != "network" {
            return Err(format!("`sends` is for the effect `network`, not for `{effect}`"));
        }
        if row.held && effect != "machine" {
            return Err(format!("`held` is for the effect `machine`, not for `{effect}`"));
        }
        let mut letters = effect.chars();
        let effect: String =
            letters.next().map(|c| c.to_ascii_uppercase()).into_iter().chain(letters).collect();
        for call in &row.calls {
            let mut all = call.split(' ');
            let program = all.next().filter(|name| !name.is_empty()).ok_or("an effect has an empty call")?;
            let (options, words): (Vec<&str>, Vec<&str>) = all.partition(|word| word.starts_with('-'));
            programs.entry(program).or_default().push(format!(
                "EffectRow {{ words: &{words:?}, options: &{options:?}, unless: &{:?}, reads_sql: {:?}, \
                 effect: EffectName::{effect}, target: {:?}, sends: {}, held: {} }}",
                row.unless, row.reads_sql, row.target, row.sends, row.held,
            ));
        }
    }
    let mut code = String::from("static EFFECTS: &[(&str, &[EffectRow])] = &[\n");
    for (program, rows) in programs {
        // Writing to a String can't fail.
        let _ = writeln!(code, "({program:?}, &[{}]),", rows.join(", "));
    }
    code.push_str("];\n");
    Ok(code)
}
