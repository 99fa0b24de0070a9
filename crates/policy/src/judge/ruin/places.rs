//! Paths whose loss is ruin: the top, folders of the system, home, the root and what it is in, history, mount points, devices.

use std::path::{Path, PathBuf};

use shellgate_syntax::{Construct, Unknown, Value, Why, Word};

use super::super::Judge;
use super::targets::Target;
use crate::calls::Call;
use crate::paths::without_links;
use crate::programs::words::{
    RUIN_DEVICES, RUIN_EVERYTHING, RUIN_GIT_PARTS, RUIN_HOME_FOLDERS, RUIN_HOMES, RUIN_SYSTEM_FILES,
    RUIN_SYSTEM_FOLDERS, RUIN_TEMPORARY_FOLDERS, RUIN_TOP_COMMANDS,
};
use crate::programs::{TargetClass, fits_pattern};
use crate::redirects::known_path;
use crate::spelled::{PATTERN, Piece, SOMETHING, pieces};

/// How many spellings of one word are looked at.
const MAX_SPELLINGS: usize = 16;

/// How many spellings of all words of a text are looked at. The words of ordinary texts have dozens.
pub(in crate::judge) const MAX_SPELLINGS_OF_TEXT: usize = 20_000;

/// The kernel takes no longer path.
const MAX_PATH_BYTES: usize = 4096;

/// What a word may be as a path.
#[derive(Clone, Debug, Default)]
struct Spelling {
    text: String,
    /// Whether a variable was taken to be empty.
    emptied: bool,
}

impl Judge<'_> {
    /// What a word is, if it leads to a place of one of the classes. `unknown`: whether a word that isn't known may be one.
    pub(super) fn place_target(
        &self,
        call: &Call,
        word: &Word,
        classes: &[TargetClass],
        unknown: bool,
    ) -> Option<Target> {
        let written = call.written(word).filter(|text| !text.is_empty());
        let shown = word.value.known().or(written).unwrap_or(word.value.lead());
        let is_option = word.value.lead().starts_with('-');
        if classes.contains(&TargetClass::Device) && !is_option {
            let may_be = match &word.value {
                Value::Unknown(value) => unknown && value.lead.is_empty() || may_become_device(&value.lead),
                Value::Known(_) => false,
            };
            if may_be {
                return Some(Target::new(format!("`{shown}`, which may be a device"), word));
            }
        }
        let folders = self.starting_folders(call);
        let spellings = self.spellings(call, word, &folders);
        let Some(left) = self.spellings_left.get().checked_sub(spellings.len()) else {
            return Some(Target::new(format!("`{shown}`, one path of too many to look at"), word));
        };
        self.spellings_left.set(left);
        for spelling in spellings {
            if spelling.text.is_empty() || spelling.emptied && !spelling.text.starts_with('/') {
                continue;
            }
            for place in self.places_of(&spelling.text, &folders) {
                // What is in such a folder is deleted every day, by names that scripts put together.
                if spelling.emptied
                    && place.text().is_some_and(|text| fits_listed(RUIN_TEMPORARY_FOLDERS, text))
                {
                    continue;
                }
                if let Some(class) = classes.iter().copied().find(|class| self.is_of_class(&place, *class)) {
                    let what = if spelling.emptied {
                        format!("{}, if a variable in it is empty", describe(class))
                    } else {
                        describe(class).to_owned()
                    };
                    return Some(Target::new(format!("`{shown}`, {what}"), word));
                }
            }
        }
        None
    }

    /// The folders that relative paths of a call start from.
    fn starting_folders(&self, call: &Call) -> Vec<PathBuf> {
        let here = self.machine.directory();
        let is_conditional = call.constructs.contains(&Construct::Conditional);
        match self.folders_of(call) {
            // `cd x && rm -rf *`: it only runs if the change of folder worked.
            Some(folders) if is_conditional && folders.len() > 1 => {
                folders.into_iter().filter(|folder| folder != here).collect()
            }
            Some(folders) => folders,
            None if is_conditional => Vec::new(),
            None => vec![here.to_owned()],
        }
    }

    /// What a word may spell.
    fn spellings(&self, call: &Call, word: &Word, folders: &[PathBuf]) -> Vec<Spelling> {
        let certain = |text: String| vec![Spelling { text, emptied: false }];
        let unknown = match &word.value {
            Value::Known(text) => return certain(text.clone()),
            Value::Unknown(unknown) => unknown,
        };
        let by_value = match (&unknown.why, &unknown.tail) {
            (Why::Parameter(name), Some(tail)) => Some(vec![
                Piece::Text(unknown.lead.clone()),
                Piece::variable(name),
                Piece::Text(tail.clone()),
            ]),
            _ => None,
        };
        if let Some(path) = known_path(&word.value, self.machine) {
            return certain(path);
        }
        let by_text = || {
            let pieces = pieces(call.written(word)?)?;
            let begins = match pieces.first() {
                Some(Piece::Text(text)) => text.starts_with(unknown.lead.as_str()),
                _ => unknown.lead.is_empty(),
            };
            // A word that a program fills in isn't written in the text.
            let is_it = pieces.iter().any(|piece| !matches!(piece, Piece::Text(_)));
            (begins && is_it).then_some(pieces)
        };
        match by_value.or_else(by_text) {
            Some(pieces) => self.expand(&pieces, folders),
            None => certain(format!("{}{SOMETHING}", unknown.lead)),
        }
    }

    /// The texts that the pieces of a word may become, but for those that are too long for a path.
    fn expand(&self, pieces: &[Piece], folders: &[PathBuf]) -> Vec<Spelling> {
        let mut all = vec![Spelling::default()];
        for piece in pieces {
            let mut options: Vec<(String, bool)> = match piece {
                Piece::Text(text) => vec![(text.clone(), false)],
                Piece::Pattern(c) => vec![(format!("{PATTERN}{c}"), false)],
                Piece::Something => vec![(SOMETHING.to_string(), false)],
                Piece::Output(command) => self.printed_folders(command),
                Piece::Home(user) => vec![(self.home_of(user), false)],
                Piece::Variable { name, otherwise, must_be_set, .. } => {
                    let own =
                        self.values.get(name).is_none().then(|| self.folder_of(name, folders)).flatten();
                    own.unwrap_or_else(|| self.values_of(name, otherwise.as_deref(), *must_be_set))
                }
            };
            options.truncate(MAX_SPELLINGS);
            all = all
                .iter()
                .flat_map(|before| {
                    let fits = |(text, _): &&(String, bool)| before.text.len() + text.len() <= MAX_PATH_BYTES;
                    options.iter().filter(fits).map(|(text, emptied)| Spelling {
                        text: format!("{}{text}", before.text),
                        emptied: before.emptied || *emptied,
                    })
                })
                .take(MAX_SPELLINGS)
                .collect();
        }
        all
    }

    fn home_of(&self, user: &str) -> String {
        match self.machine.home().and_then(Path::to_str) {
            Some(home) if user.is_empty() => home.to_owned(),
            _ if user == "root" => "/root".to_owned(),
            _ => format!("/home/{user}"),
        }
    }

    /// The folders that a variable of the shell stands for.
    fn folder_of(&self, name: &str, folders: &[PathBuf]) -> Option<Vec<(String, bool)>> {
        let shown = |folder: &Path| (folder.to_string_lossy().into_owned(), false);
        match name {
            "PWD" if folders.is_empty() => Some(vec![(SOMETHING.to_string(), false)]),
            "PWD" => Some(folders.iter().map(|folder| shown(folder)).collect()),
            "OLDPWD" => Some(vec![shown(self.machine.directory())]),
            _ => None,
        }
    }

    /// What a substitution may stand for in a path.
    fn printed_folders(&self, command: &str) -> Vec<(String, bool)> {
        if RUIN_TOP_COMMANDS.contains(&command.trim()) {
            let folders = self.state.directories.iter().flatten();
            let tops = folders.filter_map(|folder| self.machine.repositories().top_of(folder));
            let tops: Vec<(String, bool)> =
                tops.map(|top| (top.to_string_lossy().into_owned(), false)).collect();
            if !tops.is_empty() {
                return tops;
            }
        }
        vec![(SOMETHING.to_string(), false), (String::new(), true)]
    }

    /// The values of a variable, and whether each is the empty one.
    fn values_of(&self, name: &str, otherwise: Option<&str>, must_be_set: bool) -> Vec<(String, bool)> {
        let (values, may_be_empty) = match (self.values.get(name), name) {
            (Some(found), _) => found,
            (None, "HOME") => return vec![(self.home_of(""), false)],
            (None, _) => ([].as_slice(), true),
        };
        let text = |value: &Value| match value {
            Value::Unknown(Unknown { why: Why::Parameter(name), lead, tail: Some(tail), .. })
                if name == "HOME" =>
            {
                Some(format!("{lead}{}{tail}", self.home_of("")))
            }
            value => known_path(value, self.machine),
        };
        let known = values.iter().filter(|value| may_be_path(value)).filter_map(text);
        let known = known.filter(|value| !value.is_empty());
        let mut all: Vec<(String, bool)> = known.map(|value| (value, false)).collect();
        match otherwise {
            Some(text) => all.push((text.to_owned(), false)),
            None if may_be_empty && !must_be_set => all.push((String::new(), true)),
            None => {}
        }
        if all.is_empty() {
            all.push((SOMETHING.to_string(), false));
        }
        all
    }

    /// The places that a path leads to, from each of the folders.
    fn places_of(&self, path: &str, folders: &[PathBuf]) -> Vec<Place> {
        let top = [PathBuf::from("/")];
        let through = through_process(path);
        let path = through.as_deref().unwrap_or(path);
        let folders = if path.starts_with('/') { top.as_slice() } else { folders };
        let mut all = Vec::new();
        for folder in folders {
            let full = folder.join(path);
            let place = Place::new(&without_links(&full), path.ends_with('/'));
            if let Some(real) = place.followed(self) {
                all.push(real);
            }
            all.push(place);
        }
        all
    }

    fn is_of_class(&self, place: &Place, class: TargetClass) -> bool {
        let path = place.path.as_path();
        let (root, home) = (self.machine.root(), self.machine.home());
        let fits = |list: &[&str]| place.text().is_some_and(|text| fits_listed(list, text));
        match class {
            TargetClass::Top => path == Path::new("/"),
            TargetClass::System => fits(RUIN_SYSTEM_FOLDERS) || place.may_match(RUIN_SYSTEM_FOLDERS),
            TargetClass::Home => {
                let own = home.is_some_and(|home| {
                    path == home
                        || place.may_match_path(home)
                        || path.strip_prefix(home).is_ok_and(|rest| {
                            rest.to_str().is_some_and(|rest| RUIN_HOME_FOLDERS.contains(&rest))
                        })
                });
                own || fits(RUIN_HOMES)
            }
            TargetClass::Root => path == root || place.may_match_path(root),
            TargetClass::Parent => {
                let holds = |inner: &Path| inner != path && inner.starts_with(path);
                holds(root)
                    || home.is_some_and(holds)
                    || root.ancestors().skip(1).any(|parent| place.may_match_path(parent))
            }
            TargetClass::Tree => {
                place.covers == Covers::Tree && self.is_of_class(place, TargetClass::Everything)
            }
            TargetClass::Everything => {
                let whole = [
                    TargetClass::Top,
                    TargetClass::System,
                    TargetClass::Home,
                    TargetClass::Root,
                    TargetClass::Parent,
                ];
                let names_files = place.covers != Covers::Itself && !place.names_folders;
                names_files
                    && !place.has_pattern()
                    && whole.iter().any(|class| self.is_of_class(place, *class))
            }
            TargetClass::Git => self.is_history(place),
            TargetClass::Mount => self.machine.is_mount_point(path) && !fits(RUIN_TEMPORARY_FOLDERS),
            TargetClass::Device => {
                place.covers == Covers::Itself
                    && (fits_pattern_of(RUIN_DEVICES, path) || self.machine.is_block_device(path))
            }
            TargetClass::SystemFile => {
                // What fits any name counts only if it is there.
                let listed =
                    |pattern: &&str| fits(&[*pattern]) && (!pattern.ends_with("/*") || path.is_file());
                RUIN_SYSTEM_FILES.iter().any(listed)
            }
            TargetClass::SharedBranch
            | TargetClass::Statement
            | TargetClass::Text
            | TargetClass::Session
            | TargetClass::SessionName
            | TargetClass::Work => false,
        }
    }

    /// Whether a path is the folder of a repository's history, or the part of it without which there is none.
    fn is_history(&self, place: &Place) -> bool {
        let path = place.path.as_path();
        let is_folder = |path: &Path| {
            let top = path.parent();
            let own = self.machine.repositories().top_of(self.machine.root());
            let is_own = top.is_some_and(|top| top == self.machine.root() || Some(top) == own);
            path.file_name().is_some_and(|name| name == ".git") && (is_own || path.is_dir())
        };
        is_folder(path)
            || place.may_match_path(&self.machine.root().join(".git"))
            || path.ancestors().skip(1).take(2).any(|folder| {
                is_folder(folder)
                    && path
                        .strip_prefix(folder)
                        .is_ok_and(|rest| rest.to_str().is_some_and(|rest| RUIN_GIT_PARTS.contains(&rest)))
            })
    }
}

/// Whether a value is short enough for a path.
fn may_be_path(value: &Value) -> bool {
    value.known().is_none_or(|text| text.len() <= MAX_PATH_BYTES)
}

/// What of a path is meant.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Covers {
    /// The file or folder itself.
    Itself,
    /// Everything in it: `/etc/*`.
    Folder,
    /// Everything in it and in the folders below it: `**`.
    Tree,
}

/// A path without `.` and `..`.
#[derive(Clone, Debug)]
struct Place {
    path: PathBuf,
    covers: Covers,
    /// Whether a slash is at its end: `*/`.
    names_folders: bool,
    /// Whether a link at its end is followed.
    follows: bool,
}

impl Place {
    /// Takes the patterns for everything off the end of a path.
    fn new(path: &Path, ends_with_slash: bool) -> Self {
        let mut path = path.to_owned();
        let mut covers = Covers::Itself;
        while path.file_name().and_then(|name| name.to_str()).is_some_and(is_everything) {
            let name = path.file_name().and_then(|name| name.to_str()).unwrap_or_default();
            if name.matches('*').count() > 1 {
                covers = Covers::Tree;
            } else if covers == Covers::Itself {
                covers = Covers::Folder;
            }
            path.pop();
        }
        let follows = covers != Covers::Itself || ends_with_slash;
        Self { path, covers, names_folders: ends_with_slash, follows }
    }

    fn text(&self) -> Option<&str> {
        self.path.to_str()
    }

    fn has_pattern(&self) -> bool {
        self.text().is_some_and(|text| text.contains(PATTERN))
    }

    /// Where it leads when links are followed; the one at its end only if it is used as a folder.
    fn followed(&self, judge: &Judge<'_>) -> Option<Self> {
        if self.text().is_none_or(|text| text.contains([PATTERN, SOMETHING])) {
            return None;
        }
        let real = match (self.follows, self.path.parent(), self.path.file_name()) {
            (false, Some(parent), Some(name)) => judge.machine.cached_destination(parent, "").join(name),
            _ => judge.machine.cached_destination(&self.path, ""),
        };
        Some(Self { path: real, ..self.clone() })
    }

    /// Whether a pattern in it may stand for a listed path.
    fn may_match(&self, list: &[&str]) -> bool {
        self.has_pattern()
            && list.iter().filter(|one| !one.contains('*')).any(|one| self.may_match_path(Path::new(one)))
    }

    /// Whether a pattern in it may stand for a path.
    fn may_match_path(&self, other: &Path) -> bool {
        let (Some(text), Some(other)) = (self.text().filter(|_| self.has_pattern()), other.to_str()) else {
            return false;
        };
        let pairs = || text.split('/').zip(other.split('/'));
        // No pattern stands for a name that begins with a dot.
        let fits = |(pattern, name): (&str, &str)| {
            !(pattern.starts_with(PATTERN) && name.starts_with('.')) && fits_pattern(&loosely(pattern), name)
        };
        text.split('/').count() == other.split('/').count() && pairs().all(fits)
    }
}

/// A path through the links of a process (`/proc/$$/cwd/x`, `/proc/1/root/x`), as if it were through those of this one. `None`:
/// it is another path.
fn through_process(path: &str) -> Option<String> {
    let (process, rest) = path.strip_prefix("/proc/")?.split_once('/')?;
    let is_other = process.chars().all(|c| c.is_ascii_digit() || c == SOMETHING);
    (is_other && (rest.starts_with("cwd") || rest.starts_with("root"))).then(|| format!("/proc/self/{rest}"))
}

/// A name in which each sign of a pattern may be anything.
fn loosely(name: &str) -> String {
    let mut all = String::new();
    let mut chars = name.chars();
    let mut in_brackets = false;
    while let Some(c) = chars.next() {
        match c {
            PATTERN => {
                let sign = chars.next();
                in_brackets = sign == Some('[') || in_brackets && sign != Some(']');
                all.push('*');
            }
            _ if in_brackets => {}
            c => all.push(c),
        }
    }
    all
}

/// Whether a name is a pattern that stands for everything in its folder.
fn is_everything(name: &str) -> bool {
    name.contains(PATTERN) && RUIN_EVERYTHING.contains(&name.replace(PATTERN, "").as_str())
}

/// Whether a path fits one of a list, in which `*` stands for anything inside a name.
fn fits_listed(list: &[&str], path: &str) -> bool {
    let depth = |path: &str| path.split('/').count();
    list.iter().any(|listed| {
        *listed == path || listed.contains('*') && depth(listed) == depth(path) && fits_pattern(listed, path)
    })
}

fn fits_pattern_of(list: &[&str], path: &Path) -> bool {
    path.to_str().is_some_and(|path| list.iter().any(|pattern| fits_pattern(pattern, path)))
}

/// Whether a path that begins so may go on as a device with data on it.
fn may_become_device(lead: &str) -> bool {
    lead.starts_with("/dev/")
        && RUIN_DEVICES.iter().any(|pattern| {
            let begin = pattern.trim_end_matches('*');
            begin.starts_with(lead) || lead.starts_with(begin)
        })
}

/// What a class of places is, for people.
const fn describe(class: TargetClass) -> &'static str {
    match class {
        TargetClass::Top => "the whole machine",
        TargetClass::Everything | TargetClass::Tree => "every file there",
        TargetClass::System => "a folder of the system",
        TargetClass::Home => "a home folder or what matters most in it",
        TargetClass::Root => "the root itself",
        TargetClass::Parent => "which the root or the home folder is in",
        TargetClass::Git => "the history of a repository",
        TargetClass::Mount => "where another disk is mounted",
        TargetClass::Device => "a device",
        TargetClass::SystemFile => "a file that the system needs",
        _ => "",
    }
}
