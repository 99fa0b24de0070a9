//! Files that a call writes by a pattern (`rm *.log`) or by a name that find fills in: whether all of them are inside the root.

use std::path::PathBuf;

use shellgate_syntax::{Unknown, Value, Why, Word};

use super::Judge;
use super::instructions::is_instructions;
use crate::calls::Call;
use crate::paths::without_links;

/// Signs whose meaning isn't looked at here.
const OTHER_SIGNS: [char; 5] = ['$', '`', '~', '\\', '('];

impl Judge<'_> {
    /// What a word that isn't known begins with, if every file that it may name is inside the root.
    pub(super) fn inside_by_pattern(&self, call: &Call, word: &Word) -> Option<String> {
        if self.is_listed_inside(call, word) {
            return Some("…".to_owned());
        }
        let Value::Unknown(Unknown { lead, why: Why::Glob, tail, .. }) = &word.value else { return None };
        let written = word.span.of(self.text);
        if written.contains('$') {
            return self.loop_stays(call, written).then(|| format!("{lead}…"));
        }
        let folder =
            lead.rsplit_once('/').map_or(".", |(folder, _)| if folder.is_empty() { "/" } else { folder });
        let leads_up = |text: &str| text.split('/').any(|name| name == "..");
        if self.state.links.anywhere || leads_up(lead) || !self.is_inside(folder) {
            return None;
        }
        let is_inside = if written.starts_with("{}") {
            // Find doesn't follow the links that it finds; a program that is given one may, and the sandbox holds it.
            self.rules.holds_any_code() && tail.as_deref().is_some_and(|tail| !leads_up(tail))
        } else {
            self.matches_stay(folder, written)
        };
        is_inside.then(|| format!("{lead}…"))
    }

    /// Whether a word with the variable of a loop (`"$f.bak"`, `"build/$f"`, `"${f%.txt}.md"`) names files inside the root, whichever word of the loop
    /// the variable is.
    pub(super) fn loop_stays(&self, call: &Call, written: &str) -> bool {
        let Some(word) = LoopWord::read(written).filter(|_| !self.state.links.anywhere) else { return false };
        // What it moves itself is in one of these folders already.
        let others_link = self.others_link(call);
        let is_inside = |path: &str| match others_link {
            true => self.is_inside(path),
            false => self.machine.is_inside(path, self.state.directories.as_deref()),
        };
        let stays = |value: &Value| match value {
            Value::Known(text) => {
                let path = word.filled(text);
                let is_ordinary = |name: &str| !name.starts_with('.') || name == ".";
                path.split('/').all(is_ordinary) && !is_instructions(&path) && is_inside(&path)
            }
            Value::Unknown(Unknown { lead, why: Why::Glob, tail: Some(pattern), .. }) => {
                let all = format!("{}{lead}{pattern}", word.before);
                let folder = all.rsplit_once('/').map_or(".", |(folder, _)| folder);
                // A changed name is another file than one that the pattern names.
                let is_changed = !word.before.is_empty() || !word.behind.is_empty();
                let written = if is_changed { format!("{all}x") } else { all.clone() };
                is_plain(folder) && is_inside(folder) && self.matches_stay(folder, &written)
            }
            Value::Unknown(_) => false,
        };
        let values = self.values.get(word.name).map(|(values, _)| values).unwrap_or_default();
        !values.is_empty() && values.iter().all(stays)
    }

    /// The folders of the files that a word with the variable of a loop over names may be.
    pub(super) fn loop_folders(&self, word: &Word, directories: Option<&[PathBuf]>) -> Option<Vec<PathBuf>> {
        let is_pattern = matches!(&word.value, Value::Unknown(Unknown { why: Why::Glob, .. }));
        let word = LoopWord::read(word.span.of(self.text)).filter(|_| is_pattern)?;
        let values = self.values.get(word.name)?.0;
        let folder = |value: &Value| {
            let path = match value {
                Value::Known(text) => word.filled(text),
                Value::Unknown(Unknown { lead, why: Why::Glob, .. }) => format!("{}{lead}", word.before),
                Value::Unknown(_) => return None,
            };
            let folder = path.rsplit_once('/').map_or(".", |(folder, _)| folder).to_owned();
            is_plain(&folder).then_some(folder)
        };
        let folders = values.iter().map(folder).collect::<Option<Vec<String>>>()?;
        let all = directories?
            .iter()
            .flat_map(|from| folders.iter().map(|folder| without_links(&from.join(folder))));
        Some(all.collect())
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

/// A word with one variable in it, as it is written.
struct LoopWord<'w> {
    before: &'w str,
    name: &'w str,
    /// What is taken from the end of the value.
    cut: &'w str,
    behind: &'w str,
}

impl<'w> LoopWord<'w> {
    fn read(written: &'w str) -> Option<Self> {
        let plain = written.strip_prefix('"').and_then(|rest| rest.strip_suffix('"')).unwrap_or(written);
        let (before, rest) = plain.split_once('$')?;
        let is_name = |c: char| c.is_ascii_alphanumeric() || c == '_';
        let (name, cut, behind) = match rest.strip_prefix('{') {
            Some(rest) => {
                let (inner, behind) = rest.split_once('}')?;
                let (name, cut) = inner.split_once('%').unwrap_or((inner, ""));
                (name, cut, behind)
            }
            None => {
                let (name, behind) = rest.split_at(rest.find(|c| !is_name(c)).unwrap_or(rest.len()));
                (name, "", behind)
            }
        };
        let word = Self { before, name, cut, behind };
        let is_read = is_plain(before) && is_plain(behind) && is_plain(cut) && !behind.contains('/');
        (is_read && !name.is_empty() && name.chars().all(is_name)).then_some(word)
    }

    fn filled(&self, value: &str) -> String {
        let value = value.strip_suffix(self.cut).unwrap_or(value);
        format!("{}{value}{}", self.before, self.behind)
    }
}

/// Whether a text has no signs in it, and doesn't lead up.
fn is_plain(text: &str) -> bool {
    text.chars().all(|c| c.is_ascii_alphanumeric() || "._-/".contains(c)) && !text.contains("..")
}
