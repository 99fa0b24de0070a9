//! Whether there is anything to lose where a call works: it is looked up, and nothing is run.

use std::path::{Path, PathBuf};

use shellgate_syntax::{Value, Why, Word};

use super::super::Judge;
use super::targets::Target;
use crate::calls::Call;
use crate::programs::{Condition, EffectKind};

impl Judge<'_> {
    /// Whether what a row names may be there, so that the call loses it.
    pub(super) fn may_lose(&self, condition: Condition, call: &Call, target: Option<&Target>) -> bool {
        if condition == Condition::Always {
            return true;
        }
        // Settings and folders of git that aren't followed.
        let Some(folders) = self.folders_of(call) else { return true };
        let repositories = self.machine.repositories();
        let below = |folder: &Path| match target.and_then(|target| target.text.as_deref()) {
            Some(path) if !path.starts_with(':') && !path.contains(['*', '?', '[']) => {
                self.machine.cached_destination(folder, path)
            }
            _ => repositories.top_of(folder).unwrap_or(folder).to_owned(),
        };
        // A path that leads up is looked up from the top of the repository.
        let leads_up = |word: &Word| {
            let text = word.value.lead();
            text.starts_with(":/") || text.starts_with(":(top") || text.split('/').any(|part| part == "..")
        };
        let from_top = call.words.iter().skip(1).any(leads_up);
        let around = |folder: &Path| match repositories.top_of(folder) {
            Some(top) if from_top => top.to_owned(),
            _ => folder.to_owned(),
        };
        folders.iter().any(|folder| match condition {
            Condition::Always => true,
            Condition::Uncommitted => {
                repositories.may_have_changes(&below(folder)) || repositories.may_have_staged(folder)
            }
            Condition::Changed => repositories.may_have_changes(&below(folder)),
            Condition::Untracked => repositories.may_have_untracked(&around(folder), false),
            Condition::Ignored => repositories.may_have_untracked(&around(folder), true),
            Condition::Stash => {
                let has_work =
                    || repositories.may_have_changes(&below(folder)) || repositories.may_have_staged(folder);
                repositories.has_stash(folder) || self.states.facts.stashes && has_work()
            }
            Condition::OnlyCopy => {
                let branch = target.and_then(|target| target.text.as_deref());
                branch.is_none_or(|branch| repositories.may_be_only_copy(folder, branch))
            }
        })
    }

    /// The folders that a call works in. `None`: they aren't known.
    pub(in crate::judge) fn folders_of(&self, call: &Call) -> Option<Vec<PathBuf>> {
        let mut folders = self.state.directories.clone();
        for effect in &call.meaning.effects {
            if let EffectKind::Directory(folder) = &effect.kind {
                folders = self.moved(folders.as_deref(), folder.as_ref());
            }
        }
        folders
    }

    /// Whether a word names files to git: `.`, `:/`, `src/`, `'*.rs'`, `README.md`.
    pub(super) fn names_work(&self, call: &Call, word: &Word) -> bool {
        match &word.value {
            Value::Known(text) if text.starts_with(':') || text.contains(['*', '?', '[']) => true,
            // A name that is no file is a branch or a commit.
            Value::Known(text) => {
                let folders = self.folders_of(call).unwrap_or_default();
                folders.iter().any(|folder| folder.join(text).symlink_metadata().is_ok())
            }
            Value::Unknown(unknown) => unknown.why == Why::Glob,
        }
    }
}
