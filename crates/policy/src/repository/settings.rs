//! The settings of a repository: whether they can name programs, and which files and addresses they name.

use std::path::{Path, PathBuf};

use super::{common_place, place_of, plain};
use crate::git_settings::{Setting, Settings, files_of_user};
use crate::programs::words;

/// If settings have more words that may be paths, the rest isn't known.
const MAX_WORDS: usize = 1000;

/// The files with the settings of the repository in `place`, which may share the folder `common` with others.
pub(super) fn files(place: &Path, common: &Path) -> Vec<PathBuf> {
    let names = [(common, "config"), (common, "config.worktree"), (place, "config.worktree")];
    names.map(|(folder, name)| folder.join(name)).to_vec()
}

/// The settings that git finds in a repository.
#[derive(Debug)]
pub(super) struct Found {
    own: Settings,
    of_user: Settings,
    /// The top of the repository, and its folder: what paths are relative to.
    bases: [PathBuf; 2],
    /// What may be paths, as it is written.
    words: Vec<String>,
    /// Whether all could be read with certainty.
    pub(super) are_certain: bool,
}

impl Found {
    /// Those of the repository at `top`. `None`: it can't be read.
    pub(super) fn of(top: &Path, home: Option<&Path>) -> Option<Self> {
        let place = place_of(top)?;
        let common = common_place(&place)?;
        let own = Settings::of(files(&place, &common), home);
        let of_user = Settings::of(files_of_user(home, None), home);
        let mut words: Vec<String> = own.all.iter().flat_map(named_paths).collect();
        let are_certain = own.is_certain && of_user.is_certain && words.len() <= MAX_WORDS;
        words.truncate(MAX_WORDS);
        Some(Self { own, of_user, bases: [top.to_owned(), common], words, are_certain })
    }

    /// The files and folders that they name: programs, hooks, other settings.
    pub(super) fn named(&self, home: Option<&Path>) -> Vec<PathBuf> {
        let included = self.own.included.iter().chain(&self.of_user.included).cloned();
        // What else the user's own settings name, aliases and editors, is rarely in a project.
        let hooks = self.own.named("core", "hookspath").chain(self.of_user.named("core", "hookspath"));
        let hooks = hooks.flat_map(|setting| self.bases.iter().filter_map(|base| setting.path(base, home)));
        let words = self.words.iter().flat_map(|path| self.bases.iter().map(move |base| base.join(path)));
        let mut paths: Vec<PathBuf> = included.chain(hooks).chain(words).map(|path| plain(&path)).collect();
        paths.retain(|path| !self.bases.contains(path));
        paths.sort();
        paths.dedup();
        paths
    }
}

/// Whether every setting is on the list of those that run nothing. `is_top`: whether a path leads to the top of the
/// repository.
pub(super) fn are_harmless(config: &str, is_top: impl Fn(&str) -> Option<bool> + Copy) -> bool {
    let mut section = String::new();
    config.lines().map(trimmed).all(|line| {
        if line.is_empty() || line.starts_with(['#', ';']) {
            return true;
        }
        if line.starts_with('[') {
            let name = section_of(line);
            section = name.unwrap_or_default().to_ascii_lowercase();
            return name.is_some();
        }
        let (key, value) =
            line.split_once('=').map_or((line, ""), |(key, value)| (trimmed(key), trimmed(value)));
        let name = format!("{section}.{}", key.to_ascii_lowercase());
        let is_plain = !value.contains(['\\', '"']) && !value.contains("::") && !value.starts_with('-');
        is_plain
            && match name.as_str() {
                "core.worktree" => is_top(value).unwrap_or(false),
                name => words::GIT_HARMLESS_SETTINGS.contains(&name),
            }
    })
}

/// A line without the blanks that git ignores.
fn trimmed(line: &str) -> &str {
    line.trim_matches([' ', '\t', '\r'])
}

/// The section that a line begins: `[name]`, `[name "part"]`. `None`: it holds more than that.
fn section_of(line: &str) -> Option<&str> {
    let header = line.strip_prefix('[')?.strip_suffix(']')?;
    let end = header.find([' ', '\t']).unwrap_or(header.len());
    let (name, part) = header.split_at(end);
    let is_name = !name.is_empty() && name.chars().all(|c| c.is_ascii_alphanumeric() || ".-".contains(c));
    let part = trimmed(part);
    let quoted = part.strip_prefix('"').and_then(|part| part.strip_suffix('"'));
    let is_part = part.is_empty() || quoted.is_some_and(|part| !part.contains(['"', '\\']));
    (is_name && is_part).then(|| name.split('.').next().unwrap_or(name))
}

/// What may be paths in the value of a setting that can name programs: the whole, and its words.
fn named_paths(setting: &Setting) -> Vec<String> {
    if words::GIT_HARMLESS_SETTINGS.contains(&setting.name().as_str()) {
        return Vec::new();
    }
    let value = setting.text();
    let parts =
        value.split(|c: char| c.is_whitespace() || "\"'`!;|&<>()=,\\".contains(c)).chain([value.as_str()]);
    let parts = parts.filter(|part| !part.is_empty() && !part.starts_with(['-', '~', '$', '#']));
    let mut paths: Vec<String> = parts.map(|part| part.trim_end_matches('/').to_owned()).collect();
    paths.retain(|part| !part.is_empty());
    paths.dedup();
    paths
}

/// What may be addresses in settings: the values, and the parts of sections.
pub(super) fn addresses(settings: &Settings) -> impl Iterator<Item = String> {
    let parts = settings.all.iter().filter_map(|setting| setting.part.clone());
    settings.all.iter().map(Setting::text).chain(parts).filter(|address| !address.is_empty())
}

/// The addresses that others are rewritten to: `[url "ADDRESS"]`.
pub(super) fn rewrites(settings: &Settings) -> impl Iterator<Item = &str> {
    let rewrites = settings.all.iter().filter(|setting| setting.section == "url");
    rewrites.filter_map(|setting| setting.part.as_deref())
}

#[cfg(test)]
mod tests {
    use super::{Settings, addresses, are_harmless, named_paths, rewrites};

    #[test]
    fn settings_are_harmless_only_if_each_is_on_the_list() {
        let plain = "[core]\n\tbare = false\n[remote \"origin\"]\n\turl = https://h/r.git\n\tfetch = +refs/heads/*:refs/remotes/origin/*\n";
        assert!(are_harmless(plain, |_| None));
        for odd in [
            "[core]\nfsmonitor = touch P",
            "[core] fsmonitor = touch P",
            "[core] fsmonitor = touch P #]",
            "[core]fsmonitor=touch;]",
            "[include]\npath = x",
            "[includeIf \"gitdir:.\"]\npath = x",
            "[core]\nsshcommand = x",
            "[remote \"o\"]\nurl = ext::sh -c id",
            "[remote \"o\"]\nuploadpack = x",
            "[core]\nbare = \\\n[core]\nfsmonitor = x",
            "[filter \"x\"]\nclean = y",
            "[alias]\nst = !id",
            "[core]\nworktree = ../..",
            "[core] fsmonitor = touch P #]",
            "[core] fsmonitor = \"touch P; false\" ;]",
            "[core \"]\"] fsmonitor = touch P #\"]",
            "[core\u{a0}] fsmonitor = touch P #]",
        ] {
            assert!(!are_harmless(&format!("{plain}{odd}\n"), |_| None), "{odd}");
        }
    }

    fn settings(text: &str) -> Settings {
        let folder = tempfile::tempdir().unwrap();
        std::fs::write(folder.path().join("config"), text).unwrap();
        Settings::of([folder.path().join("config")], None)
    }

    #[test]
    fn programs_and_folders_are_found_in_settings() {
        let config = "[core]\n\tbare = false\n\thooksPath = .hu\"sky\"/ # ours\n[alias] x = \"!./a b\"\n[include]\npath=..\\\n/c\n";
        let found: Vec<String> = settings(config).all.iter().flat_map(named_paths).collect();
        assert_eq!(found, [".husky", "./a", "b", "!./a b", "../c"]);
    }

    #[test]
    fn addresses_are_the_values_of_settings() {
        let config = "[remote \"o\"]\n\turl = ./a # mine\n\tpushurl=\"../b c\"\n[branch \"main\"]\nremote = x\n[remote \"p\"] url=./\\\nd\n";
        let found: Vec<String> = addresses(&settings(config)).collect();
        for one in ["o", "./a", "../b c", "main", "x", "./d"] {
            assert!(found.iter().any(|found| found == one), "{one}");
        }
    }

    #[test]
    fn addresses_that_others_are_rewritten_to_are_names_of_sections() {
        let config = "[URL \"./a/\"]\ninsteadOf = x\n[remote \"o\"]\nurl = x/y\n[url \"b\"] insteadOf = z\n";
        assert_eq!(rewrites(&settings(config)).collect::<Vec<_>>(), ["./a/", "b"]);
    }
}
