//! Writes the table of effects as one text.

use serde::Deserialize;
use std::collections::BTreeMap;

use crate::text_table::text_table;

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
        for call in &row.calls {
            let mut all = call.split(' ');
            let program = all.next().filter(|name| !name.is_empty()).ok_or("an effect has an empty call")?;
            let (options, words): (Vec<&str>, Vec<&str>) = all.partition(|word| word.starts_with('-'));
            let flags = format!("{}{}", if row.sends { "s" } else { "" }, if row.held { "h" } else { "" });
            let (words, options, unless) = (words.join(" "), options.join(" "), row.unless.join(" "));
            let fields = [words.as_str(), &options, &unless, &row.reads_sql, effect, &row.target, &flags];
            let is_plain = |text: &&str| !text.contains(['\t', '\n']);
            if !fields.iter().all(is_plain) || row.unless.iter().any(|word| word.contains(' ')) {
                return Err(format!("{call}: a tab, a line end or a blank inside a word"));
            }
            programs.entry(program).or_default().push(fields.join("\t"));
        }
    }
    text_table("EFFECTS", &programs)
}
