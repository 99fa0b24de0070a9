//! Files that a text writes and that tell programs what to run: settings of git, files that programs of the user read when
//! they start, instructions of a build tool.
//!
//! The rules can't see what such a file says. So a text that writes one and then runs the program that reads it is asked
//! about. Files in the home folder are read by programs of later texts too: writing them is asked about by itself.

use std::cell::LazyCell;
use std::path::{Component, Path, PathBuf};

use shellgate_syntax::{RedirectTarget, Span, Value, Why, Word};

use super::effects::names;
use super::links::has_option;
use super::settings_files::{RepositoryFiles, is_repository_file};
use super::writers::{copies, edits_plainly, is_build_file, may_unpack, writes_content, written};
use super::{Basis, Judge};
use crate::calls::{Call, FoundCalls};
use crate::programs::{ProgramKind, Property, base_name, has, words};
use crate::redirects::known_path;
use crate::secrets;
use crate::verdict::ReasonCode;

/// What a text may write.
#[derive(Debug, Default)]
pub(super) struct Planted {
    pub(super) writes_git_settings: bool,
    makes_repository: bool,
    pub(super) writes_files: bool,
    pub(super) repository_files: RepositoryFiles,
    /// The first file that tells a build tool what to run.
    build_file: Option<String>,
    /// An excluded program that the text names, in whatever place.
    pub(super) excluded: Option<String>,
}

impl Planted {
    /// Whether the text may write settings that git finds.
    pub(super) fn has_git_settings(&self) -> bool {
        self.writes_git_settings || self.makes_repository && self.writes_files
    }
}

impl Judge<'_> {
    /// Collects what the calls of a text may write.
    pub(super) fn note_planted(&self, call: &Call, directories: Option<&[PathBuf]>, planted: &mut Planted) {
        planted.makes_repository |= makes_bare_repository(call);
        planted.writes_git_settings |= may_unpack(call);
        self.note_repository_files(call, directories, planted);
        let is_product = call.meaning.kind == Some(ProgramKind::Builder);
        // It looks at all words of the call, which may write thousands of files.
        let may_plant = LazyCell::new(|| writes_content(call) && !is_product && !edits_plainly(call));
        for word in written(call) {
            planted.writes_files = true;
            planted.writes_git_settings |= (self.may_be_settings(word, directories)
                || self.leads_through_link(call, word, directories))
                && !self.is_listed_outside_git(call, word)
                && self.in_made_folder(word).is_none();
            if planted.build_file.is_none() && *may_plant {
                planted.build_file = match known_path(&word.value, self.machine) {
                    Some(path) => Some(path).filter(|path| is_build_file(base_name(path))),
                    // What is copied is on the disk already; what is written otherwise may be in the text.
                    None => (!copies(call)).then(|| word.value.lead().to_owned()),
                };
            }
        }
    }

    /// An excluded program that a text names: in a file that it writes, for example.
    pub(super) fn excluded_in_text(&self, found: &FoundCalls) -> Option<String> {
        let words = found.calls.iter().flat_map(|call| call.words.iter().skip(1));
        let bodies = found.calls.iter().flat_map(|call| &call.redirects).map(|redirect| {
            let (RedirectTarget::Word(text) | RedirectTarget::Body(text)) = &redirect.target;
            text
        });
        let mut all = words.chain(bodies).flat_map(|word| names(self.value_or_source(word)));
        all.find_map(|name| self.excluded_by_name(name)).map(|(name, _)| name)
    }

    /// What a word will be, or how it is written: a pattern that matches nothing stays as it is.
    fn value_or_source<'b>(&'b self, word: &'b Word) -> &'b str {
        word.value.known().or_else(|| self.text.get(word.span.start..word.span.end)).unwrap_or_default()
    }

    /// Asks if a build tool may run what the text itself writes.
    pub(super) fn judge_build(&mut self, call: &Call, basis: Basis) {
        if call.meaning.kind != Some(ProgramKind::Builder) || !self.restricts(basis) {
            return;
        }
        let planted = &self.states.planted;
        let message = match (&planted.build_file, &planted.excluded) {
            (Some(file), _) => format!("it runs what `{file}` says, and the command writes that file"),
            (None, Some(name)) if self.others_write(call) => {
                format!("it may run what the command writes, and that names `{name}`, which is excluded")
            }
            _ => return,
        };
        self.ask(ReasonCode::Unknown, call.span, message).hint =
            Some("write the file first, and run the program in a command of its own".to_owned());
    }

    /// Whether another call than this one may write files.
    pub(super) fn others_write(&self, call: &Call) -> bool {
        self.writing_calls > usize::from(self.may_write(call))
    }

    /// Asks about a file that programs of the user read when they start. Returns whether it is one.
    pub(super) fn asks_about_startup_file(&mut self, call: &Call, word: &Word, span: Span) -> bool {
        let Some(home) = self.home() else { return false };
        if !writes_content(call) || !self.rules.restrict_something() {
            return false;
        }
        let path = secrets::path_of(&word.value, self.machine);
        let is_one = match &path {
            // A compiler writes the file that it is told, and none in a folder of that name.
            None if call.meaning.entry == Some("gcc") && ends_ordinarily(call, word) => false,
            None => puts_hidden_names(call) || may_end_hidden(word),
            Some(path) => match self.state.directories.as_deref() {
                None if !path.starts_with('/') => puts_hidden_names(call) || is_hidden(base_name(path)),
                folders => {
                    let anywhere = [PathBuf::from("/")];
                    let folders = folders.unwrap_or(&anywhere).iter();
                    let place = |from: &PathBuf| self.machine.cached_destination(from, path);
                    // A root below the home folder is a project, also if a name on the way to it is hidden.
                    let root = self.machine.root();
                    let is_project =
                        |place: &Path| place.starts_with(root) && root != home && root.starts_with(&home);
                    folders.map(place).any(|place| match place.strip_prefix(&home) {
                        Ok(_) if is_project(&place) => false,
                        Ok(rest) if rest.as_os_str().is_empty() => puts_hidden_names(call),
                        Ok(rest) => is_startup_place(rest),
                        Err(_) => false,
                    })
                }
            },
        };
        if is_one {
            let shown = path.unwrap_or_else(|| word.value.lead().to_owned());
            let message =
                format!("it writes `{shown}`: programs read hidden files of the home folder when they start");
            self.ask(ReasonCode::Write, span, message);
        }
        is_one
    }

    /// Where the path of the home folder leads.
    pub(super) fn home(&self) -> Option<PathBuf> {
        let home = self.machine.home()?;
        Some(self.machine.cached_destination(Path::new("/"), &home.to_string_lossy()))
    }

    /// Whether writing this file may write settings that git finds.
    pub(super) fn may_be_settings(&self, word: &Word, directories: Option<&[PathBuf]>) -> bool {
        let Some(path) = known_path(&word.value, self.machine) else { return true };
        if path.starts_with("/dev/") {
            return false;
        }
        let is_head = is_repository_file(&path);
        let absolute = [PathBuf::from("/")];
        let from = if path.starts_with('/') { Some(absolute.as_slice()) } else { directories };
        is_head || from.is_none_or(|from| from.iter().any(|from| self.is_git_folder(from, &path)))
    }

    /// Whether a path that a call writes may lead through a link that the text makes before.
    fn leads_through_link(&self, call: &Call, word: &Word, directories: Option<&[PathBuf]>) -> bool {
        let Some(path) = known_path(&word.value, self.machine) else { return true };
        let links = &self.states.before(call).links;
        directories.is_none_or(|folders| folders.iter().any(|from| links.may_hold(&from.join(&path))))
            && !links.is_empty()
    }

    /// Whether a path leads into a folder that git keeps its settings in, or to a file of them.
    pub(super) fn is_git_folder(&self, from: &Path, path: &str) -> bool {
        let place = self.machine.cached_destination(from, path);
        let inside = place.strip_prefix(self.machine.root()).unwrap_or(&place);
        inside.components().any(|part| part.as_os_str().eq_ignore_ascii_case(".git"))
            || words::GIT_SETTINGS_FILES.iter().any(|end| place.ends_with(end))
            || place.starts_with(self.machine.root()) && self.machine.is_in_repository_layout(&place)
    }
}

/// Whether programs read a file at this path below the home folder when they start. They keep what they can make again
/// in `.cache`.
fn is_startup_place(path: &Path) -> bool {
    let first = path.components().next().and_then(|part| match part {
        Component::Normal(name) => name.to_str(),
        _ => None,
    });
    first.is_none_or(|name| name.starts_with('.') && name != ".cache")
}

fn is_hidden(name: &str) -> bool {
    name.starts_with('.') && !matches!(name, "." | "..")
}

/// Whether a path that isn't known has a hidden name at its end: `"$x/.profile"`.
fn may_end_hidden(word: &Word) -> bool {
    let Value::Unknown(unknown) = &word.value else { return false };
    unknown
        .tail
        .as_deref()
        .is_some_and(|tail| base_name(tail).starts_with('.') && !words::ORDINARY_ENDINGS.contains(&tail))
}

/// Whether a path that isn't known ends like a file that no program reads when it starts: `"$x.o"`, also if it is `.o` alone.
fn ends_ordinarily(call: &Call, word: &Word) -> bool {
    let Value::Unknown(unknown) = &word.value else { return false };
    // What follows `${x%.c}` isn't in the value, but the last word of a call ends where its text ends.
    let is_last = call.words.last() == Some(word) && call.redirects.is_empty() && !call.in_wrapper;
    let written = call.text.strip_suffix('"').filter(|_| is_last).and_then(|text| text.rsplit_once('}'));
    let tail = unknown.tail.as_deref().or(written.map(|(_, tail)| tail));
    tail.is_some_and(|tail| words::ORDINARY_ENDINGS.contains(&tail))
}

/// Whether a call that writes into a folder may make hidden files there.
fn puts_hidden_names(call: &Call) -> bool {
    let name = call.name();
    let is_plain = |word: &Word| match &word.value {
        Value::Known(path) => {
            let name = base_name(path.trim_end_matches('/'));
            !name.starts_with('.') && !name.is_empty()
        }
        // A pattern finds hidden names only if it begins like one.
        Value::Unknown(unknown) => {
            let name = unknown.lead.rsplit('/').next().unwrap_or_default();
            // `find` finds hidden names, too.
            let is_found = call.in_wrapper && name.is_empty();
            unknown.why == Why::Glob && !name.starts_with(['.', '-']) && !is_found
        }
    };
    !name.is_some_and(|name| has(name, Property::WritesWhatItNames))
        || !call.words.iter().skip(1).rev().skip(1).all(is_plain)
}

/// Whether a call makes a repository whose folder isn't called `.git`.
fn makes_bare_repository(call: &Call) -> bool {
    call.meaning.entry == Some("git") && has_option(call, words::GIT_BARE_OPTIONS)
}
