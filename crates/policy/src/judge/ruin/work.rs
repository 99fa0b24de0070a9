//! Whether there is anything to lose where a call works: it is looked up, and nothing is run.

use std::path::{Path, PathBuf};

use shellgate_syntax::{Value, Why, Word};

use super::super::Judge;
use super::targets::Target;
use crate::calls::Call;
use crate::programs::words::RUIN_EVERYTHING;
use crate::programs::{Condition, EffectKind};

/// How git spells the top of a repository, and the folder that it works in.
const WHOLE: [&str; 6] = [".", "./", ":/", ":", "*", ":(top)"];

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
            Some(path) if !path.starts_with(':') && path != "*" => {
                self.machine.cached_destination(folder, path)
            }
            _ => repositories.top_of(folder).unwrap_or(folder).to_owned(),
        };
        folders.iter().any(|folder| match condition {
            Condition::Always => true,
            Condition::Uncommitted => {
                repositories.may_have_changes(&below(folder)) || repositories.may_have_staged(folder)
            }
            Condition::Changed => repositories.may_have_changes(&below(folder)),
            Condition::Untracked => repositories.may_have_untracked(folder, false),
            Condition::Ignored => repositories.may_have_untracked(folder, true),
            Condition::Stash => repositories.has_stash(folder),
            Condition::OnlyCopy => {
                let branch = target.and_then(|target| target.text.as_deref());
                branch.is_none_or(|branch| repositories.may_be_only_copy(folder, branch))
            }
        })
    }

    /// The folders that a call works in. `None`: they aren't known.
    pub(super) fn folders_of(&self, call: &Call) -> Option<Vec<PathBuf>> {
        let mut folders = self.state.directories.clone();
        for effect in &call.meaning.effects {
            if let EffectKind::Directory(folder) = &effect.kind {
                folders = self.moved(folders.as_deref(), folder.as_ref());
            }
        }
        folders
    }

    /// Whether a word is all of a folder to git: `.`, `:/`, `src/`.
    pub(super) fn is_all_work(&self, call: &Call, word: &Word) -> bool {
        match &word.value {
            Value::Known(text) if WHOLE.contains(&text.as_str()) => true,
            Value::Known(text) => {
                // Without `--`, a name may be a branch.
                let is_path = text.ends_with('/')
                    || call.words.iter().any(|word| word.value.known() == Some("--"))
                    || call.meaning.subcommands.contains(&"restore");
                let folders = self.folders_of(call).unwrap_or_default();
                is_path && folders.iter().any(|folder| folder.join(text).is_dir())
            }
            Value::Unknown(unknown) => {
                let written = self.written(call, word).unwrap_or_default();
                unknown.why == Why::Glob && RUIN_EVERYTHING.contains(&written.trim_start_matches("./"))
            }
        }
    }
}
