//! Content that a text itself puts into files. Some programs obey files: build tools, test runners, programs that no table
//! lists. What such a file says isn't judged, so a text that writes one and runs such a program is asked about.
//!
//! A copy of what lies on the disk is no content of the text, and neither is the output of a build tool.

use std::cell::LazyCell;
use std::collections::HashSet;
use std::path::{Path, PathBuf};
use std::rc::Rc;

use shellgate_syntax::{RedirectOperator, RedirectTarget, Value, Why, Word};

use super::links::has_option;
use super::state::is_in_pipeline;
use super::text_facts::TextFacts;
use super::writers::{
    copies_files, edits_plainly, has_backup_suffix, has_hiding_word, is_build_file, is_device,
    is_plain_reader, is_unpacker, last_name, moved_by_git, obeys_files, packs_text, sets_by_words, sources,
    unpacks_text, writes_its_input, written_by_redirects, written_by_words,
};
use super::{Basis, Judge};
use crate::calls::{Call, Stdin};
use crate::programs::{ProgramKind, Property, base_name, has, is_builtin, words};
use crate::redirects::known_path;
use crate::verdict::ReasonCode;

/// If a text writes more names than this, they may be the names of any programs.
const MAX_WRITTEN_NAMES: usize = 400;

/// Longer words are no paths of files that git keeps.
const MAX_GIT_PATH_BYTES: usize = 1024;

/// What a text has written so far.
#[derive(Clone, Debug, Default)]
pub(super) struct OwnContent {
    /// The first file with a content of its own, or the program that writes it.
    file: Option<Rc<str>>,
    /// The names of the files that it wrote, copied or linked.
    names: Rc<HashSet<String>>,
    /// Whether it wrote into a folder of PATH.
    writes_programs: bool,
}

impl OwnContent {
    /// How much the text wrote; it grows.
    pub(super) fn count(&self) -> usize {
        usize::from(self.file.is_some())
    }
}

impl Judge<'_> {
    /// Adds what a call writes.
    pub(super) fn note_content(
        &self,
        call: &Call,
        directories: Option<&[PathBuf]>,
        content: &mut OwnContent,
    ) {
        if content.file.is_none() {
            content.file = self.own_content(call).map(Rc::from);
        }
        if !may_put_programs(call) {
            return;
        }
        let copied = sources(call).filter(|_| copies_files(call)).chain(moved_by_git(call)).map(last_name);
        let targets: Vec<&Word> = written_by_words(call).chain(written_by_redirects(call)).collect();
        let all: Vec<String> = targets.iter().copied().map(last_name).chain(copied).flatten().collect();
        let is_new = all.iter().any(|name| !content.names.contains(name));
        if is_new && content.names.len() < MAX_WRITTEN_NAMES {
            Rc::make_mut(&mut content.names).extend(all);
        }
        content.writes_programs |= targets.iter().any(|word| self.is_in_program_folder(word, directories))
            || is_unpacker(call)
                && directories.is_some_and(|folders| {
                    folders.iter().any(|folder| self.machine.is_program_folder(folder))
                });
    }

    /// The file that a call gives a content of the text's own, or the program that does.
    fn own_content(&self, call: &Call) -> Option<String> {
        let facts = &self.states.facts;
        let name = call.name().unwrap_or_default();
        let is_fed = self.has_text_input(call);
        if self.may_write(call) && call.meaning.kind != Some(ProgramKind::Builder) && has_hiding_word(call) {
            return Some(name.to_owned());
        }
        let packs_messages = call
            .meaning
            .subcommands
            .first()
            .is_some_and(|name| words::GIT_PACKING_SUBCOMMANDS.contains(name));
        let shows_into_file =
            call.meaning.entry == Some("git") && (has_option(call, &["--output"]) || packs_messages);
        if is_fed && writes_its_input(call) || sets_by_words(call) || packs_text(call) || shows_into_file {
            return Some(name.to_owned());
        }
        let is_product = call.meaning.kind == Some(ProgramKind::Builder)
            || !is_fed
                && !self.copies_device(call)
                && (words::COPYING_PROGRAMS.contains(&name)
                    || words::PACKING_PROGRAMS.contains(&name) && !self.packs_named(call, facts));
        let edits_silently = facts.trusts_edits && edits_plainly(call) && !has_backup_suffix(call);
        let is_silent = has(name, Property::WritesNoContent) || edits_silently;
        let by_words = written_by_words(call).filter(|_| !is_product && !is_silent);
        // It looks at all words of the call, which may write thousands of files.
        let is_of_disk = LazyCell::new(|| {
            let is_plain = call.meaning.kind == Some(ProgramKind::Builder) || is_plain_reader(call);
            is_plain && !is_fed && !self.copies_device(call)
        });
        let is_mere_data = |word: &&Word| self.is_mere_data(call, word, || *is_of_disk);
        let mut by_words = by_words.filter(|word| !(name == "tee" && is_mere_data(word)));
        let mut by_redirects = written_by_redirects(call).filter(|word| !is_mere_data(word));
        let word =
            by_words.find(|word| !is_device(word)).or_else(|| by_redirects.find(|word| !is_device(word)))?;
        Some(known_path(&word.value, self.machine).unwrap_or_else(|| word.value.lead().to_owned()))
    }

    /// Whether a file that a call writes certainly is no more than data: the output of a build tool, or a copy of what lies on
    /// the disk with an ordinary name. `is_of_disk`: whether the call shows what lies on the disk.
    fn is_mere_data(&self, call: &Call, word: &Word, is_of_disk: impl Fn() -> bool) -> bool {
        let facts = &self.states.facts;
        let Some(path) = known_path(&word.value, self.machine) else { return false };
        let name = base_name(&path);
        if is_build_file(name) || facts.moves_files || facts.may_name(name) {
            return false;
        }
        let ends = |endings: &[&str]| endings.iter().any(|end| name.ends_with(end) && name.len() > end.len());
        let is_of_tool = call.meaning.kind == Some(ProgramKind::Builder) || is_in_pipeline(call);
        ends(words::LOG_ENDINGS) || (is_of_tool || ends(words::ORDINARY_ENDINGS)) && is_of_disk()
    }

    /// Whether the text itself, or something that can't be known, is what a call reads from its standard input.
    fn has_text_input(&self, call: &Call) -> bool {
        let mut reads_file = false;
        for redirect in &call.redirects {
            match (&redirect.target, redirect.operator) {
                (RedirectTarget::Body(_), _)
                | (_, RedirectOperator::HereString | RedirectOperator::HereDocument) => return true,
                (RedirectTarget::Word(word), RedirectOperator::Read) => {
                    if self.is_device_source(word) {
                        return true;
                    }
                    reads_file = true;
                }
                _ => {}
            }
        }
        match &call.stdin {
            _ if reads_file => false,
            Stdin::Empty => false,
            Stdin::Text(text) => !text.is_empty(),
            Stdin::Unknown | Stdin::Fetched => !is_in_pipeline(call) || self.states.facts.pipes_content,
        }
    }

    /// Whether a file that a call packs or compiles is one that a program which obeys files is told.
    fn packs_named(&self, call: &Call, facts: &TextFacts) -> bool {
        written_by_words(call).any(|word| match known_path(&word.value, self.machine) {
            Some(path) => is_build_file(base_name(&path)) || facts.names(base_name(&path)),
            None => true,
        })
    }

    /// Whether a call reads a device, a descriptor or a process, and not a file.
    fn copies_device(&self, call: &Call) -> bool {
        sources(call).any(|word| self.is_device_source(word))
    }

    fn is_device_source(&self, word: &Word) -> bool {
        let Some(path) = known_path(&word.value, self.machine) else {
            return !matches!(&word.value, Value::Unknown(unknown) if unknown.why == Why::Glob);
        };
        if path == "/dev/null" {
            return false;
        }
        let place = self.machine.cached_destination(self.machine.directory(), &path);
        // Git keeps texts of its words there, too: messages, names, addresses.
        let is_of_git =
            Path::new(&path).components().any(|part| part.as_os_str().eq_ignore_ascii_case(".git"));
        is_of_git
            || self.is_in_repository(self.machine.directory(), &path)
            || ["/dev", "/proc"]
                .iter()
                .any(|folder| place.starts_with(folder) || Path::new(&path).starts_with(folder))
    }

    fn is_in_program_folder(&self, word: &Word, directories: Option<&[PathBuf]>) -> bool {
        let Some(path) = known_path(&word.value, self.machine) else { return false };
        let absolute = [PathBuf::from("/")];
        let from = if path.starts_with('/') { Some(absolute.as_slice()) } else { directories };
        from.is_some_and(|folders| {
            folders.iter().any(|from| {
                let place = self.machine.cached_destination(from, &path);
                self.machine.is_program_folder(&place)
                    || place.parent().is_some_and(|folder| self.machine.is_program_folder(folder))
            })
        })
    }

    /// Asks if a program that obeys files runs behind content that the text writes.
    pub(super) fn judge_content(&mut self, call: &Call, basis: Basis) {
        if !self.restricts(basis) {
            return;
        }
        self.judge_made_program(call);
        if unpacks_text(call) {
            let message = "it writes files whose names are in what it reads".to_owned();
            self.ask(ReasonCode::Write, call.span, message);
        }
        // A rule that names a program which no table lists lets it do what it does.
        let is_named = call.meaning.kind.is_none() && basis != Basis::Everything;
        // Code that the text brings is held as any other.
        if is_named || self.rules.holds_any_code() || !obeys_files(call) {
            return;
        }
        let file = self.state.content.file.clone();
        let is_fed = has(call.name().unwrap_or_default(), Property::ObeysFiles) && self.has_text_input(call);
        let of_git = |word: &Word| word.value.lead().contains(".git/") || self.names_git_file(word);
        let folders = self.git_directories(call, self.state.directories.clone());
        let in_git = match &folders {
            Some(folders) => folders.iter().any(|folder| self.is_git_folder(folder, "x")),
            None => self.states.facts.goes_to_git,
        };
        let message = match file {
            None if in_git || call.words.iter().skip(1).any(of_git) => {
                "it may run what a file of git's own folder says".to_owned()
            }
            Some(file) => format!("it may run what files say, and the command writes `{file}`"),
            None if is_fed => "it may run what its input says".to_owned(),
            None => return,
        };
        self.ask(ReasonCode::Unknown, call.span, message).hint =
            Some("write the file first, and run the program in a command of its own".to_owned());
    }

    /// Whether a word of a program that obeys files names a file that git keeps: `b/logs/refs/x` of a bare repository.
    fn names_git_file(&self, word: &Word) -> bool {
        let path = word.value.lead();
        let path = path.split_once('=').map_or(path, |(_, path)| path);
        let is_short = path.len() <= MAX_GIT_PATH_BYTES && path.contains('/');
        let folders = self.state.directories.as_deref().unwrap_or_default();
        is_short && folders.iter().any(|from| self.is_in_repository(from, path))
    }

    fn is_in_repository(&self, from: &Path, path: &str) -> bool {
        let place = self.machine.cached_destination(from, path);
        place.starts_with(self.machine.root()) && self.machine.is_in_repository_layout(&place)
    }

    /// Asks if a program may be a file that the text made.
    fn judge_made_program(&mut self, call: &Call) {
        let Some(name) = call.program() else { return };
        let content = &self.state.content;
        let writes_programs = content.writes_programs;
        let is_made = content.names.contains(base_name(name)) || content.names.len() >= MAX_WRITTEN_NAMES;
        let runs_others = call.meaning.kind.is_none_or(|kind| {
            matches!(kind, ProgramKind::Builder | ProgramKind::Workbench | ProgramKind::Interpreter)
        }) || has(base_name(name), Property::RunsGit);
        if name.contains('/') || is_builtin(name) {
            return;
        }
        let start = [self.machine.directory().to_owned()];
        if self.machine.has_relative_program_folders() && self.state.directories.as_deref() != Some(&start) {
            let message = "PATH has a folder that depends on where a program is started".to_owned();
            self.ask(ReasonCode::Unknown, call.span, message);
        }
        if !(is_made || writes_programs && runs_others) {
            return;
        }
        let message = if is_made {
            format!("`{name}` may be a file that the command makes")
        } else {
            "it may run a program that the command puts into a folder of PATH".to_owned()
        };
        self.ask(ReasonCode::Unknown, call.span, message);
    }
}

/// Whether a call may make a file that later counts as a program.
fn may_put_programs(call: &Call) -> bool {
    let name = call.name().unwrap_or_default();
    !call.redirects.is_empty() || !has(name, Property::WritesNoContent)
}
