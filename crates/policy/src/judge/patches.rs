//! Patches: the files that `patch` writes are named in its input, git's settings perhaps among them.

use std::collections::HashSet;
use std::path::PathBuf;

use shellgate_syntax::{RedirectOperator, RedirectTarget, Word};

use super::files::WRITES_GIT_FOLDER;
use super::links::has_option;
use super::settings_files::is_repository_file;
use super::state::{Directories, is_in_pipeline};
use super::{Basis, Judge};
use crate::calls::{Call, When};
use crate::programs::{EffectKind, Property, has, words};
use crate::redirects::known_path;
use crate::short_file;
use crate::verdict::ReasonCode;

/// Longer patches are not read.
const MAX_PATCH_BYTES: u64 = 1 << 20;

/// The patches of a text with more calls are not read.
const MAX_PATCHING_CALLS: usize = 10;

/// A patch that may name more paths is not followed.
const MAX_NAMED_PATHS: usize = 4000;

/// A longer line of a patch names no file that the system takes.
const MAX_NAMING_LINE_BYTES: usize = 4096;

/// Beginnings of the lines of a patch that name files.
const NAMING_LINES: &[&str] = &["---", "+++", "***", "diff ", "Index:", "rename ", "copy ", "Prereq:"];

impl Judge<'_> {
    /// Whether a call of `patch` may write settings of git, because its input names them or can't be known. `before`: the
    /// calls before it in the text.
    pub(super) fn may_patch_settings(
        &self,
        call: &Call,
        directories: Option<&[PathBuf]>,
        before: &[Call],
    ) -> bool {
        if call.meaning.entry != Some("patch") {
            return false;
        }
        let Some(folders) = self.patched_folders(call, directories) else { return true };
        let changes_files = |call: &Call| !is_plain_git(call) && !is_trial(call) && self.may_write(call);
        let is_certain = call.when == When::Once && !is_in_pipeline(call) && !call.in_wrapper;
        let patches =
            self.patches(call, &folders).filter(|_| is_certain && !before.iter().any(changes_files));
        patches.is_none_or(|patches| patches.iter().any(|patch| self.names_settings(patch, &folders)))
    }

    /// Asks about a patch that writes settings of git, as far as it can be read.
    pub(super) fn judge_patch(&mut self, call: &Call, basis: Basis) {
        if !patches(call) || !self.restricts(basis) {
            return;
        }
        let folders = self.patched_folders(call, self.state.directories.as_deref()).unwrap_or_default();
        let patches = self.patches(call, &folders).unwrap_or_default();
        if folders.iter().any(|folder| self.is_git_folder(folder, "x"))
            || patches.iter().any(|patch| self.names_settings(patch, &folders))
        {
            self.ask(ReasonCode::Write, call.span, WRITES_GIT_FOLDER.to_owned());
        }
        if matches!(basis, Basis::Named(_)) && patches.iter().any(|patch| self.names_outside(patch)) {
            let message = "it applies a patch that names a file outside the root".to_owned();
            self.ask(ReasonCode::Outside, call.span, message);
        }
        if call.meaning.entry == Some("patch") && patches.iter().any(|patch| is_ed_script(patch)) {
            let message = "its input is a script for `ed`, which it starts".to_owned();
            self.ask(ReasonCode::Unknown, call.span, message);
        }
    }

    /// Whether a patch names a file outside the root, through links on the way, too.
    fn names_outside(&self, patch: &str) -> bool {
        let is_outside = |path: &str| path != "/dev/null" && !self.is_inside(path);
        named_paths(patch).is_none_or(|paths| paths.into_iter().any(is_outside))
    }

    /// The files that a call writes by its patches. `None`: they can't be read.
    pub(super) fn patched_names(&self, call: &Call, directories: Option<&[PathBuf]>) -> Option<Vec<String>> {
        let folders = self.patched_folders(call, directories)?;
        let mut names = Vec::new();
        for patch in self.patches(call, &folders)? {
            names.extend(named_paths(&patch)?.into_iter().map(str::to_owned));
        }
        Some(names)
    }

    /// The folders that the paths of a patch and its own path may start from.
    fn patched_folders(&self, call: &Call, directories: Option<&[PathBuf]>) -> Directories {
        let mut folders = directories?.to_vec();
        folders.extend(self.git_directories(call, Some(folders.clone()))?);
        folders.dedup();
        Some(folders)
    }

    /// The texts that a call takes for patches. `None`: there is none, or one can't be read.
    fn patches(&self, call: &Call, folders: &[PathBuf]) -> Option<Vec<String>> {
        if self.states.patching_calls > MAX_PATCHING_CALLS {
            return None;
        }
        let mut patches = Vec::new();
        for effect in &call.meaning.effects {
            if let EffectKind::Reads(word) = &effect.kind {
                patches.extend(self.read_patch(word, folders)?);
            }
        }
        for redirect in &call.redirects {
            match (&redirect.target, redirect.operator) {
                (RedirectTarget::Word(word), RedirectOperator::Read) => {
                    patches.extend(self.read_patch(word, folders)?);
                }
                (RedirectTarget::Body(word), _)
                | (RedirectTarget::Word(word), RedirectOperator::HereString) => {
                    patches.push(word.value.known()?.to_owned());
                }
                _ => {}
            }
        }
        (!patches.is_empty()).then_some(patches)
    }

    /// The files that a word may name. `None`: one can't be read, or there is none.
    fn read_patch(&self, word: &Word, folders: &[PathBuf]) -> Option<Vec<String>> {
        let path = known_path(&word.value, self.machine)?;
        let files =
            folders.iter().map(|from| from.join(&path)).filter(|file| file.symlink_metadata().is_ok());
        let read = |file: PathBuf| {
            let bytes = short_file::read(&file, MAX_PATCH_BYTES)?;
            Some(String::from_utf8_lossy(&bytes).into_owned())
        };
        let patches = files.map(read).collect::<Option<Vec<_>>>()?;
        (!patches.is_empty()).then_some(patches)
    }

    /// Whether a patch names a file that git may take for settings or hooks.
    fn names_settings(&self, patch: &str, folders: &[PathBuf]) -> bool {
        let is_settings = |path: &str| {
            is_repository_file(path) || folders.iter().any(|folder| self.is_git_folder(folder, path))
        };
        named_paths(patch).is_none_or(|paths| paths.into_iter().any(is_settings))
    }
}

/// Whether a call applies patches.
pub(super) fn patches(call: &Call) -> bool {
    match call.meaning.entry {
        Some("patch") => true,
        Some("git") => call.meaning.subcommands.first().is_some_and(|name| ["am", "apply"].contains(name)),
        _ => false,
    }
}

/// Whether a call is one of git that makes no files but its own.
fn is_plain_git(call: &Call) -> bool {
    let name = call
        .meaning
        .subcommands
        .first()
        .filter(|_| call.meaning.entry.is_some_and(|name| has(name, Property::RunsGit)));
    name.is_some_and(|name| !words::GIT_TREE_SUBCOMMANDS.contains(name))
}

/// Whether a call of `patch` only shows what it would do.
fn is_trial(call: &Call) -> bool {
    call.meaning.entry == Some("patch") && has_option(call, &["--dry-run"])
}

/// Whether a patch has a line that only a script of `ed` has: `3,5d`. In a diff, numbers follow the letter.
fn is_ed_script(patch: &str) -> bool {
    patch.split(['\n', '\r']).any(|line| {
        let numbers = line.strip_suffix(['a', 'c', 'd']).unwrap_or_default();
        !numbers.is_empty() && numbers.chars().all(|c| c.is_ascii_digit() || c == ',')
    })
}

/// What may be paths of files in a patch, whole and without their beginnings. `None`: they can't be told, or are too many.
fn named_paths(patch: &str) -> Option<HashSet<&str>> {
    // A patch may be indented.
    let lines = patch.split(['\n', '\r']).map(|line| line.trim_start_matches([' ', '\t', 'X']));
    let mut paths = HashSet::new();
    for line in lines.filter(|line| NAMING_LINES.iter().any(|begin| line.starts_with(begin))) {
        let is_escaped = line.contains('\\') && line.contains('"');
        if is_escaped || line.len() > MAX_NAMING_LINE_BYTES || paths.len() > MAX_NAMED_PATHS {
            return None;
        }
        // A name may hold blanks; a time may follow it behind a tab.
        let rest = line.split_once([' ', ':']).map_or(line, |(_, rest)| rest);
        let whole = rest.split('\t').next().unwrap_or(rest).trim();
        for path in rest.split([' ', '\t', '"']).chain([whole]).filter(|path| !path.is_empty()) {
            paths.insert(path);
            paths.extend(path.match_indices('/').filter_map(|(at, _)| path.get(at + 1..)));
        }
    }
    Some(paths)
}

#[cfg(test)]
mod tests {
    use super::{HashSet, named_paths};

    #[test]
    fn names_are_found_in_each_form_of_a_patch() {
        for (patch, name) in [
            ("--- /dev/null\n+++ .git/config\n", ".git/config"),
            ("--- /dev/null\n+++ b/x y\t2020-01-01 00:00\n", "b/x y"),
            ("+++ \"b/x\"\n", "b/x"),
            ("Index: .git/config\n", ".git/config"),
            ("*** x/config\t2020\n", "x/config"),
            ("  --- x\n  +++ v/HEAD\n", "v/HEAD"),
            ("diff --git a/x b/y\nrename from x\nrename to y\n", "b/y"),
            ("--- x\r+++ .git/config\r", ".git/config"),
        ] {
            assert!(named_paths(patch).is_some_and(|names| names.contains(name)), "{patch}");
        }
        assert_eq!(named_paths("+++ \"b/\\056git/config\"\n"), None);
        assert_eq!(named_paths("@@ -1 +1 @@\n-see .git/config\n+x\n"), Some(HashSet::new()));
    }
}
