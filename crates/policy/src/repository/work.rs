//! Work that only the files of a repository hold: changes that were never committed, files that git doesn't track, stashes,
//! branches that nothing else has.
//!
//! Git isn't run. A tracked file has changed if its time or size isn't what the index says; something is staged if the index
//! isn't wholly written to a tree. Where a repository can't be read, or has too many files, there may be work in it.

use std::collections::HashSet;
use std::fs;
use std::os::unix::fs::MetadataExt as _;
use std::path::{Path, PathBuf};

use super::{Repositories, common_place, index, nested, place_of, read};

/// If a repository has more files, some may have changed.
const MAX_FILES: usize = 50_000;

/// If there are more references, one may be the only one.
const MAX_REFERENCES: usize = 5000;

/// The beginning of the line with a branch in `HEAD`.
const HEAD_BRANCH: &str = "ref: refs/heads/";

impl Repositories {
    /// Whether tracked files below `below` may have changes that aren't staged. A file that is gone is none: git has it.
    pub(crate) fn may_have_changes(&self, below: &Path) -> bool {
        let Some(top) = self.top_of(below) else { return false };
        changes(top, below).unwrap_or(true)
    }

    /// Whether changes may be staged that were never committed.
    pub(crate) fn may_have_staged(&self, folder: &Path) -> bool {
        let Some(top) = self.top_of(folder) else { return false };
        let is_written =
            place_of(top).and_then(|place| index::tracking(&place)).map(|found| found.is_written);
        !is_written.unwrap_or(false)
    }

    /// Whether there may be files below `below` that git doesn't track. `ignored`: also those that it ignores.
    pub(crate) fn may_have_untracked(&self, below: &Path, ignored: bool) -> bool {
        let Some(top) = self.top_of(below) else { return false };
        untracked(top, below, ignored).unwrap_or(true)
    }

    /// Whether changes are stashed.
    pub(crate) fn has_stash(&self, folder: &Path) -> bool {
        let Some(top) = self.top_of(folder) else { return false };
        let common = place_of(top).and_then(|place| common_place(&place));
        common.is_none_or(|common| {
            common.join("refs/stash").exists()
                || read(&common.join("packed-refs")).is_some_and(|text| text.contains("refs/stash"))
        })
    }

    /// The name of the branch that is checked out.
    pub(crate) fn current_branch(&self, folder: &Path) -> Option<String> {
        let head = read(&place_of(self.top_of(folder)?)?.join("HEAD"))?;
        head.trim_end().strip_prefix(HEAD_BRANCH).map(str::to_owned)
    }

    /// The name of the branch that a remote takes for its own.
    pub(crate) fn default_branch(&self, folder: &Path, remote: &str) -> Option<String> {
        let common = common_place(&place_of(self.top_of(folder)?)?)?;
        let head = read(&common.join("refs/remotes").join(remote).join("HEAD"))?;
        head.trim_end().strip_prefix(&format!("ref: refs/remotes/{remote}/")).map(str::to_owned)
    }

    /// Whether no other reference may have the last commit of a branch. A branch that doesn't exist has none.
    pub(crate) fn may_be_only_copy(&self, folder: &Path, branch: &str) -> bool {
        let Some(top) = self.top_of(folder) else { return false };
        let Some(references) = place_of(top).and_then(|place| references(&common_place(&place)?)) else {
            return true;
        };
        let name = format!("refs/heads/{branch}");
        let Some((_, commit)) = references.iter().find(|(other, _)| *other == name) else { return false };
        !references.iter().any(|(other, found)| found == commit && *other != name)
    }
}

fn changes(top: &Path, below: &Path) -> Option<bool> {
    let tracking = index::tracking(&place_of(top)?)?;
    if tracking.files.len() > MAX_FILES {
        return None;
    }
    let has_changed = |file: &index::Tracked| {
        let path = top.join(&file.path);
        if file.is_unwatched || !path.starts_with(below) {
            return false;
        }
        if file.is_unfinished {
            return true;
        }
        let Ok(found) = path.symlink_metadata() else { return false };
        // The index keeps the last bits of each.
        let is_same = |own: i64, kept: u32| own.to_be_bytes().get(4..) == Some(kept.to_be_bytes().as_slice());
        let (seconds, nanoseconds) = file.changed_at;
        found.is_dir()
            || !is_same(found.mtime(), seconds)
            || nanoseconds != 0 && !is_same(found.mtime_nsec(), nanoseconds)
            || found.size().to_be_bytes().get(4..) != Some(file.size.to_be_bytes().as_slice())
    };
    Some(tracking.files.iter().any(has_changed))
}

fn untracked(top: &Path, below: &Path, ignored: bool) -> Option<bool> {
    let tracking = index::tracking(&place_of(top)?)?;
    let files: HashSet<PathBuf> = tracking.files.into_iter().map(|file| top.join(file.path)).collect();
    let names = if ignored { Vec::new() } else { nested::ignored_names(top) };
    let mut folders = vec![below.to_owned()];
    let mut left = MAX_FILES;
    while let Some(folder) = folders.pop() {
        for entry in fs::read_dir(&folder).ok()? {
            let entry = entry.ok()?;
            left = left.checked_sub(1)?;
            let name = entry.file_name();
            if name == ".git" || names.iter().any(|ignored| name == ignored.as_str()) {
                continue;
            }
            let path = entry.path();
            if entry.file_type().ok()?.is_dir() {
                // Git deletes no other repository.
                if path.join(".git").symlink_metadata().is_err() {
                    folders.push(path);
                }
            } else if !files.contains(&path) {
                return Some(true);
            }
        }
    }
    Some(false)
}

/// The branches of a repository and of its remotes, with their last commits.
fn references(common: &Path) -> Option<Vec<(String, String)>> {
    let mut all = Vec::new();
    let packed = common.join("packed-refs");
    if packed.exists() {
        let text = read(&packed)?;
        let lines = text.lines().filter(|line| !line.starts_with(['#', '^']));
        all.extend(
            lines.filter_map(|line| line.split_once(' ')).map(|(id, name)| (name.to_owned(), id.to_owned())),
        );
    }
    let mut folders = vec![common.join("refs/heads"), common.join("refs/remotes"), common.join("refs/tags")];
    while let Some(folder) = folders.pop() {
        let Ok(entries) = fs::read_dir(&folder) else { continue };
        for entry in entries {
            let path = entry.ok()?.path();
            if path.is_dir() {
                folders.push(path);
                continue;
            }
            let name = path.strip_prefix(common).ok()?.to_str()?.to_owned();
            let id = read(&path)?.trim_end().to_owned();
            // What is in a file of its own counts before what is packed.
            all.retain(|(other, _)| *other != name);
            all.push((name, id));
            (all.len() <= MAX_REFERENCES).then_some(())?;
        }
    }
    Some(all)
}

#[cfg(test)]
mod tests {
    use super::super::Repositories;
    use std::fs;
    use std::path::Path;
    use std::process::Command;

    fn git(folder: &Path, words: &str) {
        let mut command = Command::new("git");
        command.current_dir(folder).args(["-c", "user.name=n", "-c", "user.email=e"]).args(words.split(' '));
        command.env_clear().env("PATH", std::env::var_os("PATH").unwrap()).env("HOME", folder);
        assert!(command.output().unwrap().status.success(), "git {words}");
    }

    fn found(top: &Path) -> (bool, bool, bool, bool) {
        let found = Repositories::new(top, None);
        (
            found.may_have_changes(top),
            found.may_have_staged(top),
            found.may_have_untracked(top, false),
            found.may_have_untracked(top, true),
        )
    }

    #[test]
    fn work_is_found_by_what_the_index_says() {
        let folder = tempfile::tempdir().unwrap();
        let top = &folder.path().canonicalize().unwrap();
        assert_eq!(found(top), (false, false, false, false), "there is no repository");
        git(top, "init -q -b main .");
        fs::write(top.join("a"), "one").unwrap();
        fs::create_dir(top.join("sub")).unwrap();
        fs::write(top.join("sub/b"), "one").unwrap();
        fs::write(top.join(".gitignore"), "out\n").unwrap();
        assert_eq!(found(top), (false, false, true, true));
        git(top, "add .");
        assert_eq!(found(top), (false, true, false, false), "all is staged");
        git(top, "commit -q -m one");
        assert_eq!(found(top), (false, false, false, false), "all is committed");
        fs::write(top.join("out"), "").unwrap();
        assert_eq!(found(top), (false, false, false, true));
        fs::write(top.join("new"), "").unwrap();
        assert_eq!(found(top), (false, false, true, true));
        fs::write(top.join("sub/b"), "two and more").unwrap();
        assert_eq!(found(top), (true, false, true, true));
        let all = Repositories::new(top, None);
        assert!(all.may_have_changes(&top.join("sub")));
        fs::write(top.join("other"), "").unwrap();
        git(top, "stash -q");
        assert_eq!(found(top), (false, false, true, true));
        assert!(Repositories::new(top, None).has_stash(top));
        git(top, "stash drop -q");
        assert!(!Repositories::new(top, None).has_stash(top));
        fs::remove_file(top.join("a")).unwrap();
        assert!(!Repositories::new(top, None).may_have_changes(top), "git can bring it back");
        fs::write(top.join(".git/index"), "no index").unwrap();
        assert_eq!(found(top), (true, true, true, true), "what can't be read may have changed");
    }

    #[test]
    fn branches_are_read() {
        let folder = tempfile::tempdir().unwrap();
        let top = &folder.path().canonicalize().unwrap();
        git(top, "init -q -b topic .");
        git(top, "commit -q --allow-empty -m one");
        git(top, "branch same");
        let all = Repositories::new(top, None);
        assert_eq!(all.current_branch(top).as_deref(), Some("topic"));
        assert!(!all.may_be_only_copy(top, "same"));
        assert!(!all.may_be_only_copy(top, "missing"));
        git(top, "commit -q --allow-empty -m two");
        assert!(all.may_be_only_copy(top, "topic"));
        git(top, "pack-refs --all");
        assert!(all.may_be_only_copy(top, "topic"));
        git(top, "branch again");
        assert!(!all.may_be_only_copy(top, "topic"));
        assert_eq!(all.default_branch(top, "origin"), None);
        fs::create_dir_all(top.join(".git/refs/remotes/origin")).unwrap();
        fs::write(top.join(".git/refs/remotes/origin/HEAD"), "ref: refs/remotes/origin/hub\n").unwrap();
        assert_eq!(all.default_branch(top, "origin").as_deref(), Some("hub"));
    }
}
