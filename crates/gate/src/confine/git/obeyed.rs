//! What git obeys when it works in a root: files of settings, what they name, and the folders of submodules and worktrees.

use std::path::{Path, PathBuf};

use shellgate_policy::git_settings::{Settings, files_of_user};

use super::{IN_REPOSITORY, PROTECTED, folders_in};
use crate::confine::held::Held;

/// Entries of a linked worktree's folder that name other folders, or hold settings.
const PROTECTED_IN_WORKTREE: [&str; 3] = ["commondir", "gitdir", "config.worktree"];

/// Folders of a repository in which no other repository is.
const WITHOUT_REPOSITORIES: [&str; 5] = ["hooks", "info", "logs", "objects", "refs"];

/// Submodules can have names with slashes, and submodules of their own.
const MAX_DEPTH: u32 = 8;

/// The settings of a repository, and the folders that the paths of hooks in them may be relative to.
#[derive(Debug)]
struct Repository {
    settings: Settings,
    /// Its own folder. Without a working tree, git works there.
    folder: Option<PathBuf>,
    /// The tops of its working trees.
    tops: Vec<PathBuf>,
}

impl Repository {
    fn bases(&self) -> impl Iterator<Item = &PathBuf> {
        self.folder.iter().chain(&self.tops)
    }
}

/// Holds what makes git run something in the repositories that lie in `root`, beside the fixed names. That a command could have
/// written some of it does no harm: more is protected then, not less. Returns the folders of hooks.
pub(in crate::confine) fn hold(held: &mut Held, root: &Path, home: Option<&Path>) -> Vec<PathBuf> {
    let mut repositories = Vec::new();
    if let Some(folder) = folder_of(held, root) {
        repositories = repositories_of(held, &folder, root, home);
    }
    let of_user = files_of_user(home, std::env::var_os("XDG_CONFIG_HOME").map(PathBuf::from).as_deref());
    let of_user = of_user.into_iter().chain(std::env::var_os("GIT_CONFIG_GLOBAL").map(PathBuf::from));
    let of_user: Vec<PathBuf> = of_user.filter(|file| file.is_absolute()).collect();
    for file in &of_user {
        held.place(file);
    }
    let all = repositories.iter().flat_map(Repository::bases).cloned();
    let tops = all.chain([root.to_owned()]).collect();
    repositories.push(Repository { settings: Settings::of(of_user, home), folder: None, tops });
    let mut hooks = Vec::new();
    for repository in &repositories {
        for file in &repository.settings.included {
            held.place(file);
        }
        hooks.extend(repository.folder.as_ref().and_then(|folder| held.place(&folder.join("hooks"))));
        for setting in repository.settings.named("core", "hookspath") {
            let folders = repository.bases().filter_map(|base| setting.path(base, home));
            hooks.extend(folders.filter_map(|folder| held.hooks(&folder)));
        }
    }
    hooks.sort();
    hooks.dedup();
    hooks
}

/// The folder of the repository whose top is `root`: `.git`, the one that a file `.git` names, or the root itself.
fn folder_of(held: &mut Held, root: &Path) -> Option<PathBuf> {
    let folder = root.join(".git");
    let Ok(found) = folder.metadata() else {
        return IN_REPOSITORY.iter().all(|name| root.join(name).exists()).then(|| root.to_owned());
    };
    if found.is_dir() {
        return Some(folder);
    }
    let named = std::fs::read_to_string(&folder).ok()?;
    let named = held.links_to(&root.join(named.strip_prefix("gitdir:")?.trim())).end?;
    PROTECTED.iter().for_each(|name| _ = held.place(&named.join(name)));
    Some(named)
}

/// The repository in `folder`, with its submodules and linked worktrees.
fn repositories_of(held: &mut Held, folder: &Path, root: &Path, home: Option<&Path>) -> Vec<Repository> {
    let shared = std::fs::read_to_string(folder.join("commondir")).ok();
    let shared =
        shared.and_then(|shared| folder.join(shared.trim_end_matches(['\n', '\r'])).canonicalize().ok());
    let shared = shared.as_deref().unwrap_or(folder);
    let mut own = repository(shared, home);
    own.tops.push(root.to_owned());
    let mut found = Vec::new();
    for worktree in folders_in(&shared.join("worktrees")) {
        PROTECTED_IN_WORKTREE.iter().for_each(|name| _ = held.place(&worktree.join(name)));
        let top = std::fs::read_to_string(worktree.join("gitdir")).ok();
        let top = top
            .and_then(|file| Some(worktree.join(file.trim_end_matches(['\n', '\r'])).parent()?.to_owned()));
        own.tops.extend(top.clone());
        let settings = Settings::of([worktree.join("config.worktree")], home);
        found.push(Repository { settings, folder: None, tops: top.into_iter().collect() });
    }
    found.push(own);
    let mut modules = repositories_below(&shared.join("modules"), MAX_DEPTH);
    if shared != folder {
        modules.extend(repositories_below(&folder.join("modules"), MAX_DEPTH));
    }
    for module in modules {
        PROTECTED.iter().for_each(|name| _ = held.place(&module.join(name)));
        let module = repository(&module, home);
        module.tops.iter().for_each(|top| hold_file(held, top, root));
        found.push(module);
    }
    found
}

/// The repository in `folder`, with the working tree that its settings name.
fn repository(folder: &Path, home: Option<&Path>) -> Repository {
    let settings = Settings::of(["config", "config.worktree"].map(|name| folder.join(name)), home);
    let tops = settings.named("core", "worktree").filter_map(|setting| setting.path(folder, home)).collect();
    Repository { settings, folder: Some(folder.to_owned()), tops }
}

/// Holds the file `.git` by which git finds a submodule's repository: another one would have other settings. The folder `.git` of a
/// whole repository stays free.
fn hold_file(held: &mut Held, top: &Path, root: &Path) {
    let file = top.join(".git");
    let top = held.links_to(top).end;
    let is_root = top.is_none_or(|top| root.starts_with(&top));
    if !is_root && !file.symlink_metadata().is_ok_and(|found| found.is_dir()) {
        held.place(&file);
    }
}

/// The folders of repositories below a folder.
fn repositories_below(folder: &Path, depth: u32) -> Vec<PathBuf> {
    let is_other = |folder: &PathBuf| !WITHOUT_REPOSITORIES.iter().any(|name| folder.ends_with(name));
    let mut found = Vec::new();
    for folder in folders_in(folder).into_iter().filter(is_other) {
        if depth > 0 {
            found.extend(repositories_below(&folder, depth - 1));
        }
        if folder.join("HEAD").is_file() {
            found.push(folder);
        }
    }
    found
}

#[cfg(test)]
mod tests {
    use shellgate_exec::Confinement;

    use super::super::tests::Place;
    use super::*;

    /// What is protected in the folder `main` of a place: those of `names` that are.
    fn protected<'n>(place: &Place, names: &[&'n str]) -> Vec<&'n str> {
        let root = place.path.join("main");
        let mut held = Held::default();
        hold(&mut held, &root, Some(&place.path.join("home")));
        let mut confinement = Confinement { writable: vec![root], ..Confinement::default() };
        held.protect(&mut confinement);
        let is_protected =
            |name: &&&str| confinement.protected.iter().any(|one| one.path == Path::new(**name));
        names.iter().filter(is_protected).copied().collect()
    }

    #[test]
    fn what_settings_name_is_held_however_it_is_written() {
        let place = Place::new();
        place.repository("main");
        let plain = std::fs::read_to_string(place.path.join("main/.git/config")).unwrap();
        let with = |text: &str| {
            std::fs::write(place.path.join("main/.git/config"), format!("{plain}{text}\n")).unwrap();
            protected(&place, &["gh", "inc1", "inc2"])
        };
        assert!(with("[core] abbrev = 8").is_empty());
        for text in [
            "[core]\nhooksPath = gh",
            "[core] hooksPath = gh ; ours",
            "[core] hooksPath = g\"h\"",
            "[core] hooksPath=g\\\nh",
        ] {
            assert_eq!(with(text), ["gh"], "{text}");
        }
        std::fs::write(place.path.join("main/inc1"), "[include] path = inc2\n").unwrap();
        assert_eq!(with("[includeIf \"gitdir:nowhere\"] path = ../inc1"), ["inc1", "inc2"]);
        std::fs::write(place.path.join("main/inc2"), "[core] hooksPath = gh\n").unwrap();
        assert_eq!(with("[include] path = ../inc1"), ["gh", "inc1", "inc2"]);
        std::fs::create_dir(place.path.join("home")).unwrap();
        std::fs::write(place.path.join("home/.gitconfig"), "[core] hooksPath = gh\n").unwrap();
        assert_eq!(with(""), ["gh"]);
    }

    #[test]
    fn submodules_and_worktrees_have_settings_of_their_own() {
        let place = Place::new();
        place.repository("library");
        place.repository("main");
        place.git("main", &["submodule", "add", "-q", "../library", "deep/sub"]);
        place.git("main", &["commit", "-q", "-m", "second"]);
        place.git("main", &["worktree", "add", "-q", "../linked"]);
        place.git("main", &["config", "extensions.worktreeConfig", "true"]);
        place.git("main/deep/sub", &["config", "core.hooksPath", "gh"]);
        place.git("main/deep/sub", &["config", "include.path", "inc"]);
        let hooks = place.path.join("main/gh2");
        place.git("linked", &["config", "--worktree", "core.hooksPath", hooks.to_str().unwrap()]);
        let names = [
            "deep/sub/.git",
            "deep/sub/gh",
            ".git/modules/deep/sub/config*",
            ".git/modules/deep/sub/inc",
            ".git/worktrees/linked/commondir",
            "gh2",
        ];
        assert_eq!(protected(&place, &names), names);
        assert!(protected(&place, &[".git", "deep", "deep/sub", "gh", ".git/index"]).is_empty());
    }
}
