//! Where a program works: files that its words don't name are written there.

use std::path::Path;

use super::planted::{is_unpacker, may_unpack};
use super::{Basis, Judge};
use crate::calls::Call;
use crate::programs::{ProgramKind, Property, has};
use crate::verdict::ReasonCode;

impl Judge<'_> {
    /// Asks if a program that a rule names may write files that its words don't name, and may do that outside the root.
    pub(super) fn judge_place(&mut self, call: &Call, basis: Basis) {
        if !may_write_unnamed(call) {
            return;
        }
        // A build tool runs what its project says, in whatever folder the project is.
        let is_builder = call.meaning.kind == Some(ProgramKind::Builder);
        let folders = self.state.directories.as_deref();
        let may_be = |wanted: &dyn Fn(&Path) -> bool| {
            folders.map_or(!is_builder, |folders| folders.iter().any(|folder| wanted(folder)))
        };
        let root = self.machine.root();
        let links = &self.state.links;
        let message = match basis {
            Basis::Named(_) if may_be(&|folder| !folder.starts_with(root) || links.may_hold(folder)) => {
                "it may write files in the folder that it works in, which is outside the root or unknown"
            }
            Basis::Named(_) if follows_links(call) && self.others_link(call) => {
                "it may write files through links that the command makes"
            }
            Basis::Named(_) if self.states.renames_in_archive && may_unpack(call) => {
                "it may write files outside the root: the command makes an archive with other names"
            }
            Basis::Everything
                if self.rules.restrict_something()
                    && may_unpack(call)
                    && may_be(&|folder| self.home().as_deref() == Some(folder)) =>
            {
                "it may write hidden files in the home folder, and programs read those when they start"
            }
            _ => return,
        };
        self.ask(ReasonCode::Outside, call.span, message.to_owned());
    }
}

/// Whether a call may write files that its words don't name.
fn may_write_unnamed(call: &Call) -> bool {
    let name = call.name();
    if is_unpacker(call) {
        return may_unpack(call);
    }
    match call.meaning.kind {
        Some(
            ProgramKind::Reader
            | ProgramKind::Wrapper
            | ProgramKind::Shell
            | ProgramKind::Interpreter
            | ProgramKind::Builtin,
        ) => false,
        Some(ProgramKind::Writer | ProgramKind::Builder | ProgramKind::Network | ProgramKind::Workbench)
        | None => !name.is_some_and(|name| has(name, Property::WritesWhatItNames)),
    }
}

/// Whether a call may write through links that were made before. Git never does, and a build tool runs what its project
/// says anyway.
fn follows_links(call: &Call) -> bool {
    let is_git = call.meaning.entry.is_some_and(|name| has(name, Property::RunsGit));
    call.meaning.kind != Some(ProgramKind::Builder) && !is_git
}
