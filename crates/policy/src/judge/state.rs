//! What the parts of a text do to each other: the folder that later parts start in, the links that they may follow, the
//! settings that git may find.
//!
//! Calls are judged in the order of the text. A call that may run at another time (in a loop, a function, a trap) is judged
//! by what holds at any time. Where the state can't be followed it is unknown, and what depends on it is asked about.

use std::path::{Path, PathBuf};

use shellgate_syntax::{Construct, Unknown, Value, Why, Word};

use super::Judge;
use super::content::OwnContent;
use super::links::{MadeLinks, has_option};
use super::outside_words::OutsideWords;
use super::patches::patches;
use super::planted::Planted;
use super::remotes::pushes;
use super::staging::Staged;
use super::text_facts::TextFacts;
use crate::calls::{Call, FoundCalls, When};
use crate::paths::{PATH_MAX_BYTES, without_links};
use crate::programs::{EffectKind, ProgramKind, Property, has, words};
use crate::redirects::known_path;

/// If a relative path may start from more folders than this, it may start from anywhere.
const MAX_DIRECTORIES: usize = 16;

/// How many paths a long text may lead to: its words, times the folders that they may start from.
const MAX_PATHS: usize = 40_000;

/// If a text pushes more often than this, it isn't followed where to.
const MAX_PUSHING_CALLS: usize = 32;

/// If the words of a text that pushes may be more paths than this, they aren't followed.
const MAX_ADDRESS_CHECKS: usize = 5000;

/// The folders that relative paths may start from. `None`: any.
pub(super) type Directories = Option<Vec<PathBuf>>;

/// What holds at one time of a text.
#[derive(Clone, Debug)]
pub(super) struct TextState {
    pub(super) directories: Directories,
    pub(super) links: MadeLinks,
    pub(super) staged: Staged,
    pub(super) content: OwnContent,
}

/// What holds now, and what may hold at any time.
#[derive(Debug)]
pub(super) struct States {
    now: TextState,
    /// If a relative path may start from more folders than this, it may start from anywhere: a long text has fewer.
    max_directories: usize,
    pub(super) anytime: TextState,
    /// Files that the text may write and that tell programs what to run.
    pub(super) planted: Planted,
    /// What the calls do together.
    pub(super) facts: TextFacts,
    /// Paths that it gives to programs otherwise than by their words.
    pub(super) outside_words: OutsideWords,
    /// Whether the text names a repository whose settings can name programs, and git may push to it.
    pub(super) names_harmful_remote: bool,
    /// How many calls apply patches.
    pub(super) patching_calls: usize,
    /// Whether a call makes an archive with other names than its files have.
    pub(super) renames_in_archive: bool,
    /// Whether a stage of a pipeline may make links: the other stages run beside it.
    links_in_pipeline: bool,
    /// How many calls may make links.
    linking_calls: usize,
}

impl TextState {
    pub(super) fn new(directory: &Path) -> Self {
        Self {
            directories: Some(vec![directory.to_owned()]),
            links: MadeLinks::default(),
            staged: Staged::default(),
            content: OwnContent::default(),
        }
    }
}

impl States {
    pub(super) fn new(directory: &Path) -> Self {
        let state = TextState::new(directory);
        Self {
            now: state.clone(),
            max_directories: MAX_DIRECTORIES,
            anytime: state,
            planted: Planted::default(),
            facts: TextFacts::default(),
            outside_words: OutsideWords::default(),
            names_harmful_remote: false,
            patching_calls: 0,
            renames_in_archive: false,
            links_in_pipeline: false,
            linking_calls: 0,
        }
    }

    /// What may hold when a call runs.
    pub(super) fn before(&self, call: &Call) -> &TextState {
        let beside = call.when != When::Once || self.links_in_pipeline && is_in_pipeline(call);
        if beside { &self.anytime } else { &self.now }
    }
}

impl Judge<'_> {
    /// Looks through all calls for what may hold at any time.
    pub(super) fn survey(&mut self, found: &FoundCalls) {
        let words = found.calls.iter().map(|call| call.words.len()).sum::<usize>();
        self.states.max_directories = (MAX_PATHS / words.max(1)).clamp(1, MAX_DIRECTORIES);
        let start = self.states.now.clone();
        self.states.facts = TextFacts::of(found);
        self.states.outside_words = OutsideWords::of(found);
        for call in &found.calls {
            let before = self.states.now.links.count();
            let content = self.states.now.content.count();
            self.follow_state(call);
            let makes_links = self.states.now.links.count() != before;
            self.states.links_in_pipeline |= makes_links && is_in_pipeline(call);
            self.states.facts.writes_in_pipeline |=
                self.states.now.content.count() != content && is_in_pipeline(call);
            self.states.linking_calls += usize::from(self.may_link(call));
        }
        let mut anytime = std::mem::replace(&mut self.states.now, start.clone());
        self.states.anytime = anytime.clone();
        // Calls that run at any time make links from any of the folders.
        for call in found.calls.iter().filter(|call| call.when != When::Once) {
            let directories = self.directories_of(call);
            self.note_links(call, directories.as_deref(), &mut anytime.links);
            self.note_staged(call, directories.as_deref(), &mut anytime.staged);
        }
        self.states.anytime = anytime;
        let renames = |call: &Call| has_option(call, words::TAR_RENAMING_OPTIONS);
        self.states.renames_in_archive = found.calls.iter().any(renames);
        let mut planted = Planted::default();
        self.states.patching_calls = found.calls.iter().filter(|call| patches(call)).count();
        let pushing_calls = found.calls.iter().filter(|call| pushes(call)).count();
        let mut address_checks = 0;
        self.states.names_harmful_remote = pushing_calls > MAX_PUSHING_CALLS;
        for (at, call) in found.calls.iter().enumerate() {
            let directories = self.directories_of(call);
            let before = found.calls.get(..at).unwrap_or_default();
            self.note_planted(call, directories.as_deref(), &mut planted);
            planted.writes_git_settings |= self.may_patch_settings(call, directories.as_deref(), before);
            if pushing_calls > 0 && !self.states.names_harmful_remote {
                address_checks += call.words.len() * directories.as_ref().map_or(0, Vec::len);
                self.states.names_harmful_remote = address_checks > MAX_ADDRESS_CHECKS
                    || self.names_harmful_remote(call, directories.as_deref());
            }
            self.follow_state(call);
        }
        if found.calls.iter().any(|call| call.meaning.kind == Some(ProgramKind::Builder)) {
            planted.excluded = self.excluded_in_text(found);
        }
        self.states.planted = planted;
        self.states.now = start;
    }

    /// Whether a call may make links.
    fn may_link(&self, call: &Call) -> bool {
        let mut links = MadeLinks::default();
        self.note_links(call, None, &mut links);
        links.count() > 0
    }

    /// Whether another call than this one may make links before it.
    pub(super) fn others_link(&self, call: &Call) -> bool {
        self.state.links.count() > 0 && self.states.linking_calls > usize::from(self.may_link(call))
    }

    /// The state that a call is judged by.
    pub(super) fn state_of(&self, call: &Call) -> TextState {
        let mut state =
            TextState { directories: self.directories_of(call), ..self.states.before(call).clone() };
        if self.states.facts.writes_in_pipeline && is_in_pipeline(call) {
            state.content.clone_from(&self.states.anytime.content);
        }
        state
    }

    /// Where the relative paths of a call may start from.
    pub(super) fn directories_of(&self, call: &Call) -> Directories {
        let state = if call.when == When::Anytime { &self.states.anytime } else { &self.states.now };
        let mut directories = state.directories.clone();
        for folder in call.folders.iter() {
            directories = self.moved(directories.as_deref(), folder.as_ref());
        }
        directories
    }

    /// The folders that a change to `folder` leads to.
    pub(super) fn moved(&self, from: Option<&[PathBuf]>, folder: Option<&Word>) -> Directories {
        let value = &folder?.value;
        let path = known_path(value, self.machine).or_else(|| self.below_home(value))?;
        // No system call takes a longer path; in pieces, one can be reached.
        if path.is_empty() || path.len() > PATH_MAX_BYTES {
            return None;
        }
        let mut all: Vec<PathBuf> = Vec::new();
        // An absolute path needs no folder to start from.
        let anywhere = [PathBuf::from("/")];
        let from = if path.starts_with('/') { Some(anywhere.as_slice()) } else { from };
        for from in from? {
            // The shell takes `..` out of the path that it remembers, other programs follow links.
            for to in [self.machine.cached_destination(from, &path), without_links(&from.join(&path))] {
                if !all.contains(&to) {
                    all.push(to);
                }
            }
        }
        (all.len() <= self.states.max_directories).then_some(all)
    }

    /// The path of `$HOME/x`, unless the text sets that variable.
    fn below_home(&self, value: &Value) -> Option<String> {
        let Value::Unknown(Unknown { why: Why::Parameter(name), lead, tail: Some(tail), .. }) = value else {
            return None;
        };
        let is_below = tail.is_empty() || tail.starts_with('/');
        let is_home = name == "HOME" && lead.is_empty() && is_below && self.values.get("HOME").is_none();
        is_home.then(|| Some(format!("{}{tail}", self.machine.home()?.to_str()?))).flatten()
    }

    /// Follows what a call does to the state of what comes behind it.
    pub(super) fn follow_state(&mut self, call: &Call) {
        let directories = self.directories_of(call);
        let mut links = std::mem::take(&mut self.states.now.links);
        self.note_links(call, directories.as_deref(), &mut links);
        self.states.now.links = links;
        let mut staged = std::mem::take(&mut self.states.now.staged);
        self.note_staged(call, directories.as_deref(), &mut staged);
        self.states.now.staged = staged;
        let mut content = std::mem::take(&mut self.states.now.content);
        self.note_content(call, directories.as_deref(), &mut content);
        self.states.now.content = content;
        if !call.program().is_some_and(|name| has(name, Property::ChangesDirectory)) {
            return;
        }
        let target = call.meaning.effects.iter().find_map(|effect| match &effect.kind {
            EffectKind::Directory(Some(word)) => Some(word),
            _ => None,
        });
        let before = self.states.now.directories.take();
        // Behind a loop it may have happened any number of times.
        let after = if call.when == When::Anytime { None } else { self.moved(before.as_deref(), target) };
        self.states.now.directories = match (before, after) {
            (Some(mut before), Some(after)) => {
                // If it fails, the directory stays.
                before.extend(after);
                before.sort();
                before.dedup();
                (before.len() <= self.states.max_directories).then_some(before)
            }
            _ => None,
        };
    }

    /// Whether folders don't exist and no other call makes them: a program that is to work in one of them fails.
    pub(super) fn are_missing(&self, call: &Call, folders: &[PathBuf]) -> bool {
        let is_missing = |folder: &PathBuf| {
            folder.symlink_metadata().is_err_and(|error| error.kind() == std::io::ErrorKind::NotFound)
        };
        self.writing_calls == usize::from(self.may_write(call)) && folders.iter().all(is_missing)
    }
}

/// Whether a call is in a stage of a pipeline.
pub(super) fn is_in_pipeline(call: &Call) -> bool {
    call.constructs.contains(&Construct::Pipeline)
}
