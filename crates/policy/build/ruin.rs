//! Writes the table of ruin as one text.

use serde::Deserialize;
use std::collections::BTreeMap;

use crate::text_table::text_table;

/// Classes of targets.
const CLASSES: &[&str] = &[
    "top",
    "system",
    "home",
    "root",
    "parent",
    "everything",
    "tree",
    "git",
    "mount",
    "device",
    "system-file",
    "shared-branch",
    "statement",
    "text",
    "session",
    "session-name",
    "work",
];

/// Conditions that are looked up.
const CONDITIONS: &[&str] = &["", "uncommitted", "changed", "untracked", "ignored", "stash", "only-copy"];

/// A row as it is written.
#[derive(Deserialize)]
#[serde(deny_unknown_fields, rename_all = "kebab-case")]
pub(crate) struct RuinRow {
    calls: Vec<String>,
    #[serde(default)]
    unless: Vec<String>,
    #[serde(default)]
    runs: Vec<String>,
    #[serde(default)]
    targets: Vec<String>,
    #[serde(default)]
    of: String,
    #[serde(default)]
    texts: Vec<String>,
    #[serde(default)]
    unknown: bool,
    #[serde(default)]
    when: String,
    destroys: String,
    instead: String,
}

/// The rows as Rust.
pub(crate) fn ruin(rows: &[RuinRow]) -> Result<String, String> {
    let mut programs: BTreeMap<&str, Vec<String>> = BTreeMap::new();
    for row in rows {
        let wrong = |why: &str| format!("ruin {:?}: {why}", row.calls);
        if row.targets.is_empty() != row.of.is_empty() {
            return Err(wrong("`targets` and `of` belong together"));
        }
        if row.destroys.contains("{target}") && row.targets.is_empty() {
            return Err(wrong("`{target}` needs `targets`"));
        }
        let known = |names: &[&str], wanted: &str| match names.contains(&wanted) {
            true => Ok(()),
            false => Err(wrong(&format!("`{wanted}` should be one of {}", names.join(", ")))),
        };
        row.targets.iter().try_for_each(|name| known(CLASSES, name))?;
        known(CONDITIONS, &row.when)?;
        for call in &row.calls {
            let mut all = call.split(' ');
            let program = all.next().filter(|name| !name.is_empty()).ok_or_else(|| wrong("an empty call"))?;
            let (options, words): (Vec<&str>, Vec<&str>) = all.partition(|word| word.starts_with('-'));
            let lists = [
                words.join(" "),
                options.join(" "),
                row.unless.join(" "),
                row.runs.join(" "),
                row.targets.join(" "),
            ];
            let [words, options, unless, runs, targets] = lists.each_ref().map(String::as_str);
            let texts = row.texts.join(" ");
            let unknown = if row.unknown { "unknown" } else { "" };
            let fields = [
                words,
                options,
                unless,
                runs,
                targets,
                &row.of,
                &texts,
                unknown,
                &row.when,
                &row.destroys,
                &row.instead,
            ];
            let has_blank = |word: &String| word.contains(' ');
            if fields.iter().any(|field| field.contains(['\t', '\n']))
                || row.unless.iter().chain(&row.runs).chain(&row.texts).any(has_blank)
            {
                return Err(wrong("a tab, a line end or a blank inside a word"));
            }
            programs.entry(program).or_default().push(fields.join("\t"));
        }
    }
    // Names with `*` are apart: they are compared one by one, the others are found by their hash.
    let (patterns, names) = programs.into_iter().partition(|(program, _)| program.contains('*'));
    Ok(text_table("RUIN", &names)? + &text_table("RUIN_PATTERNS", &patterns)?)
}
