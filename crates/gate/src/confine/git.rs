//! Repositories whose folder is outside the root: linked worktrees and submodules.
//!
//! Their `.git` is a file that names the folder. A command could write such a file, so the folder counts only if it names
//! the root in turn: only a process that could write there before can have made it do so.

use std::path::{Path, PathBuf};

use shellgate_exec::Protected;

/// Entries of a repository that make git run something.
const PROTECTED: [&str; 4] = ["hooks", "config*", "modules/*/hooks", "modules/*/config*"];

/// The folders of a repository outside the root.
#[derive(Debug, PartialEq, Eq)]
pub(super) struct Repository {
    /// The folder of the worktree or submodule, and the one that a worktree shares with others.
    pub(super) folders: Vec<PathBuf>,
}

impl Repository {
    pub(super) fn protected(&self) -> Vec<Protected> {
        let protect = |folder: &PathBuf| {
            let folder = folder.clone();
            PROTECTED.map(|path| Protected { root: folder.clone(), path: path.into() })
        };
        self.folders.iter().flat_map(protect).collect()
    }
}

/// The repository of `root`, if its folder is elsewhere.
pub(super) fn repository_elsewhere(root: &Path) -> Option<Repository> {
    let file = root.join(".git");
    if !file.symlink_metadata().ok()?.is_file() {
        return None;
    }
    let named = std::fs::read_to_string(&file).ok()?;
    let folder = root.join(named.strip_prefix("gitdir:")?.trim()).canonicalize().ok()?;
    let read = |name: &str| std::fs::read_to_string(folder.join(name)).ok();
    // A worktree: its folder names the file, and the folder that it shares.
    if let Some(back) = read("gitdir") {
        let shared = folder.join(read("commondir")?.trim()).canonicalize().ok()?;
        let is_ours = folder.join(back.trim()).canonicalize().ok()? == file;
        return is_ours.then(|| Repository { folders: vec![shared, folder] });
    }
    // A submodule: its settings name the folder that it is checked out in.
    let worktree = read("config")?.lines().find_map(|line| {
        let (name, value) = line.split_once('=')?;
        (name.trim() == "worktree").then(|| value.trim().trim_matches('"').to_owned())
    });
    let is_ours = folder.join(worktree?).canonicalize().ok()? == root;
    is_ours.then(|| Repository { folders: vec![folder] })
}

#[cfg(test)]
mod tests {
    use super::*;

    struct Place {
        _folder: tempfile::TempDir,
        path: PathBuf,
    }

    impl Place {
        fn new() -> Self {
            let folder = tempfile::tempdir().unwrap();
            let path = folder.path().canonicalize().unwrap();
            Self { _folder: folder, path }
        }

        fn git(&self, folder: &str, words: &[&str]) {
            let config = ["-c", "user.name=a", "-c", "user.email=a@b", "-c", "protocol.file.allow=always"];
            let mut command = std::process::Command::new("git");
            let output =
                command.args(config).args(words).current_dir(self.path.join(folder)).output().unwrap();
            assert!(output.status.success(), "{words:?}: {}", String::from_utf8_lossy(&output.stderr));
        }

        fn repository(&self, name: &str) {
            std::fs::create_dir(self.path.join(name)).unwrap();
            self.git(name, &["init", "-q"]);
            self.git(name, &["commit", "-q", "--allow-empty", "-m", "first"]);
        }
    }

    #[test]
    fn a_worktree_has_its_folder_and_the_shared_one() {
        let place = Place::new();
        place.repository("main");
        place.git("main", &["worktree", "add", "-q", "../linked"]);
        let found = repository_elsewhere(&place.path.join("linked")).unwrap();
        let folders = ["main/.git", "main/.git/worktrees/linked"].map(|path| place.path.join(path)).to_vec();
        assert_eq!(found, Repository { folders });
        assert_eq!(repository_elsewhere(&place.path.join("main")), None, "its folder is inside");
    }

    #[test]
    fn a_submodule_has_its_folder() {
        let place = Place::new();
        place.repository("library");
        place.repository("main");
        place.git("main", &["submodule", "add", "-q", "../library", "sub"]);
        let found = repository_elsewhere(&place.path.join("main/sub")).unwrap();
        assert_eq!(found, Repository { folders: vec![place.path.join("main/.git/modules/sub")] });
    }

    #[test]
    fn a_folder_that_does_not_name_the_root_is_not_believed() {
        let place = Place::new();
        place.repository("other");
        place.git("other", &["worktree", "add", "-q", "../linked"]);
        std::fs::create_dir(place.path.join("root")).unwrap();
        for folder in ["other/.git", "other/.git/worktrees/linked", "linked", "missing"] {
            let text = format!("gitdir: {}\n", place.path.join(folder).display());
            std::fs::write(place.path.join("root/.git"), text).unwrap();
            assert_eq!(repository_elsewhere(&place.path.join("root")), None, "{folder}");
        }
    }
}
