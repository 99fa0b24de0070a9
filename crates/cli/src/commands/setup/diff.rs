//! How a change is shown to the person.

use std::path::Path;

use serde_json::json;
use similar::TextDiff;

use super::agent::Agent;
use super::plan::Change;
use crate::args::SetupArgs;
use crate::error::CliError;
use crate::output::{self, escape};

/// Lines to paste into a file by hand.
#[derive(Debug)]
pub(super) struct Snippet {
    pub(super) path: String,
    pub(super) text: String,
}

/// The changes as diffs, then sentences about settings that remain.
pub(super) fn render(changes: &[Change], remaining: &[String]) -> String {
    let remaining = remaining.iter().map(|sentence| format!("{sentence}\n"));
    changes.iter().map(difference).chain(remaining).collect()
}

/// Prints the changes and the lines to paste, without writing anything.
pub(super) fn print(
    agent: &Agent,
    args: &SetupArgs,
    changes: &[Change],
    snippets: &[Snippet],
    remaining: &[String],
) -> Result<(), CliError> {
    if !args.shown.json {
        let paste = |Snippet { path, text }: &Snippet| {
            format!("\nTo paste by hand, into `{}`:\n\n{text}", escape(path))
        };
        let snippets: String = snippets.iter().map(paste).collect();
        return output::print(&format!("{}{snippets}", render(changes, remaining)));
    }
    let change = |change: &Change| {
        let page = difference(change);
        json!({"path": change.file.path.display().to_string(), "diff": anstream::adapter::strip_str(&page).to_string()})
    };
    let changes: Vec<_> = changes.iter().map(change).collect();
    let snippets: Vec<_> =
        snippets.iter().map(|Snippet { path, text }| json!({"path": path, "text": text})).collect();
    output::print_json(
        &json!({"agent": agent.name, "changes": changes, "paste": snippets, "left": remaining}),
    )
}

/// A change as a unified diff with control characters escaped.
fn difference(change: &Change) -> String {
    unified(&change.file.path, change.file.text.as_deref(), change.after.as_deref())
}

/// The change of a file as a unified diff with control characters escaped. `None`: there is no file.
pub(crate) fn unified(path: &Path, before: Option<&str>, after: Option<&str>) -> String {
    let (old, new) = (before.unwrap_or_default(), after.unwrap_or_default());
    let name = escape(&path.display().to_string());
    let old_name = if before.is_some() { &name } else { "(no file)" };
    let new_name = if after.is_some() { &name } else { "(no file)" };
    let mut page = format!("\x1b[1m--- {old_name}\x1b[0m\n\x1b[1m+++ {new_name}\x1b[0m\n");
    let difference = TextDiff::from_lines(old, new);
    for hunk in difference.unified_diff().context_radius(3).iter_hunks() {
        page.push_str(&format!("\x1b[36m{}\x1b[0m\n", hunk.header()));
        for line in hunk.iter_changes() {
            let (sign, color) = match line.tag() {
                similar::ChangeTag::Equal => (' ', ""),
                similar::ChangeTag::Delete => ('-', "\x1b[31m"),
                similar::ChangeTag::Insert => ('+', "\x1b[32m"),
            };
            let text = escape(line.value().trim_end_matches(['\r', '\n']));
            let end = if color.is_empty() { "" } else { "\x1b[0m" };
            page.push_str(&format!("{color}{sign}{text}{end}\n"));
        }
    }
    page
}
