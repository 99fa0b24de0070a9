//! Patches: the files that `patch` writes are named in its input, git's settings perhaps among them.

use std::fs;
use std::io::Read as _;
use std::path::{Path, PathBuf};

use shellgate_syntax::{RedirectOperator, RedirectTarget, Word};

use super::Judge;
use super::links::has_option;
use super::state::is_in_pipeline;
use crate::calls::{Call, When};
use crate::programs::{EffectKind, Property, base_name, has, words};
use crate::redirects::known_path;

/// Longer patches are not read.
const MAX_PATCH_BYTES: u64 = 1 << 20;

/// Beginnings of the lines of a patch that name files.
const NAMING_LINES: &[&str] = &["---", "+++", "***", "diff ", "Index:", "rename ", "copy ", "Prereq:"];

impl Judge<'_> {
    /// Whether a call patches files whose names it doesn't show, and git's settings may be among them. `before`: the calls
    /// before it in the text.
    pub(super) fn may_patch_settings(
        &self,
        call: &Call,
        directories: Option<&[PathBuf]>,
        before: &[Call],
    ) -> bool {
        if call.meaning.entry != Some("patch") {
            return false;
        }
        let inside = self.git_directories(call, directories.map(<[PathBuf]>::to_vec));
        let (Some(outside), Some(inside)) = (directories, inside) else { return true };
        let changes_files = |call: &Call| !is_plain_git(call) && !is_trial(call) && self.may_write(call);
        call.when != When::Once
            || is_in_pipeline(call)
            || call.in_wrapper
            || before.iter().any(changes_files)
            || inside.iter().any(|folder| self.is_git_folder(folder, "x"))
            || !self.is_harmless_patch(call, &[outside, &inside].concat())
    }

    /// Whether the input of a call of `patch` is a file that can be read, and names no settings of git.
    fn is_harmless_patch(&self, call: &Call, folders: &[PathBuf]) -> bool {
        let by_words = call.meaning.effects.iter().filter_map(|effect| match &effect.kind {
            EffectKind::Reads(word) => Some(word),
            _ => None,
        });
        let by_redirects =
            call.redirects.iter().filter(|redirect| redirect.operator == RedirectOperator::Read);
        let by_redirects = by_redirects.filter_map(|redirect| match &redirect.target {
            RedirectTarget::Word(word) => Some(word),
            RedirectTarget::Body(_) => None,
        });
        let is_harmless = |word: &Word| {
            let path = known_path(&word.value, self.machine);
            let files = path.map(|path| folders.iter().map(|from| from.join(&path)).collect::<Vec<_>>());
            let mut files =
                files.unwrap_or_default().into_iter().filter(|file| file.symlink_metadata().is_ok());
            // Some of the folders may be wrong guesses.
            files.next().is_some_and(|first| {
                std::iter::once(first)
                    .chain(files)
                    .all(|file| read(&file).is_some_and(|text| is_harmless(&text)))
            })
        };
        let mut inputs = by_words.chain(by_redirects);
        inputs.next().is_some_and(|first| std::iter::once(first).chain(inputs).all(is_harmless))
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

fn read(file: &Path) -> Option<Vec<u8>> {
    let mut text = Vec::new();
    let file = fs::File::open(file).ok()?;
    let is_short = file.metadata().is_ok_and(|data| data.is_file() && data.len() <= MAX_PATCH_BYTES);
    if !is_short {
        return None;
    }
    file.take(MAX_PATCH_BYTES).read_to_end(&mut text).ok()?;
    Some(text)
}

/// Whether the lines of a patch that name files name none that git may take for settings.
fn is_harmless(patch: &[u8]) -> bool {
    String::from_utf8_lossy(patch).split(['\n', '\r']).all(|line| {
        // A patch may be indented.
        let line = line.trim_start_matches([' ', '\t', 'X']);
        let names = !NAMING_LINES.iter().any(|begin| line.starts_with(begin));
        names || !line.contains('\\') && !line.split(['/', ' ', '\t', '"']).any(is_settings_name)
    })
}

/// Whether a file or folder of this name may hold settings or hooks of git.
fn is_settings_name(name: &str) -> bool {
    let names = [".git", "hooks", "config", "config.worktree"];
    let lists = words::GIT_LAYOUT_FILES.iter().chain(words::GIT_SETTINGS_FILES);
    names.iter().chain(lists).any(|other| base_name(other).eq_ignore_ascii_case(name))
}

#[cfg(test)]
mod tests {
    use super::is_harmless;

    #[test]
    fn a_patch_is_harmless_unless_it_names_settings_of_git() {
        for plain in [
            "--- a/src/x.rs\n+++ b/src/x.rs\n@@ -1 +1 @@\n-see .git/config\n+see \\056git\n",
            "diff --git a/.gitignore b/.gitignore\n--- a/.gitignore\n+++ b/.gitignore\n",
            "From https://h/x.git\n--- a/.github/x.yml\n+++ b/.github/x.yml\n",
        ] {
            assert!(is_harmless(plain.as_bytes()), "{plain}");
        }
        for odd in [
            "--- /dev/null\n+++ .git/config\n",
            "--- /dev/null\n+++ b/.git/hooks/pre-commit\t2020\n",
            "--- /dev/null\n+++ \"b/\\056git/config\"\n",
            "Index: .git/config\n",
            "*** .GIT/config\n",
            "  --- x\n  +++ v/HEAD\n",
            "diff --git a/x b/.git/config\nrename from x\nrename to .git/config\n",
            "--- x\r+++ .git/config\r",
        ] {
            assert!(!is_harmless(odd.as_bytes()), "{odd}");
        }
    }
}
