//! What git finds where it is run: settings of another repository, of submodules, and of repositories that it pushes to,
//! which can name programs.

use std::path::PathBuf;

use super::remotes::pushes;
use super::state::Directories;
use super::{Basis, Judge};
use crate::calls::Call;
use crate::programs::{EffectKind, Property, base_name, has};
use crate::verdict::ReasonCode;

impl Judge<'_> {
    /// Judges the settings that git finds where it is run.
    pub(super) fn judge_repository(&mut self, call: &Call, basis: Basis) {
        let name = call.program().map(base_name).unwrap_or_default();
        let runs_git = has(name, Property::RunsGit) || name.starts_with("git-");
        if !runs_git || !self.restricts(basis) {
            return;
        }
        let directories = self.git_directories(call, self.state.directories.clone());
        // In a folder that isn't there git fails. It has read the settings of the folder that it started in at most.
        let is_missing = directories.as_deref().is_some_and(|folders| self.are_missing(call, folders));
        let directories = if is_missing && basis == Basis::Everything {
            self.state.directories.clone()
        } else {
            directories
        };
        // Nothing can be said of a folder that isn't there yet.
        let is_start = |folders: &[PathBuf]| Some(folders) == self.state.directories.as_deref();
        let directories =
            directories.filter(|folders| is_start(folders) || folders.iter().all(|folder| folder.is_dir()));
        let planted = &self.states.planted;
        let start = [self.machine.directory().to_owned()];
        let is_elsewhere = directories.as_deref() != Some(&start) || pushes(call);
        let message = if planted.has_git_settings() || planted.repository_files.has_layout && is_elsewhere {
            "the command may write settings that git finds, and those can name programs"
        } else if planted.repository_files.are_named_by_settings {
            "the command may write a file that the settings of git name, and git may run it"
        } else if !directories.as_deref().is_some_and(|folders| self.has_harmless_repositories(call, folders))
        {
            "git works in a folder whose repository isn't the root's, and its settings can name programs"
        } else if !self.has_harmless_staged(call) {
            "git may find a repository inside this one, whose settings can name programs"
        } else if !self.has_harmless_remotes(call, directories.as_deref()) {
            "git may push to a repository on this machine, whose hooks and settings can name programs"
        } else if !self.machine.repositories().are_settings_certain() {
            "the settings of git can't be read with certainty, and they can name programs"
        } else {
            return;
        };
        self.ask(ReasonCode::Unknown, call.span, message.to_owned());
    }

    /// Whether git finds nothing that runs programs in these folders.
    fn has_harmless_repositories(&self, call: &Call, folders: &[PathBuf]) -> bool {
        let links = &self.state.links;
        let may_be_other = |folder: &PathBuf| {
            folder != self.machine.directory()
                && (links.anywhere || links.may_hold(folder) && !links.is_clone(folder))
        };
        let repositories = self.machine.repositories();
        let may_vanish = self.others_write(call);
        let is_harmless = |folder: &PathBuf| repositories.is_harmless_in(folder, may_vanish);
        folders.iter().all(|folder| !may_be_other(folder) && is_harmless(folder))
    }

    /// The folders that git works in when it is started in these.
    pub(super) fn git_directories(&self, call: &Call, mut directories: Directories) -> Directories {
        for effect in &call.meaning.effects {
            if let EffectKind::Directory(to) = &effect.kind {
                directories = self.moved(directories.as_deref(), to.as_ref());
            }
        }
        directories
    }
}
