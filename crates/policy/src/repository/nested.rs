//! Repositories below a folder, found by a walk that has an end.

use std::collections::VecDeque;
use std::fs;
use std::path::{Path, PathBuf};

/// A walk that meets more entries than this has found too many.
const MAX_ENTRIES: usize = 100_000;

/// In ignored folders, a walk ends with so many entries.
const MAX_IGNORED_ENTRIES: usize = 5000;

/// The tops of the repositories in and below a folder. Links are not followed, as git follows none. `None`: there are
/// too many files to look for them. Folders that `.gitignore` names (`node_modules`) are looked through last and only in
/// part: git takes nothing from them unless it is told to by name. `takes_ignored`: it is told to take all.
pub(super) fn tops_below(folder: &Path, top: &Path, takes_ignored: bool) -> Option<Vec<PathBuf>> {
    let ignored_names = if takes_ignored { Vec::new() } else { ignored_names(top) };
    let mut tops = Vec::new();
    let mut folders = VecDeque::from([folder.to_owned()]);
    let mut ignored = VecDeque::new();
    let mut entries_left = MAX_ENTRIES;
    while let Some(folder) = folders.pop_front() {
        for entry in entries(&folder) {
            entries_left = entries_left.checked_sub(1)?;
            let name = entry.file_name();
            if name.eq_ignore_ascii_case(".git") {
                tops.push(folder.clone());
            } else if entry.file_type().is_ok_and(|kind| kind.is_dir()) {
                let is_ignored = ignored_names.iter().any(|ignored| name == ignored.as_str());
                if is_ignored { &mut ignored } else { &mut folders }.push_back(entry.path());
            }
        }
    }
    entries_left = MAX_IGNORED_ENTRIES;
    while let Some(folder) = ignored.pop_front() {
        for entry in entries(&folder).take(entries_left) {
            entries_left -= 1;
            if entry.file_name().eq_ignore_ascii_case(".git") {
                tops.push(folder.clone());
            } else if entry.file_type().is_ok_and(|kind| kind.is_dir()) {
                ignored.push_back(entry.path());
            }
        }
    }
    Some(tops)
}

fn entries(folder: &Path) -> impl Iterator<Item = fs::DirEntry> {
    fs::read_dir(folder).into_iter().flatten().flatten()
}

/// The plain names in the `.gitignore` of a repository.
pub(super) fn ignored_names(top: &Path) -> Vec<String> {
    let text = super::read(&top.join(".gitignore")).unwrap_or_default();
    let names = text.lines().map(|line| line.trim().trim_matches('/'));
    names
        .filter(|name| !name.is_empty() && !name.contains(['/', '*', '?', '[', '!', '#']))
        .map(str::to_owned)
        .collect()
}

#[cfg(test)]
mod tests {
    use super::{MAX_IGNORED_ENTRIES, tops_below};
    use std::fs;

    #[test]
    fn repositories_are_found_below_a_folder() {
        let folder = tempfile::tempdir().unwrap();
        let top = folder.path();
        for name in ["a/.git", "a/b/c/.git", "out/d/.git", "e"] {
            fs::create_dir_all(top.join(name)).unwrap();
        }
        fs::write(top.join("e/.git"), "gitdir: x").unwrap();
        fs::write(top.join(".gitignore"), "*.o\n/out/\n").unwrap();
        let mut found = tops_below(top, top, false).unwrap();
        found.sort();
        assert_eq!(found, ["a", "a/b/c", "e", "out/d"].map(|name| top.join(name)));
    }

    #[test]
    fn many_files_in_an_ignored_folder_end_the_walk_there() {
        let folder = tempfile::tempdir().unwrap();
        let top = folder.path();
        fs::create_dir_all(top.join("out")).unwrap();
        fs::create_dir_all(top.join("a/.git")).unwrap();
        fs::write(top.join(".gitignore"), "out\n").unwrap();
        for at in 0..=MAX_IGNORED_ENTRIES {
            fs::write(top.join(format!("out/{at}")), "").unwrap();
        }
        assert_eq!(tops_below(top, top, false), Some(vec![top.join("a")]));
        fs::create_dir_all(top.join("out/z/.git")).unwrap();
        let mut found = tops_below(top, top, true).unwrap();
        found.sort();
        assert_eq!(found, [top.join("a"), top.join("out/z")]);
    }
}
