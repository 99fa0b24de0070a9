//! Repositories below a folder, found by a walk that has an end.

use std::collections::VecDeque;
use std::fs;
use std::path::{Path, PathBuf};

/// A walk through more folders than this ends.
const MAX_FOLDERS: usize = 10_000;

/// The tops of the repositories in and below a folder. Links are not followed, as git follows none. `None`: there are
/// too many folders to look for them. Folders that `.gitignore` names (`node_modules`) are looked through last, and only
/// as far as the walk gets.
pub(super) fn tops_below(folder: &Path, top: &Path) -> Option<Vec<PathBuf>> {
    let ignored = ignored_names(top);
    let mut tops = Vec::new();
    let mut folders = VecDeque::from([folder.to_owned()]);
    let mut last = VecDeque::new();
    for _ in 0..MAX_FOLDERS {
        let Some(folder) = folders.pop_front().or_else(|| last.pop_front()) else { return Some(tops) };
        let Ok(entries) = fs::read_dir(&folder) else { continue };
        for entry in entries.flatten() {
            let name = entry.file_name();
            if name.eq_ignore_ascii_case(".git") {
                tops.push(folder.clone());
            } else if entry.file_type().is_ok_and(|kind| kind.is_dir()) {
                let is_ignored = ignored.iter().any(|ignored| name == ignored.as_str());
                if is_ignored { &mut last } else { &mut folders }.push_back(entry.path());
            }
        }
    }
    folders.is_empty().then_some(tops)
}

/// The plain names in the `.gitignore` of a repository.
fn ignored_names(top: &Path) -> Vec<String> {
    let text = super::read(&top.join(".gitignore")).unwrap_or_default();
    let names = text.lines().map(|line| line.trim().trim_matches('/'));
    names
        .filter(|name| !name.is_empty() && !name.contains(['/', '*', '?', '[', '!', '#']))
        .map(str::to_owned)
        .collect()
}
