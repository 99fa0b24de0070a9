//! Files that a call writes by a pattern (`rm *.log`) or by a name that find fills in: whether all of them are inside the root.

use shellgate_syntax::{Unknown, Value, Why, Word};

use super::Judge;

/// Signs whose meaning isn't looked at here.
const OTHER_SIGNS: [char; 5] = ['$', '`', '~', '\\', '('];

impl Judge<'_> {
    /// What a word that isn't known begins with, if every file that it may name is inside the root.
    pub(super) fn inside_by_pattern(&self, word: &Word) -> Option<String> {
        let Value::Unknown(Unknown { lead, why: Why::Glob, tail, .. }) = &word.value else { return None };
        let folder =
            lead.rsplit_once('/').map_or(".", |(folder, _)| if folder.is_empty() { "/" } else { folder });
        let leads_up = |text: &str| text.split('/').any(|name| name == "..");
        if self.state.links.anywhere || leads_up(lead) || !self.is_inside(folder) {
            return None;
        }
        let written = word.span.of(self.text);
        let is_inside = if written.starts_with("{}") {
            // Find doesn't follow the links that it finds; a program that is given one may, and the sandbox holds it.
            self.rules.holds_any_code() && tail.as_deref().is_some_and(|tail| !leads_up(tail))
        } else {
            self.matches_stay(folder, written)
        };
        is_inside.then(|| format!("{lead}…"))
    }

    /// Whether no file that a pattern may name leads out of the folder that it looks in. Patterns of several folders, and those
    /// that may name the folder itself or all that the root has, are not looked at.
    fn matches_stay(&self, folder: &str, written: &str) -> bool {
        let plain: String = written.chars().filter(|c| !matches!(c, '"' | '\'')).collect();
        let pattern = plain.rsplit('/').next().unwrap_or(&plain);
        let before = plain.strip_suffix(pattern).unwrap_or_default().trim_end_matches('/');
        let is_whole = pattern == "*" && self.is_root(folder);
        let is_one_folder = before == folder || before.is_empty() && folder == ".";
        if plain.contains(OTHER_SIGNS)
            || pattern.starts_with('.')
            || pattern.is_empty()
            || is_whole
            || !is_one_folder
        {
            return false;
        }
        let Some([directory]) = self.state.directories.as_deref() else { return false };
        let Ok(entries) = std::fs::read_dir(directory.join(folder)) else {
            // There is nothing that it could name.
            return true;
        };
        // Git's own folder begins with a dot, and no pattern here does.
        !entries.flatten().any(|entry| entry.file_type().is_ok_and(|kind| kind.is_symlink()))
    }

    fn is_root(&self, folder: &str) -> bool {
        let directories = self.state.directories.as_deref().unwrap_or_default();
        directories.iter().any(|from| self.machine.cached_destination(from, folder) == self.machine.root())
    }
}
