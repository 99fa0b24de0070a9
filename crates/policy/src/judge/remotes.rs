//! Repositories on this machine that git pushes to: their hooks and settings can name programs.

use std::path::{Path, PathBuf};

use shellgate_syntax::{Unknown, Value, Why};

use super::Judge;
use super::links::{MadeLinks, has_option};
use crate::calls::Call;
use crate::programs::{Canonical, words};
use crate::redirects::known_path;
use crate::repository;

/// Whether a call makes git push, or has the git of another repository make an archive: both obey settings of that.
pub(super) fn pushes(call: &Call) -> bool {
    match subcommand(call) {
        Some("push") => true,
        Some("archive") => has_option(call, words::GIT_REMOTE_OPTIONS),
        _ => false,
    }
}

fn subcommand(call: &Call) -> Option<&'static str> {
    call.meaning.subcommands.first().copied().filter(|_| call.meaning.entry == Some("git"))
}

/// Whether an address that isn't known may be one on this machine: `file://$x`, `./$x`, `$PWD/x`.
fn may_be_local(value: &Value) -> bool {
    let Value::Unknown(Unknown { lead, why, .. }) = value else { return false };
    let is_file = lead.get(..5).is_some_and(|scheme| scheme.eq_ignore_ascii_case("file:"));
    let is_folder = matches!(why, Why::Parameter(name) if ["PWD", "OLDPWD", "HOME"].contains(&name.as_str()));
    is_file || lead.starts_with(['/', '.', '~']) || lead.is_empty() && is_folder
}

impl Judge<'_> {
    /// Whether git must not push to a repository at a path: the text may put another one there, or only named programs may run
    /// and it is outside the root.
    fn is_forbidden_target(&self, links: &MadeLinks, place: &Path) -> bool {
        let is_outside = || {
            let real = place.canonicalize().unwrap_or_else(|_| place.to_owned());
            !real.starts_with(self.machine.root())
        };
        links.may_hold(place) && !links.is_clone(place)
            || repository::holds_repository(place)
                && (links.anywhere || self.rules.name_programs() && is_outside())
    }

    /// Whether a call of git names a repository on this machine that may run something.
    pub(super) fn names_harmful_remote(&self, call: &Call, directories: Option<&[PathBuf]>) -> bool {
        if !subcommand(call).is_some_and(|name| words::GIT_ADDRESS_SUBCOMMANDS.contains(&name)) {
            return false;
        }
        let folders = self.git_directories(call, directories.map(<[PathBuf]>::to_vec)).unwrap_or_default();
        let links = &self.states.anytime.links;
        let is_harmless = |value: &Value| {
            let Some(address) = known_path(value, self.machine) else {
                return subcommand(call) == Some("clone") || !may_be_local(value);
            };
            let harmless = |from: &PathBuf| {
                let repositories = self.machine.repositories();
                repositories
                    .is_harmless_address(&address, from, &|place| self.is_forbidden_target(links, place))
            };
            folders.iter().all(harmless)
        };
        !call.meaning.canonical.iter().skip(1).all(|one| match one {
            Canonical::Word(value) | Canonical::Option(_, Some(value)) => is_harmless(value),
            Canonical::Option(_, None) => true,
        })
    }

    /// Whether a call doesn't push to a repository on this machine that may run something.
    pub(super) fn has_harmless_remotes(&self, call: &Call, directories: Option<&[PathBuf]>) -> bool {
        if !pushes(call) {
            return true;
        }
        let repositories = self.machine.repositories();
        let links = &self.state.links;
        !self.states.names_harmful_remote
            && !self.may_push_to_unknown_path(call)
            && directories.into_iter().flatten().all(|folder| {
                repositories.has_harmless_remotes(folder, &|place| self.is_forbidden_target(links, place))
            })
    }

    /// Whether the repository to push to is a path that can't be known.
    fn may_push_to_unknown_path(&self, call: &Call) -> bool {
        let operand = call.meaning.canonical.iter().filter_map(|one| match one {
            Canonical::Word(value) => Some(value),
            Canonical::Option(..) => None,
        });
        let operand = operand.skip(2).take(usize::from(subcommand(call) == Some("push")));
        let options = call.meaning.canonical.iter().filter_map(|one| match one {
            Canonical::Option(name, value) if words::GIT_REMOTE_OPTIONS.contains(&name.as_str()) => {
                value.as_ref()
            }
            _ => None,
        });
        operand.chain(options).any(|address| {
            let lead = address.lead();
            let is_remote =
                lead.find(':').is_some_and(|colon| lead.find('/').is_none_or(|slash| colon < slash));
            known_path(address, self.machine).is_none() && (!is_remote || lead.starts_with("file:"))
        })
    }
}
