//! The reference for the documentation: a table of all keys, for each section.

use super::{KEYS, Key, Kind, Untrusted};
use crate::Settings;

/// The heading that the generated part of `docs/settings.md` begins with. It goes on to the end of the page.
pub const PAGE_HEADING: &str = "## All keys";

const HEAD: &str = "\
The machine's file, yours, a trusted project's and those after `--config` may set every key; some have a flag. The last column
says what the file of a project that you don't trust may do: *nothing*; make the value *stricter*; *add* entries; or set it
*apart*, for a policy of its own, of which the stricter verdict counts.
";

/// The generated part of `docs/settings.md`.
pub fn page() -> String {
    let built_in = Settings::default();
    let mut text = format!("{PAGE_HEADING}\n\n{HEAD}");
    let mut section = "";
    for key in KEYS {
        if key.section() != section {
            section = key.section();
            text.push_str(&format!(
                "\n### `[{section}]`\n\n| key | | takes | built in | untrusted |\n|---|---|---|---|---|\n"
            ));
        }
        text.push_str(&row(key, &built_in));
    }
    text
}

fn row(key: &Key, built_in: &Settings) -> String {
    let value = match (&key.kind, key.show(built_in)) {
        (Kind::Rules, _) => "none".to_owned(),
        (_, Some(value)) => format!("`{value}`"),
        (_, None) => "none".to_owned(),
    };
    let untrusted = match key.untrusted {
        Untrusted::Ignored => "nothing",
        Untrusted::Tightens => "stricter",
        Untrusted::Adds => "add",
        Untrusted::Apart => "apart",
    };
    // A bar would end the cell.
    let cell = |text: &str| text.replace('|', "\\|");
    format!(
        "| `{}` | {} | {} | {} | {untrusted} |\n",
        key.name(),
        cell(key.about),
        cell(&key.wanted()),
        cell(&value)
    )
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_key_has_a_row_of_five_cells() {
        let page = page();
        for key in KEYS {
            let rows = page.lines().filter(|line| line.starts_with(&format!("| `{}` |", key.name())));
            assert!(rows.clone().count() >= 1, "{}", key.path);
            for row in rows {
                assert_eq!(row.replace("\\|", "").matches('|').count(), 6, "{row}");
            }
        }
    }
}
