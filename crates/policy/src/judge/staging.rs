//! Paths that git may take into its index. A repository among them becomes a submodule, and git then works in it by its
//! own settings.

use std::path::PathBuf;

use shellgate_syntax::{Value, Word};

use super::Judge;
use super::links::has_option;
use crate::calls::Call;
use crate::programs::{Canonical, EffectKind, Property, has, words};
use crate::redirects::known_path;
use crate::repository::Repositories;

/// If a text may take more paths into an index than this, all below their repositories count.
const MAX_STAGED_PATHS: usize = 16;

/// Paths that the text may have taken into an index, and folders that it copied or moved.
#[derive(Clone, Debug, Default)]
pub(super) struct Staged {
    paths: Vec<PathBuf>,
    are_too_many: bool,
    /// Whether git was told to take ignored files, too.
    takes_ignored: bool,
}

impl Staged {
    fn add(&mut self, path: PathBuf, repositories: &Repositories) {
        let is_full = self.paths.len() >= MAX_STAGED_PATHS;
        let path = if is_full { repositories.top_of(&path).unwrap_or(&path).to_owned() } else { path };
        if self.paths.contains(&path) {
            return;
        }
        self.are_too_many |= self.paths.len() >= 2 * MAX_STAGED_PATHS;
        if !self.are_too_many {
            self.paths.push(path);
        }
    }
}

impl Judge<'_> {
    /// Adds the paths that a call may take into an index, or move to where git finds them.
    pub(super) fn note_staged(&self, call: &Call, directories: Option<&[PathBuf]>, staged: &mut Staged) {
        let Some(name) = call.meaning.entry else { return };
        if has(name, Property::RunsGit) {
            let operands = match stages(call) {
                Stages::Nothing => return,
                Stages::Operands(operands) => operands,
                Stages::Everything => vec!["."],
            };
            staged.takes_ignored |= has_option(call, words::GIT_ADD_IGNORED_OPTIONS);
            // Git in an unknown folder is never allowed.
            let directories = self.git_directories(call, directories.map(<[PathBuf]>::to_vec));
            let repositories = self.machine.repositories();
            for folder in directories.unwrap_or_default() {
                let top = repositories.top_of(&folder).unwrap_or(&folder);
                for path in operands.iter().map(|operand| folder.join(operand)) {
                    let is_below = !operands.contains(&".") && path.symlink_metadata().is_ok();
                    staged.add(if is_below { path } else { top.to_owned() }, repositories);
                }
            }
        }
        for path in copied(call).filter_map(|word| known_path(&word.value, self.machine)) {
            let places = directories.into_iter().flatten().map(|from| from.join(&path));
            let folders = places.filter(|place| place.is_dir());
            folders.for_each(|place| staged.add(place, self.machine.repositories()));
        }
    }

    /// Whether git, by this call, works in no repository that the text took into an index and that may run something.
    pub(super) fn has_harmless_staged(&self, call: &Call) -> bool {
        let repositories = self.machine.repositories();
        let links = &self.state.links;
        let is_harmless = |path: &PathBuf| {
            let top = links.may_hold(path).then(|| repositories.top_of(path)).flatten();
            let path = top.unwrap_or(path);
            repositories.is_harmless_in(path, false)
                && repositories.is_harmless_below(path, self.state.staged.takes_ignored)
        };
        let staged = &self.state.staged;
        !works_in_submodules(call) || !staged.are_too_many && staged.paths.iter().all(is_harmless)
    }
}

/// The words of a call that name what it copies or moves.
fn copied(call: &Call) -> impl Iterator<Item = &Word> {
    let words = call.meaning.effects.iter().filter_map(|effect| match (&effect.kind, call.meaning.entry) {
        (EffectKind::Reads(word), Some("cp")) | (EffectKind::Writes(word), Some("mv")) => Some(word),
        _ => None,
    });
    // Without `-t`, the last operand of `mv` is where it moves to.
    let is_target = |word: &Word| call.meaning.entry == Some("mv") && call.words.last() == Some(word);
    let names_target = has_option(call, words::MV_TARGET_OPTIONS);
    words.filter(move |word| names_target || !is_target(word))
}

/// What a call of git takes into the index.
enum Stages<'a> {
    Nothing,
    /// Files of the worktree, and what is below them.
    Operands(Vec<&'a str>),
    /// Any file of the worktree, or entries of a commit.
    Everything,
}

fn stages(call: &Call) -> Stages<'_> {
    let Some(subcommand) = call.meaning.subcommands.first().copied() else { return Stages::Nothing };
    let operands = || {
        let operands = call.meaning.canonical.iter().filter_map(|one| match one {
            Canonical::Word(value) => Some(value),
            Canonical::Option(..) => None,
        });
        operands.skip(2).map(plain_path).collect::<Option<Vec<_>>>()
    };
    match subcommand {
        "add" if !has_option(call, words::GIT_ADD_WIDENING_OPTIONS) => match operands() {
            Some(operands) if !operands.is_empty() => Stages::Operands(operands),
            _ => Stages::Everything,
        },
        "commit"
            if !has_option(call, words::GIT_COMMIT_WORKTREE_OPTIONS)
                && operands().is_some_and(|operands| operands.is_empty()) =>
        {
            Stages::Nothing
        }
        "fetch" | "clone" | "init" => Stages::Nothing,
        name if words::GIT_READING_SUBCOMMANDS.contains(&name) => Stages::Nothing,
        name if words::GIT_SUPERPROJECT_SUBCOMMANDS.contains(&name) => Stages::Nothing,
        _ => Stages::Everything,
    }
}

/// An operand of git that is a path, and no pattern.
fn plain_path(value: &Value) -> Option<&str> {
    value.known().filter(|path| !path.starts_with(':') && !path.contains(['*', '?', '[', '\\']))
}

/// Whether git may work in submodules by this call.
fn works_in_submodules(call: &Call) -> bool {
    // Settings before the subcommand may say so.
    let is_plain = |word: &Word| word.value.known().is_some_and(|word| !word.starts_with('-'));
    if call.meaning.entry != Some("git")
        || !call.words.get(1).is_some_and(is_plain)
        || has_option(call, words::GIT_SUBMODULE_OPTIONS)
    {
        return true;
    }
    match call.meaning.subcommands.first().copied() {
        Some("commit") => {
            !has_option(call, words::GIT_COMMIT_MESSAGE_OPTIONS)
                || has_option(call, words::GIT_COMMIT_WORKTREE_OPTIONS)
        }
        Some(name) => !words::GIT_SUPERPROJECT_SUBCOMMANDS.contains(&name),
        None => true,
    }
}
