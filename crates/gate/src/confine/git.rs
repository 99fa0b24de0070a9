//! Repositories whose folder is outside the root: linked worktrees and submodules.
//!
//! Their `.git` is a file that names the folder. A command could write such a file, so the folder counts only if it names
//! the root in turn: only a process that could write there before can have made it do so.

pub(super) mod obeyed;

use std::path::{Path, PathBuf};

use shellgate_exec::Protected;
use shellgate_policy::git_settings::Settings;

/// Entries of a repository that make git run something.
const PROTECTED: [&str; 5] = ["hooks", "config*", "commondir", "modules/*/hooks", "modules/*/config*"];

/// What makes a folder a repository for git.
const IN_REPOSITORY: [&str; 3] = ["HEAD", "objects", "refs"];

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

/// The protected entries of a root that is a repository itself, without a working tree around it (`git init --bare`). A command must
/// not make another root one: then git would obey a file `config` in it. So an entry that it lacks is protected, one whose name the
/// project doesn't use, in whatever letters.
pub(super) fn protected_in_bare(root: &Path) -> Vec<PathBuf> {
    if IN_REPOSITORY.iter().all(|name| root.join(name).exists()) {
        return PROTECTED.map(PathBuf::from).into();
    }
    let is_used = |name: &str| {
        let (lower, upper) = (name.to_ascii_lowercase(), name.to_ascii_uppercase());
        let title = format!("{}{}", upper.get(..1).unwrap_or_default(), lower.get(1..).unwrap_or_default());
        [lower, upper, title].iter().any(|name| root.join(name).exists())
    };
    let unused = IN_REPOSITORY.iter().find(|name| !is_used(name));
    unused
        .or_else(|| IN_REPOSITORY.iter().find(|name| !root.join(name).exists()))
        .map(PathBuf::from)
        .into_iter()
        .collect()
}

fn folders_in(folder: &Path) -> Vec<PathBuf> {
    let entries = std::fs::read_dir(folder).into_iter().flatten().flatten();
    let folders = entries.filter(|entry| entry.file_type().is_ok_and(|kind| kind.is_dir()));
    folders.map(|entry| entry.path()).collect()
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
    // A worktree: its folder names the file, and lies in the folder that it shares. Both are looked at, because a root may come
    // out of an archive: a name alone could lead to any folder.
    if let Some(back) = read("gitdir") {
        let shared = folder.join(read("commondir")?.trim()).canonicalize().ok()?;
        let is_ours = folder.join(back.trim()).canonicalize().ok()? == file;
        let is_shared = folder
            .parent()
            .is_some_and(|worktrees| worktrees.ends_with("worktrees") && worktrees.parent() == Some(&shared))
            && IN_REPOSITORY.iter().all(|name| shared.join(name).exists());
        return (is_ours && is_shared).then(|| Repository { folders: vec![shared, folder] });
    }
    // A submodule: its settings name the folder that it is checked out in.
    let settings = Settings::of([folder.join("config")], None);
    let worktree = settings.named("core", "worktree").last()?.path(&folder, None)?;
    let is_ours = worktree.canonicalize().ok()? == root;
    is_ours.then(|| Repository { folders: vec![folder] })
}

#[cfg(test)]
mod tests {
    use super::*;

    pub(super) struct Place {
        _folder: tempfile::TempDir,
        pub(super) path: PathBuf,
    }

    impl Place {
        pub(super) fn new() -> Self {
            let folder = tempfile::tempdir().unwrap();
            let path = folder.path().canonicalize().unwrap();
            Self { _folder: folder, path }
        }

        pub(super) fn git(&self, folder: &str, words: &[&str]) {
            let config = ["-c", "user.name=a", "-c", "user.email=a@b", "-c", "protocol.file.allow=always"];
            let mut command = std::process::Command::new("git");
            let output =
                command.args(config).args(words).current_dir(self.path.join(folder)).output().unwrap();
            assert!(output.status.success(), "{words:?}: {}", String::from_utf8_lossy(&output.stderr));
        }

        pub(super) fn repository(&self, name: &str) {
            std::fs::create_dir(self.path.join(name)).unwrap();
            self.git(name, &["init", "-q"]);
            self.git(name, &["commit", "-q", "--allow-empty", "-m", "first"]);
        }
    }

    #[test]
    fn a_root_lacks_an_entry_of_a_repository_that_the_project_has_no_use_for() {
        let root = tempfile::tempdir().unwrap();
        let protected = || protected_in_bare(root.path());
        let make = |name: &str| std::fs::create_dir(root.path().join(name)).unwrap();
        assert_eq!(protected(), [PathBuf::from("HEAD")]);
        make("head");
        assert_eq!(protected(), [PathBuf::from("objects")]);
        make("Objects");
        assert_eq!(protected(), [PathBuf::from("refs")]);
        make("refs");
        assert_eq!(protected(), [PathBuf::from("HEAD")], "each is used: one that git still lacks");
        make("HEAD");
        make("objects");
        assert_eq!(protected(), PROTECTED.map(PathBuf::from));
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
    fn a_forged_worktree_opens_no_other_folder() {
        let place = Place::new();
        place.repository("victim");
        let forged = place.path.join("root/g/w");
        std::fs::create_dir_all(&forged).unwrap();
        std::fs::write(place.path.join("root/.git"), "gitdir: g/w\n").unwrap();
        std::fs::write(forged.join("gitdir"), "../../.git\n").unwrap();
        std::fs::write(forged.join("HEAD"), "ref: refs/heads/main\n").unwrap();
        for shared in ["../../../victim", "../../../victim/.git", "/", "../.."] {
            std::fs::write(forged.join("commondir"), shared).unwrap();
            assert_eq!(repository_elsewhere(&place.path.join("root")), None, "{shared}");
        }
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
