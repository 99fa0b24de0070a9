//! Files by which git finds programs to run: the layout of a repository, hooks, and what the settings of the root's own
//! repository name. A text may make them under names that its words don't show: by unpacking, by a patch, by a pattern, by
//! the ending of a backup.

use std::collections::BTreeSet;
use std::path::{Path, PathBuf};

use shellgate_syntax::{Value, Why, Word};

use super::Judge;
use super::links::has_option;
use super::patches::patches;
use super::planted::Planted;
use super::writers::{
    backup_suffixes, copies_files, may_unpack, sources, unpacks_text, writes_content, written,
};
use crate::calls::Call;
use crate::programs::{base_name, words};
use crate::redirects::known_path;

/// If a text copies by more patterns than this, they may match anything.
const MAX_LOOKUPS: usize = 100;

/// What a text may write of repositories, besides the files that its words name.
#[derive(Debug, Default)]
pub(super) struct RepositoryFiles {
    /// Whether it may make a folder that git takes for a repository.
    pub(super) has_layout: bool,
    /// Whether it may write a file that the settings of the root's own repository name.
    pub(super) are_named_by_settings: bool,
    /// How many patterns were looked up on the disk.
    lookups: usize,
}

impl Judge<'_> {
    /// Collects what a call may write of a repository, besides the files that its words name.
    pub(super) fn note_repository_files(
        &self,
        call: &Call,
        directories: Option<&[PathBuf]>,
        planted: &mut Planted,
    ) {
        let name = call.name().unwrap_or_default();
        let subcommand =
            call.meaning.subcommands.first().copied().filter(|_| call.meaning.entry == Some("git"));
        let patch_names =
            if patches(call) { self.patched_names(call, directories) } else { Some(Vec::new()) };
        let makes_objects = subcommand.is_some_and(|name| {
            words::GIT_TEXT_SUBCOMMANDS.contains(&name) && !["am", "apply"].contains(&name)
        });
        let is_unnamed = patch_names.is_none() || makes_objects || unpacks_text(call) || may_unpack(call);
        planted.repository_files.has_layout |= is_unnamed;
        planted.writes_files |= is_unnamed;
        planted.writes_git_settings |= unpacks_text(call) || name == "csplit" && has_option(call, &["-b"]);
        // Each once: a call may have thousands of them, and of files.
        let suffixes: BTreeSet<Option<&str>> = backup_suffixes(call).collect();
        for word in written(call) {
            planted.writes_git_settings |= self.may_become_settings((call, word), &suffixes, directories);
        }
        if copies_files(call) {
            for word in sources(call) {
                let is_unknown = word.value.known().is_none();
                planted.repository_files.lookups += usize::from(is_unknown);
                if is_unknown && planted.repository_files.lookups > MAX_LOOKUPS {
                    planted.repository_files.has_layout = true;
                    continue;
                }
                match self.copied_repository_file(word, directories).filter(|_| !call.in_wrapper) {
                    Some(is_one) => planted.writes_git_settings |= is_one,
                    None => planted.repository_files.has_layout = true,
                }
            }
        }
        let has_patch = || patch_names.as_ref().is_some_and(|names| !names.is_empty());
        let is_lost = directories.is_none() && writes_files(call);
        let writes_file = || written(call).next().is_some() || has_patch() || is_lost;
        if planted.repository_files.are_named_by_settings
            || !(is_unnamed || writes_content(call) && writes_file())
        {
            return;
        }
        // Reads the repository's settings, so it comes last.
        let named = self.machine.repositories().named_by_settings();
        if !named.is_empty() {
            let is_named = |path: &str| {
                let folders = directories.unwrap_or_default().iter();
                let mut places = folders.map(|from| self.machine.cached_destination(from, path));
                places
                    .any(|place| named.iter().any(|file| place.starts_with(file) || file.starts_with(&place)))
            };
            let paths = written(call).map(|word| known_path(&word.value, self.machine));
            let by_words = paths.into_iter().any(|path| path.is_none_or(|path| is_named(&path)));
            let by_patch = patch_names.iter().flatten().any(|path| is_named(path));
            planted.repository_files.are_named_by_settings |= is_unnamed || by_words || by_patch || is_lost;
        }
    }

    /// Whether a file that a call replaces by another one gives that a name of git's: `gunzip n/HEAD.gz`, `sed -iAD … n/HE`.
    fn may_become_settings(
        &self,
        (call, word): (&Call, &Word),
        suffixes: &BTreeSet<Option<&str>>,
        directories: Option<&[PathBuf]>,
    ) -> bool {
        let Some(path) = known_path(&word.value, self.machine) else { return false };
        let may_be = |path: String| {
            let word = Word { span: word.span, value: Value::Known(path) };
            self.may_be_settings(&word, directories)
        };
        let is_compressor = call.name().is_some_and(|name| words::COMPRESSORS.contains(&name));
        let by_ending =
            is_compressor && path.rsplit_once('.').is_some_and(|(stem, _)| may_be(stem.to_owned()));
        by_ending
            || suffixes.iter().any(|suffix| match suffix {
                None => true,
                Some(end) if is_compressor => {
                    path.strip_suffix(end).is_some_and(|stem| may_be(stem.to_owned()))
                }
                // `sed -i` puts the name into a suffix with `*`.
                Some(end) if end.contains(['*', '/']) => true,
                Some(end) => may_be(format!("{path}{end}")),
            })
    }

    /// Whether what a word names may have the name of a file of a repository. `None`: that can't be known.
    fn copied_repository_file(&self, word: &Word, directories: Option<&[PathBuf]>) -> Option<bool> {
        if let Some(path) = known_path(&word.value, self.machine) {
            return Some(is_repository_file(&path));
        }
        let Value::Unknown(unknown) = &word.value else { return None };
        let tail = unknown.tail.as_deref().filter(|_| unknown.why == Why::Glob);
        if let Some((_, name)) = tail.and_then(|tail| tail.rsplit_once('/')) {
            return Some(is_repository_file(name));
        }
        let (folder, lead) = unknown.lead.rsplit_once('/').unwrap_or((".", &unknown.lead));
        let ends = |name: &str| tail.is_none_or(|tail| name.ends_with(tail));
        let names = words::GIT_LAYOUT_FILES.iter().chain(words::GIT_HOOK_NAMES).chain(&[".git"]);
        let mut names = names.filter(|name| name.starts_with(lead) && ends(name)).peekable();
        if unknown.why != Why::Glob {
            return None;
        }
        names.peek()?;
        let folders = directories?;
        Some(
            names.any(|name| {
                folders.iter().any(|from| from.join(folder).join(name).symlink_metadata().is_ok())
            }),
        )
    }
}

/// Whether a file of this name belongs to the layout of a repository, or is a hook.
pub(super) fn is_repository_file(path: &str) -> bool {
    let name = base_name(path);
    let in_hooks = || Path::new(path).parent().is_some_and(|folder| folder.ends_with("hooks"));
    words::GIT_LAYOUT_FILES.iter().any(|file| name.eq_ignore_ascii_case(file))
        || words::GIT_HOOK_NAMES.contains(&name) && (name != "update" || in_hooks())
}

fn writes_files(call: &Call) -> bool {
    written(call).next().is_some()
}
