//! Repositories of git on disk: whether the one that git finds from a folder has settings that can name programs.
//!
//! Git looks for `.git` in its folder and then upwards, and takes a folder that has a repository's layout for one. The
//! root's own repository is trusted: what writes its settings is judged when it happens. Another repository is harmless
//! if each of its settings is on a list of those that run nothing, and it has no hooks. Git also works in the
//! repositories of submodules, and pushes into repositories on the same machine.

mod index;
mod nested;
mod remotes;
mod settings;
mod work;

use std::cell::{OnceCell, RefCell};
use std::collections::HashMap;
use std::fs;
use std::os::unix::fs::MetadataExt as _;
use std::path::{Path, PathBuf};

use crate::git_settings::{Settings, files_of_user};
use crate::{paths, short_file};

/// Longer settings are not read.
const MAX_CONFIG_BYTES: u64 = 64 << 10;

/// Submodules of submodules are followed so deep.
const MAX_DEPTH: usize = 8;

/// If a repository has more submodules, it isn't known whether they are harmless.
const MAX_SUBMODULES: usize = 1000;

/// The repositories of a machine, as git finds them. It remembers what it found.
#[derive(Debug)]
pub(crate) struct Repositories {
    /// The top of the root's own repository.
    own: Option<PathBuf>,
    /// The user's home.
    home: Option<PathBuf>,
    /// Folders, and whether git takes them for the top of a repository.
    tops: RefCell<HashMap<PathBuf, bool>>,
    /// Folders, and whether git runs nothing when it is started there.
    started_in: RefCell<HashMap<PathBuf, bool>>,
    /// The same, if what git finds first may vanish.
    vanishing: RefCell<HashMap<PathBuf, bool>>,
    /// Tops of repositories, and whether they run nothing.
    known: RefCell<HashMap<PathBuf, bool>>,
    /// Folders, and whether no repository below them runs anything.
    walked: RefCell<HashMap<PathBuf, bool>>,
    /// The settings of the root's own repository, if they can be read.
    settings: OnceCell<Option<settings::Found>>,
    /// What they may name.
    named: OnceCell<Vec<PathBuf>>,
    /// The same, with all of the ignored folders.
    walked_wholly: RefCell<HashMap<PathBuf, bool>>,
}

impl Repositories {
    pub(crate) fn new(root: &Path, home: Option<&Path>) -> Self {
        let mut repositories = Self {
            own: None,
            home: home.map(Path::to_owned),
            tops: RefCell::default(),
            started_in: RefCell::default(),
            vanishing: RefCell::default(),
            known: RefCell::default(),
            walked: RefCell::default(),
            settings: OnceCell::new(),
            named: OnceCell::new(),
            walked_wholly: RefCell::default(),
        };
        repositories.own = repositories.top_of(root).map(Path::to_owned);
        repositories
    }

    /// The folder at or above `folder` that git takes for the top of a repository.
    pub(crate) fn top_of<'a>(&self, folder: &'a Path) -> Option<&'a Path> {
        folder.ancestors().find(|folder| remember(&self.tops, folder, || holds_repository(folder)))
    }

    /// Whether git, started in `folder`, finds no repository, the one of the root, or one whose settings run nothing, and
    /// the same of their submodules. `may_vanish`: what is found first may be gone when git looks for it.
    pub(crate) fn is_harmless_in(&self, folder: &Path, may_vanish: bool) -> bool {
        let known = if may_vanish { &self.vanishing } else { &self.started_in };
        remember(known, folder, || {
            for top in folder.ancestors() {
                if !remember(&self.tops, top, || holds_repository(top)) {
                    continue;
                }
                if !self.is_harmless_top(top, 0) {
                    return false;
                }
                if self.own.as_deref() == Some(top) {
                    break;
                }
                // Git takes no folder for a repository that lacks a part of one. It goes on with the folder itself, and then upwards.
                let is_certain = !may_vanish && place_of(top).is_some_and(|place| is_whole(&place));
                if is_certain {
                    break;
                }
                if has_layout(top) && !runs_nothing_at(top, top, self.own.as_deref()).unwrap_or(false) {
                    return false;
                }
            }
            true
        })
    }

    /// The same of every repository in and below a folder, which may become a submodule. `takes_ignored`: also in folders that
    /// git ignores.
    pub(crate) fn is_harmless_below(&self, folder: &Path, takes_ignored: bool) -> bool {
        let walked = if takes_ignored { &self.walked_wholly } else { &self.walked };
        remember(walked, folder, || {
            let top = self.top_of(folder).unwrap_or(folder);
            let tops = nested::tops_below(folder, top, takes_ignored);
            tops.is_some_and(|tops| tops.iter().all(|top| self.is_harmless_top(top, 1)))
        })
    }

    /// Whether the addresses in the settings that git finds in `folder` are harmless to push to.
    pub(crate) fn has_harmless_remotes(&self, folder: &Path, may_change: &dyn Fn(&Path) -> bool) -> bool {
        let Some(top) = self.top_of(folder) else { return true };
        let Some(place) = place_of(top) else { return false };
        let Some(common) = common_place(&place) else { return false };
        let files = settings::files(&place, &common);
        let settings =
            Settings::of([files, files_of_user(self.home.as_deref(), None)].concat(), self.home.as_deref());
        !remotes::has_remote_files(&common)
            && common.join("config").is_file()
            && settings.is_certain
            && settings::addresses(&settings)
                .all(|address| self.is_harmless_address(&address, top, may_change))
            && !settings::rewrites(&settings).any(remotes::is_local)
    }

    /// Whether an address, taken from a folder, leads to no repository on this machine or to one that runs nothing.
    /// `may_change`: whether a path may lead elsewhere when git follows it.
    pub(crate) fn is_harmless_address(
        &self,
        address: &str,
        from: &Path,
        may_change: &dyn Fn(&Path) -> bool,
    ) -> bool {
        remotes::places(address, from, self.home.as_deref()).is_some_and(|places| {
            places.iter().all(|place| {
                let real = || place.canonicalize().unwrap_or_else(|_| place.clone());
                !may_change(place) && (!holds_repository(place) || self.is_harmless_in(&real(), false))
            })
        })
    }

    /// The files and folders that the settings of the root's own repository may name: programs, hooks, other settings.
    pub(crate) fn named_by_settings(&self) -> &[PathBuf] {
        let home = self.home.as_deref();
        self.named.get_or_init(|| self.settings().map(|found| found.named(home)).unwrap_or_default())
    }

    /// Whether the settings of the root's own repository can be read with certainty. A sandbox protects what they name, as far as
    /// that is known.
    pub(crate) fn are_settings_certain(&self) -> bool {
        self.own.is_none() || self.settings().is_some_and(|found| found.are_certain)
    }

    fn settings(&self) -> Option<&settings::Found> {
        let find = || settings::Found::of(self.own.as_deref()?, self.home.as_deref());
        self.settings.get_or_init(find).as_ref()
    }

    fn is_harmless_top(&self, top: &Path, depth: usize) -> bool {
        depth <= MAX_DEPTH
            && remember(&self.known, top, || {
                let own = self.own.as_deref();
                let is_own = own == Some(top);
                (is_own || runs_nothing(top, own).unwrap_or(false))
                    && self.has_harmless_submodules(top, depth).unwrap_or(false)
            })
    }

    /// Whether the submodules of the repository at `top` are harmless. `None`: they can't be known.
    fn has_harmless_submodules(&self, top: &Path, depth: usize) -> Option<bool> {
        let gitlinks = index::gitlinks(&place_of(top)?)?;
        let is_harmless = |path: &PathBuf| match path.as_os_str().as_encoded_bytes().last() {
            // A folder of a sparse index.
            Some(b'/') => self.is_harmless_below(&top.join(path), false),
            _ => {
                let top = top.join(path);
                top.join(".git").symlink_metadata().is_err() || self.is_harmless_top(&top, depth + 1)
            }
        };
        Some(gitlinks.len() <= MAX_SUBMODULES && gitlinks.iter().all(is_harmless))
    }
}

/// A path without `.` and `..`, and where its folder leads if that exists.
fn plain(path: &Path) -> PathBuf {
    paths::resolve(path).unwrap_or_else(|_| path.to_owned())
}

fn remember(answers: &RefCell<HashMap<PathBuf, bool>>, path: &Path, find: impl FnOnce() -> bool) -> bool {
    let known = answers.borrow().get(path).copied();
    known.unwrap_or_else(|| {
        let answer = find();
        answers.borrow_mut().insert(path.to_owned(), answer);
        answer
    })
}

/// Whether a path is inside a folder that has a repository's layout.
pub(crate) fn is_in_layout(path: &Path) -> bool {
    path.ancestors().skip(1).any(has_layout)
}

/// Whether git takes this folder for the top of a repository, or for a repository itself.
pub(crate) fn holds_repository(folder: &Path) -> bool {
    folder.join(".git").symlink_metadata().is_ok() || has_layout(folder)
}

/// Whether a folder may be a repository by what is in it. Git wants more than `HEAD`, but nothing without it.
fn has_layout(folder: &Path) -> bool {
    folder.join("HEAD").symlink_metadata().is_ok()
}

/// Whether the repository at `top` has settings and hooks that run nothing. `None`: that can't be read.
fn runs_nothing(top: &Path, own: Option<&Path>) -> Option<bool> {
    runs_nothing_at(&place_of(top)?, top, own)
}

/// The same, of the repository in the folder `place`.
fn runs_nothing_at(place: &Path, top: &Path, own: Option<&Path>) -> Option<bool> {
    let common = common_place(place)?;
    if place.join("config.worktree").symlink_metadata().is_ok() {
        return Some(false);
    }
    // A worktree or a submodule of the root's own repository, which keeps their settings.
    if own.and_then(place_of).is_some_and(|own| common.starts_with(own)) {
        return Some(true);
    }
    let config = read(&common.join("config"))?;
    let is_top = |path: &str| Some(place.join(path).canonicalize().ok()? == top.canonicalize().ok()?);
    Some(has_no_hooks(&common)? && settings::are_harmless(&config, is_top))
}

/// Whether git certainly takes a folder for a repository: it has all the parts of one.
fn is_whole(place: &Path) -> bool {
    let is_head = |text: String| {
        let is_id = |text: &str| text.len() >= 40 && text.bytes().all(|c| c.is_ascii_hexdigit());
        text.starts_with("ref: refs/") || is_id(text.trim_end())
    };
    let is_open = |folder: PathBuf| {
        fs::metadata(folder).is_ok_and(|found| found.is_dir() && found.mode() & 0o111 == 0o111)
    };
    let head = place.join("HEAD");
    head.symlink_metadata().is_ok_and(|found| found.is_file())
        && read(&head).is_some_and(is_head)
        && common_place(place)
            .is_some_and(|common| is_open(common.join("objects")) && is_open(common.join("refs")))
}

/// The folder that holds the repository whose top is `top`.
fn place_of(top: &Path) -> Option<PathBuf> {
    let git = top.join(".git");
    let place = match fs::metadata(&git) {
        Ok(metadata) if metadata.is_dir() => git,
        Ok(_) => top.join(without_line_ends(read(&git)?.strip_prefix("gitdir: ")?)),
        Err(_) => top.to_owned(),
    };
    place.canonicalize().ok()
}

/// The folder with the settings that a worktree's folder shares with its repository.
fn common_place(place: &Path) -> Option<PathBuf> {
    let file = place.join("commondir");
    if file.symlink_metadata().is_err() {
        return Some(place.to_owned());
    }
    place.join(without_line_ends(&read(&file)?)).canonicalize().ok()
}

/// A path as git reads it from a file: blanks are a part of it.
fn without_line_ends(text: &str) -> &str {
    text.trim_end_matches(['\n', '\r'])
}

fn read(file: &Path) -> Option<String> {
    String::from_utf8(short_file::read(file, MAX_CONFIG_BYTES)?).ok()
}

/// Whether a repository has no hooks but the examples that git puts there. `None`: the folder can't be read.
fn has_no_hooks(common: &Path) -> Option<bool> {
    let hooks = common.join("hooks");
    if hooks.symlink_metadata().is_err() {
        return Some(true);
    }
    let is_example = |entry: fs::DirEntry| entry.file_name().to_string_lossy().ends_with(".sample");
    Some(fs::read_dir(hooks).ok()?.flatten().all(is_example))
}
