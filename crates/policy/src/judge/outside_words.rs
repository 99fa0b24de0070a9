//! Words of programs that no table lists, which may name files outside the root: such a program may write them. A path may begin
//! anywhere in a word, may be put together from two words, and may come from a variable or from standard input.

use std::path::Path;

use shellgate_syntax::{Assigned, RedirectTarget, Unknown, Value, Why, Word};

use super::Judge;
use super::state::is_in_pipeline;
use super::unlisted::Suspicion;
use super::word_shapes::{PathSuffix, is_url, path_candidates, path_suffixes};
use crate::calls::{Call, FoundCalls, Stdin};
use crate::paths::PATH_MAX_BYTES;
use crate::programs::{EffectKind, NAME_MAX_BYTES};
use crate::redirects::known_path;

/// Folders whose files agents can't write as a rule: programs are given them to read.
const SYSTEM_FOLDERS: [&str; 9] =
    ["/usr/", "/etc/", "/bin/", "/lib", "/opt/", "/dev/", "/proc/", "/sys/", "/var/"];

/// Those in which anybody can make files: only a file that is there is one to read.
const OPEN_FOLDERS: [&str; 2] = ["/dev/", "/var/"];

/// If a text gives its programs more such words, they may name any file.
const MAX_OUTSIDE_WORDS: usize = 64;

/// Paths that a text gives to its programs otherwise than by their words, and that may lead outside the root.
#[derive(Debug, Default)]
pub(super) struct OutsideWords {
    /// Values of variables.
    assigned: Vec<String>,
    /// Words and texts that a stage of a pipeline may hand on.
    piped: Vec<String>,
}

impl OutsideWords {
    pub(super) fn of(found: &FoundCalls) -> Self {
        let mut all = Self::default();
        for call in &found.calls {
            let scalars = call.assignments.iter().filter_map(|one| match &one.value {
                Assigned::Scalar(value) => Some(value),
                _ => None,
            });
            let effects = call.meaning.effects.iter().filter_map(|effect| match &effect.kind {
                EffectKind::Assigns { value, .. } => value.as_ref(),
                _ => None,
            });
            for value in scalars.chain(effects) {
                note(value, &mut all.assigned);
            }
            if !is_in_pipeline(call) {
                continue;
            }
            let bodies = call.redirects.iter().map(|redirect| match &redirect.target {
                RedirectTarget::Word(word) | RedirectTarget::Body(word) => &word.value,
            });
            for value in call.words.iter().skip(1).map(|word| &word.value).chain(bodies) {
                note(value, &mut all.piped);
            }
        }
        all
    }
}

/// Keeps what may name a path outside the root.
fn note(value: &Value, all: &mut Vec<String>) {
    let text = match value {
        Value::Known(text) => text.clone(),
        Value::Unknown(Unknown { why: Why::Tilde { rest, .. }, .. }) => {
            format!("~{}", rest.as_deref().unwrap_or_default())
        }
        Value::Unknown(unknown) => unknown.lead.clone(),
    };
    if path_suffixes(&text).next().is_some() && all.len() <= MAX_OUTSIDE_WORDS {
        all.push(text);
    }
}

impl Judge<'_> {
    /// Why a word may name a file outside the root that the program writes.
    pub(super) fn suspicion_of_write(&self, text: &str) -> Option<Suspicion> {
        if text.len() > PATH_MAX_BYTES {
            // It has too many parts that may be paths.
            return Some(may_write("…"));
        }
        // A name without a slash can be a link.
        let may_be_link = |path: &str| path.len() <= NAME_MAX_BYTES && self.state.directories.is_some();
        let may_lead = |path: &str| may_be_link(path) || path.contains('/') || path == "..";
        let is_outside = |path: &&str| may_lead(path) && !is_url(path) && self.is_outside(path);
        let found = path_candidates(text).find(is_outside);
        found.or_else(|| self.outside_suffix(text)).map(may_write)
    }

    /// A path outside the root that begins anywhere in a text, or one too many to look at.
    fn outside_suffix<'t>(&self, text: &'t str) -> Option<&'t str> {
        let leads_outside = |(at, suffix): &(usize, PathSuffix<'t>)| {
            // `-fsrc/a`: what begins in the middle of a word is a path only if there is such a folder.
            let may_be_path = || {
                let top = suffix.path.split('/').find(|name| !name.is_empty()).unwrap_or_default();
                suffix.path.matches('/').count() > 1 && Path::new("/").join(top).is_dir()
            };
            let is_path = !(suffix.is_glued && suffix.path.starts_with('/')) || may_be_path();
            *at > MAX_OUTSIDE_WORDS || is_path && self.is_outside(suffix.path)
        };
        let mut suffixes = path_suffixes(text).filter(|_| !is_url(text)).enumerate();
        suffixes.find(leads_outside).map(|(_, suffix)| suffix.path)
    }

    /// Whether a path leads outside the root, and not to a file that programs are given to read.
    fn is_outside(&self, path: &str) -> bool {
        let home = path.strip_prefix('~').filter(|rest| rest.is_empty() || rest.starts_with('/'));
        let home = home.zip(self.machine.home()).map(|(rest, home)| format!("{}{rest}", home.display()));
        let path = home.as_deref().unwrap_or(path);
        if path.len() > PATH_MAX_BYTES {
            return false;
        }
        let is_system = |path: &str| SYSTEM_FOLDERS.iter().any(|folder| path.starts_with(folder));
        let is_read = || {
            // `/usr/../home/x`, `/proc/self/cwd/x`
            let place = self.machine.cached_destination(Path::new("/"), path);
            let is_open = OPEN_FOLDERS.iter().any(|folder| place.starts_with(folder));
            is_system(path)
                && place.to_str().is_some_and(is_system)
                && place.metadata().is_ok_and(|found| !(is_open && found.is_dir()))
        };
        !self.is_inside(path) && !is_read()
    }

    /// Why a word that is a path, and isn't wholly known, may name a file outside the root.
    pub(super) fn suspicion_of_unknown_write(&self, word: &Word) -> Option<Suspicion> {
        if let Some(path) = known_path(&word.value, self.machine) {
            return self.suspicion_of_write(&path);
        }
        let Value::Unknown(Unknown { lead, why, tail, .. }) = &word.value else { return None };
        let leads_up = |text: &str| text.split('/').any(|name| name == "..");
        let tail_stays = tail.as_deref().is_some_and(|tail| !leads_up(tail));
        let is_inside = match why {
            Why::Arithmetic => tail_stays,
            Why::Parameter(name) if name == "PWD" && (lead.is_empty() || lead.ends_with('=')) => tail_stays,
            Why::Glob => {
                let folder = lead.rsplit_once('/').map(|(folder, _)| format!("{folder}/"));
                // A pattern isn't kept as text; what it is made of is.
                let written = word.span.of(self.text);
                let begins = |folder: &&str| lead.starts_with(*folder);
                let is_system = SYSTEM_FOLDERS.iter().any(begins) && !OPEN_FOLDERS.iter().any(begins);
                !leads_up(written) && folder.is_none_or(|folder| is_system || !self.is_outside(&folder))
            }
            _ => false,
        };
        let message = "it may write a file whose path can't be known: nothing is known of this program";
        (!is_inside).then(|| Suspicion::new(message.to_owned()))
    }

    /// Why a program may write outside the root by what it is given besides its words, or by two of them together.
    pub(super) fn suspicion_of_surroundings(&self, call: &Call) -> Option<Suspicion> {
        let given = &self.states.outside_words;
        let from_input = match &call.stdin {
            Stdin::Text(text) => self.outside_suffix(text).map(may_write),
            Stdin::Unknown | Stdin::Fetched if is_in_pipeline(call) => self.find_outside(&given.piped),
            Stdin::Empty | Stdin::Unknown | Stdin::Fetched => None,
        };
        from_input.or_else(|| self.find_outside(&given.assigned)).or_else(|| joined_words(call))
    }

    fn find_outside(&self, texts: &[String]) -> Option<Suspicion> {
        if texts.len() > MAX_OUTSIDE_WORDS {
            return Some(may_write("…"));
        }
        texts.iter().find_map(|text| self.outside_suffix(text)).map(may_write)
    }
}

/// Why two words may make a path that leads up: `--prefix=. ./x` is `../x`.
fn joined_words(call: &Call) -> Option<Suspicion> {
    let words = call.words.iter().skip(1).map(|word| word.value.lead());
    let words = || words.clone().filter(|text| text.len() <= PATH_MAX_BYTES);
    let ends = |text: &str| path_candidates(text).any(|path| path == "." || path.ends_with("/."));
    let begins = |text: &str| path_candidates(text).any(|path| path.starts_with("./"));
    (words().any(ends) && words().any(begins)).then(|| may_write("../"))
}

fn may_write(path: &str) -> Suspicion {
    Suspicion::new(format!("it may write `{path}`, outside the root: nothing is known of this program"))
}
