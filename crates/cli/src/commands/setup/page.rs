//! What a person sees of a change.

use similar::TextDiff;

use super::plan::Change;
use crate::output::plain;

/// The difference that a change makes, a line each, such that nothing in it acts on a terminal.
pub(super) fn difference(change: &Change) -> String {
    let old = change.file.text.as_deref().unwrap_or_default();
    let new = change.after.as_deref().unwrap_or_default();
    let name = plain(&change.file.path.display().to_string());
    let old_name = if change.file.text.is_some() { &name } else { "(no file)" };
    let new_name = if change.after.is_some() { &name } else { "(no file)" };
    let mut page = format!("\x1b[1m--- {old_name}\x1b[0m\n\x1b[1m+++ {new_name}\x1b[0m\n");
    let difference = TextDiff::from_lines(old, new);
    for hunk in difference.unified_diff().context_radius(3).iter_hunks() {
        page.push_str(&format!("\x1b[36m{}\x1b[0m\n", hunk.header()));
        for line in hunk.iter_changes() {
            let (sign, colour) = match line.tag() {
                similar::ChangeTag::Equal => (' ', ""),
                similar::ChangeTag::Delete => ('-', "\x1b[31m"),
                similar::ChangeTag::Insert => ('+', "\x1b[32m"),
            };
            let text = plain(line.value().trim_end_matches(['\r', '\n']));
            let end = if colour.is_empty() { "" } else { "\x1b[0m" };
            page.push_str(&format!("{colour}{sign}{text}{end}\n"));
        }
    }
    page
}
