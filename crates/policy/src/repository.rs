//! Repositories of git on disk: whether the one that git finds from a folder has settings that can name programs.
//!
//! Git looks for `.git` in its folder and then upwards, and takes a folder that has a repository's layout for one. The
//! root's own repository is trusted: what writes its settings is judged when it happens. Another repository is harmless
//! if each of its settings is on a list of those that run nothing, and it has no hooks.

use std::fs;
use std::io::Read as _;
use std::path::{Path, PathBuf};

use crate::programs::words;

/// Longer settings are not read.
const MAX_CONFIG_BYTES: u64 = 64 << 10;

/// Whether git, started in `folder`, finds no repository, the one of `root`, or one whose settings run nothing.
pub(crate) fn is_harmless_in(folder: &Path, root: &Path) -> bool {
    let own = root.ancestors().find(|folder| holds_repository(folder));
    match folder.ancestors().find(|folder| holds_repository(folder)) {
        None => true,
        found if found == own => true,
        Some(found) => runs_nothing(found, own).unwrap_or(false),
    }
}

/// Whether a path is inside a folder that has a repository's layout.
pub(crate) fn is_in_layout(path: &Path) -> bool {
    path.ancestors().skip(1).any(has_layout)
}

/// Whether git takes this folder for the top of a repository, or for a repository itself.
fn holds_repository(folder: &Path) -> bool {
    folder.join(".git").symlink_metadata().is_ok() || has_layout(folder)
}

/// Whether a folder may be a repository by what is in it. Git wants more than `HEAD`, but nothing without it.
fn has_layout(folder: &Path) -> bool {
    folder.join("HEAD").symlink_metadata().is_ok()
}

/// Whether the repository at `top` has settings and hooks that run nothing. `None`: that can't be read.
fn runs_nothing(top: &Path, own: Option<&Path>) -> Option<bool> {
    let place = place_of(top)?;
    let common = common_place(&place)?;
    if place.join("config.worktree").symlink_metadata().is_ok() {
        return Some(false);
    }
    // A worktree of the root's own repository.
    if own.and_then(place_of).is_some_and(|own| own == common) {
        return Some(true);
    }
    let config = read(&common.join("config"))?;
    let is_top = |path: &str| Some(place.join(path).canonicalize().ok()? == top.canonicalize().ok()?);
    Some(has_no_hooks(&common)? && is_harmless(&config, is_top))
}

/// The folder that holds the repository whose top is `top`.
fn place_of(top: &Path) -> Option<PathBuf> {
    let git = top.join(".git");
    let place = match fs::metadata(&git) {
        Ok(metadata) if metadata.is_dir() => git,
        Ok(_) => top.join(read(&git)?.strip_prefix("gitdir:")?.trim()),
        Err(_) => top.to_owned(),
    };
    place.canonicalize().ok()
}

/// The folder with the settings that a worktree's folder shares with its repository.
fn common_place(place: &Path) -> Option<PathBuf> {
    let file = place.join("commondir");
    if file.symlink_metadata().is_err() {
        return Some(place.to_owned());
    }
    place.join(read(&file)?.trim()).canonicalize().ok()
}

fn read(file: &Path) -> Option<String> {
    let mut text = String::new();
    fs::File::open(file).ok()?.take(MAX_CONFIG_BYTES + 1).read_to_string(&mut text).ok()?;
    (u64::try_from(text.len()).ok()? <= MAX_CONFIG_BYTES).then_some(text)
}

/// Whether a repository has no hooks but the examples that git puts there. `None`: the folder can't be read.
fn has_no_hooks(common: &Path) -> Option<bool> {
    let hooks = common.join("hooks");
    if hooks.symlink_metadata().is_err() {
        return Some(true);
    }
    let is_example = |entry: fs::DirEntry| entry.file_name().to_string_lossy().ends_with(".sample");
    Some(fs::read_dir(hooks).ok()?.flatten().all(is_example))
}

/// Whether every setting is on the list of those that run nothing. `is_top`: whether a path leads to the top of the
/// repository.
fn is_harmless(config: &str, is_top: impl Fn(&str) -> Option<bool> + Copy) -> bool {
    let mut section = String::new();
    config.lines().map(str::trim).all(|line| {
        if line.is_empty() || line.starts_with(['#', ';']) {
            return true;
        }
        if let Some(header) = line.strip_prefix('[') {
            let Some(header) = header.strip_suffix(']') else { return false };
            let name = header.split([' ', '\t', '.']).next().unwrap_or_default();
            section = name.to_ascii_lowercase();
            return true;
        }
        let (key, value) = line.split_once('=').map_or((line, ""), |(key, value)| (key.trim(), value.trim()));
        let name = format!("{section}.{}", key.to_ascii_lowercase());
        let is_plain = !value.contains(['\\', '"']) && !value.contains("::") && !value.starts_with('-');
        is_plain
            && match name.as_str() {
                "core.worktree" => is_top(value).unwrap_or(false),
                name => words::GIT_HARMLESS_SETTINGS.contains(&name),
            }
    })
}

#[cfg(test)]
mod tests {
    use super::is_harmless;

    #[test]
    fn settings_are_harmless_only_if_each_is_on_the_list() {
        let plain = "[core]\n\tbare = false\n[remote \"origin\"]\n\turl = https://h/r.git\n\tfetch = +refs/heads/*:refs/remotes/origin/*\n";
        assert!(is_harmless(plain, |_| None));
        for odd in [
            "[core]\nfsmonitor = touch P",
            "[core] fsmonitor = touch P",
            "[include]\npath = x",
            "[includeIf \"gitdir:.\"]\npath = x",
            "[core]\nsshcommand = x",
            "[remote \"o\"]\nurl = ext::sh -c id",
            "[remote \"o\"]\nuploadpack = x",
            "[core]\nbare = \\\n[core]\nfsmonitor = x",
            "[filter \"x\"]\nclean = y",
            "[alias]\nst = !id",
            "[core]\nworktree = ../..",
        ] {
            assert!(!is_harmless(&format!("{plain}{odd}\n"), |_| None), "{odd}");
        }
    }
}
