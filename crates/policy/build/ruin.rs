//! Writes the table of ruin as Rust: the rows of each program together, in the order of the programs' names.

use serde::Deserialize;
use std::collections::BTreeMap;
use std::fmt::Write;

/// Classes of targets, and their names in Rust.
const CLASSES: &[(&str, &str)] = &[
    ("top", "Top"),
    ("system", "System"),
    ("home", "Home"),
    ("root", "Root"),
    ("parent", "Parent"),
    ("git", "Git"),
    ("mount", "Mount"),
    ("device", "Device"),
    ("system-file", "SystemFile"),
    ("shared-branch", "SharedBranch"),
    ("statement", "Statement"),
    ("text", "Text"),
    ("session", "Session"),
    ("session-name", "SessionName"),
    ("work", "Work"),
];

/// Conditions that are looked up, and their names in Rust.
const CONDITIONS: &[(&str, &str)] = &[
    ("", "Always"),
    ("uncommitted", "Uncommitted"),
    ("changed", "Changed"),
    ("untracked", "Untracked"),
    ("ignored", "Ignored"),
    ("stash", "Stash"),
    ("only-copy", "OnlyCopy"),
];

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
        let targets: Vec<String> = row
            .targets
            .iter()
            .map(|name| named(CLASSES, name).map(|class| format!("TargetClass::{class}")))
            .collect::<Result<_, _>>()
            .map_err(|why| wrong(&why))?;
        let when = named(CONDITIONS, &row.when).map_err(|why| wrong(&why))?;
        for call in &row.calls {
            let mut all = call.split(' ');
            let program = all.next().filter(|name| !name.is_empty()).ok_or_else(|| wrong("an empty call"))?;
            let (options, words): (Vec<&str>, Vec<&str>) = all.partition(|word| word.starts_with('-'));
            programs.entry(program).or_default().push(format!(
                "RuinRow {{ words: &{words:?}, options: &{options:?}, unless: &{:?}, runs: &{:?}, \
                 targets: &[{}], of: {:?}, texts: &{:?}, unknown: {}, when: Condition::{when}, \
                 destroys: {:?}, instead: {:?} }}",
                row.unless,
                row.runs,
                targets.join(", "),
                row.of,
                row.texts,
                row.unknown,
                row.destroys,
                row.instead,
            ));
        }
    }
    let mut code = String::from("static RUIN: &[(&str, &[RuinRow])] = &[\n");
    for (program, rows) in programs {
        // Writing to a String can't fail.
        let _ = writeln!(code, "({program:?}, &[{}]),", rows.join(", "));
    }
    code.push_str("];\n");
    Ok(code)
}

/// The name in Rust of a name in the table.
fn named(names: &[(&str, &'static str)], wanted: &str) -> Result<&'static str, String> {
    let found = names.iter().find(|(name, _)| *name == wanted).map(|(_, rust)| *rust);
    found.ok_or_else(|| {
        let all: Vec<&str> = names.iter().map(|(name, _)| *name).collect();
        format!("`{wanted}` should be one of {}", all.join(", "))
    })
}
