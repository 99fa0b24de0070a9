//! Links that a text makes: a path that leads through one may lead anywhere.

use std::collections::HashMap;
use std::path::{Component, Path, PathBuf};
use std::rc::Rc;

use shellgate_syntax::{Value, Word};

use super::Judge;
use super::writers::{is_unpacker, may_unpack};
use crate::calls::Call;
use crate::programs::{Canonical, EffectKind, Property, base_name, has, words};
use crate::redirects::known_path;

/// If a text may make more links than this, it may make any.
const MAX_LINKS: usize = 64;

/// Names that the text may make into links, or below which it may make some. Every call is judged by a copy, so copies share
/// the names.
#[derive(Clone, Debug, Default)]
pub(super) struct MadeLinks {
    /// Each name, and how often the text may make it.
    names: Rc<HashMap<PathBuf, usize>>,
    /// How often the text may make any of the names.
    made: usize,
    /// Whether they may be anywhere.
    pub(super) anywhere: bool,
    /// The folders that `git clone` makes.
    clones: Rc<Vec<PathBuf>>,
    /// Whether one of them leads outside the root, or to somewhere unknown.
    leads_outside: bool,
}

impl Judge<'_> {
    /// Adds the links that a call may make.
    pub(super) fn note_links(&self, call: &Call, directories: Option<&[PathBuf]>, links: &mut MadeLinks) {
        let name = call.name();
        if !name.is_some_and(|name| has(name, Property::MakesLinks)) || links.anywhere {
            return;
        }
        if is_unpacker(call) && !may_unpack(call) {
            return;
        }
        let effects = call.meaning.effects.iter();
        let writes = effects.clone().filter_map(|effect| match &effect.kind {
            EffectKind::Writes(word) => Some(word),
            _ => None,
        });
        let reads = effects.filter_map(|effect| match &effect.kind {
            EffectKind::Reads(word) => Some(word),
            _ => None,
        });
        let writes: Vec<&Word> = writes.collect();
        if matches!(name, Some("ln" | "link")) || has_option(call, &["-s", "-l"]) && name == Some("cp") {
            links.leads_outside |=
                reads.clone().any(|target| !self.leads_inside(target, &writes, directories));
        }
        let is_file = |word: &&Word| self.is_file(word, directories, links);
        // The names that may become links, besides those that it writes.
        let mut names: Vec<Word> = Vec::new();
        match (name, call.meaning.subcommands.first().copied()) {
            // With one operand, `ln` makes a link of the same name here.
            (Some("ln" | "link"), _) => names.extend(reads.map(last_name)),
            (Some("cp"), _) if !has_option(call, words::CP_LINK_OPTIONS) => return,
            (Some("cp"), _)
                if !has_option(call, words::CP_LINK_MAKING_OPTIONS)
                    && reads.clone().all(|word| is_file(&word)) =>
            {
                return;
            }
            (Some("cp"), _) => {}
            (Some("mv"), _) if writes.split_last().is_some_and(|(_, from)| from.iter().all(is_file)) => {
                return;
            }
            (Some("mv"), _) => {}
            (Some("git"), Some("clone")) => {
                let target =
                    writes.first().map(|word| (*word).clone()).or_else(|| call.words.last().map(clone_name));
                let target = target.and_then(|word| self.moved(directories, Some(&word)));
                match target {
                    Some(target) => {
                        Rc::make_mut(&mut links.clones).extend(target.iter().cloned());
                        links.add(target);
                    }
                    None => links.anywhere = true,
                }
                return;
            }
            (Some("git"), Some(name)) if !words::GIT_TREE_SUBCOMMANDS.contains(&name) => return,
            _ => links.anywhere = true,
        }
        for word in writes.into_iter().cloned().chain(names) {
            match self.moved(directories, Some(&word)) {
                Some(names) => links.add(names),
                None => match self.loop_folders(&word, directories) {
                    Some(folders) => links.add(folders),
                    None => links.anywhere = true,
                },
            }
        }
    }

    /// Whether a new link to `target` leads inside the root.
    fn leads_inside(&self, target: &Word, names: &[&Word], directories: Option<&[PathBuf]>) -> bool {
        let Some(path) = known_path(&target.value, self.machine) else { return false };
        let Some(directories) = directories else { return false };
        let mut folders = directories.to_vec();
        for name in names {
            let Some(name) = known_path(&name.value, self.machine) else { return false };
            let parent = Path::new(&name).parent().map(Path::to_path_buf).unwrap_or_default();
            let places = directories.iter().flat_map(|from| {
                let place = from.join(&name);
                let below = place.is_dir().then_some(place);
                below.into_iter().chain([from.join(&parent)])
            });
            folders = places.collect();
        }
        self.machine.is_inside(&path, Some(&folders))
    }

    /// Whether a path is a plain file, from every folder: copying and moving it makes no link.
    fn is_file(&self, word: &Word, directories: Option<&[PathBuf]>, links: &MadeLinks) -> bool {
        let Some(path) = known_path(&word.value, self.machine) else { return false };
        let is_file = |place: &Path| place.symlink_metadata().is_ok_and(|metadata| metadata.is_file());
        directories.is_some_and(|directories| {
            directories
                .iter()
                .map(|from| from.join(&path))
                .all(|place| is_file(&place) && !links.may_hold(&place))
        })
    }

    /// Whether the path that a word names may lead through a link that the text makes.
    pub(super) fn may_follow_link(&self, path: &str) -> bool {
        let links = &self.state.links;
        let folders = self.state.directories.as_deref().unwrap_or_default();
        !links.names.is_empty()
            && (folders.iter().any(|from| links.may_hold(&from.join(path)))
                || folders.iter().any(|from| links.may_hold(&self.machine.cached_destination(from, path))))
    }
}

impl MadeLinks {
    fn add(&mut self, names: Vec<PathBuf>) {
        self.made += names.len();
        self.anywhere |= self.made > MAX_LINKS;
        let all = Rc::make_mut(&mut self.names);
        for name in names {
            *all.entry(name).or_default() += 1;
        }
    }

    /// Whether a link of the text leads outside the root, or to somewhere unknown.
    pub(super) fn leads_outside(&self) -> bool {
        self.leads_outside
    }

    pub(super) fn is_empty(&self) -> bool {
        self.count() == 0
    }

    /// How much is known to be made; it grows with each link.
    pub(super) fn count(&self) -> usize {
        self.made + usize::from(self.anywhere)
    }

    /// Whether a folder is a new clone that the text makes and nothing else: git itself writes its settings.
    pub(super) fn is_clone(&self, folder: &Path) -> bool {
        let made: usize = folder.ancestors().filter_map(|folder| self.names.get(folder)).sum();
        // If there may be links anywhere, one may have taken its place.
        made == 1 && !self.anywhere && self.clones.iter().any(|clone| clone == folder)
    }

    /// Whether a path may lead through one of the links.
    pub(super) fn may_hold(&self, path: &Path) -> bool {
        if self.names.is_empty() {
            return false;
        }
        let mut reached = PathBuf::new();
        path.components().any(|part| {
            match part {
                Component::ParentDir => {
                    reached.pop();
                }
                Component::CurDir => {}
                part => reached.push(part),
            }
            self.names.contains_key(&reached)
        })
    }
}

/// Whether a call has one of these options.
pub(super) fn has_option(call: &Call, options: &[&str]) -> bool {
    let is_one =
        |one: &Canonical| matches!(one, Canonical::Option(name, _) if options.contains(&name.as_str()));
    call.meaning.canonical.iter().any(is_one)
}

/// The folder that `git clone` makes of an address: its last name without `.git`.
fn clone_name(word: &Word) -> Word {
    let last = last_name(word);
    let name = last.value.known().map(|name| name.strip_suffix(".git").unwrap_or(name));
    let name = name.map(|name| name.rsplit(':').next().unwrap_or(name).to_owned());
    match name {
        Some(name) => Word { span: word.span, value: Value::Known(name) },
        None => last,
    }
}

/// The last name of a path, as a word.
fn last_name(word: &Word) -> Word {
    let value = match &word.value {
        Value::Known(path) => Value::Known(base_name(path).to_owned()),
        unknown @ Value::Unknown(_) => unknown.clone(),
    };
    Word { span: word.span, value }
}
