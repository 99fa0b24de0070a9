//! Where a program works: files that its words don't name are written there.

use std::path::{Path, PathBuf};

use super::links::has_option;
use super::patches::patches;
use super::writers::{is_unpacker, may_unpack, unpacks_text};
use super::{Basis, Judge};
use crate::calls::Call;
use crate::programs::{ProgramKind, Property, has, words};
use crate::verdict::ReasonCode;

/// How many folders are looked through for links, of a call.
const MAX_FOLDERS: usize = 8;

impl Judge<'_> {
    /// Asks if a program that a rule names may write files that its words don't name, and may do that outside the root.
    pub(super) fn judge_place(&mut self, call: &Call, basis: Basis) {
        self.judge_home(call, basis);
        self.judge_outward_links(call, basis);
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
            Basis::Named(_)
                if may_be(&|folder| {
                    !folder.starts_with(root) && !self.is_temporary_place(folder) || links.may_hold(folder)
                }) =>
            {
                "it may write files in the folder that it works in, which is outside the root or unknown"
            }
            Basis::Named(_) if follows_links(call) && self.others_link(call) => {
                "it may write files through links that the command makes"
            }
            Basis::Named(_) if self.states.renames_in_archive && may_unpack(call) => {
                "it may write files outside the root: the command makes an archive with other names"
            }
            _ => return,
        };
        self.ask(ReasonCode::Outside, call.span, message.to_owned());
    }

    /// Asks if a call may fill the home folder with files that its words don't name.
    fn judge_home(&mut self, call: &Call, basis: Basis) {
        if basis != Basis::Everything || !self.rules.restrict_something() || !fills_folder(call) {
            return;
        }
        let Some(home) = self.home() else { return };
        let root = self.machine.root();
        let folders = self.git_directories(call, self.state.directories.clone());
        // A name in a patch or an archive may lead into the home folder from above it.
        let may_hold = |folder: &PathBuf| {
            *folder == home || home.starts_with(folder) && !folder.starts_with(root) && !may_unpack(call)
        };
        if folders.is_none_or(|folders| folders.iter().any(may_hold)) {
            let message =
                "it may write hidden files in the home folder, and programs read those when they start";
            self.ask(ReasonCode::Outside, call.span, message.to_owned());
        }
    }

    /// Asks if a call may write files that its words don't name through a link of the text that leads outside the root.
    fn judge_outward_links(&mut self, call: &Call, basis: Basis) {
        if !self.restricts(basis) {
            return;
        }
        let is_builder = call.meaning.kind == Some(ProgramKind::Builder);
        let may_write = writes_other_names(call);
        // Patches and archives don't follow links that lie there, and a compiler writes what it is told.
        let is_careful =
            may_unpack(call) || patches(call) || call.name() == Some("gcc") && has_option(call, &["-o"]);
        if may_write && !is_builder && !is_careful && self.works_beside_outward_link(call) {
            let message = "it may write files through a link in the folder that leads outside the root";
            self.ask(ReasonCode::Outside, call.span, message.to_owned());
        }
        if self.state.links.leads_outside() && (may_write || is_builder) {
            let message =
                "it may write files through a link that the command makes and that leads outside the root";
            self.ask(ReasonCode::Outside, call.span, message.to_owned());
        }
    }
}

impl Judge<'_> {
    /// Whether a link that leads outside the root is in the folder that a call works in, or in one that its words name.
    fn works_beside_outward_link(&self, call: &Call) -> bool {
        let folders = self.git_directories(call, self.state.directories.clone()).unwrap_or_default();
        let named = call.words.iter().skip(1).filter_map(|word| word.value.known());
        let named: Vec<&Path> = named.filter_map(|path| Path::new(path).parent()).collect();
        folders.iter().take(MAX_FOLDERS).any(|folder| {
            let below = named.iter().take(MAX_FOLDERS).map(|path| folder.join(path));
            let inside = |folder: &PathBuf| folder.starts_with(self.machine.root());
            [folder.clone()]
                .into_iter()
                .chain(below)
                .filter(inside)
                .any(|folder| self.machine.holds_outward_link(&folder))
        })
    }
}

/// Whether a call fills the folder that it works in with files that its words don't name.
fn fills_folder(call: &Call) -> bool {
    let subcommand = call.meaning.subcommands.first().filter(|_| call.meaning.entry == Some("git"));
    may_unpack(call)
        || patches(call)
        || unpacks_text(call)
        || subcommand.is_some_and(|name| words::GIT_TREE_SUBCOMMANDS.contains(name))
}

/// Whether a call may write files with other names than its words have.
fn writes_other_names(call: &Call) -> bool {
    let name = call.name().unwrap_or_default();
    match call.meaning.entry {
        Some("git") => {
            let subcommand = call.meaning.subcommands.first();
            subcommand.is_some_and(|name| words::GIT_NAMING_SUBCOMMANDS.contains(name))
        }
        // It writes the key of a request.
        Some("openssl" | "zip") => true,
        _ if words::COMPRESSORS.contains(&name) => true,
        _ => !call.words.is_empty() && may_write_unnamed(call),
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
