//! What the judge looks up on the machine: where programs are, whether a place is inside the root.

use std::cell::RefCell;
use std::collections::HashMap;
use std::ffi::OsString;
use std::os::unix::fs::MetadataExt as _;
use std::path::{Component, Path, PathBuf};

use crate::links::Links;
use crate::protection::Protected;

/// The machine, as the judged command will find it. Answers are remembered: one per judgement.
#[derive(Debug)]
pub struct World {
    root: PathBuf,
    directory: PathBuf,
    home: Option<PathBuf>,
    search_path: OsString,
    found: RefCell<HashMap<String, Found>>,
    protected: Option<Protected>,
    links: RefCell<Links>,
}

/// What a bare name leads to.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) enum Found {
    /// A file in a folder of PATH that is neither inside the root nor writable by others.
    Trusted(PathBuf),
    /// A file in another folder of PATH.
    Untrusted(PathBuf),
    /// Nothing: bash will say that it isn't found.
    Nowhere,
}

impl World {
    /// `root` is the folder that commands belong to, `directory` where this one starts, `search_path` its PATH.
    #[must_use]
    pub fn new(root: &Path, directory: &Path, home: Option<PathBuf>, search_path: OsString) -> Self {
        Self {
            root: root.to_owned(),
            directory: directory.to_owned(),
            home,
            search_path,
            found: RefCell::default(),
            protected: None,
            links: RefCell::default(),
        }
    }

    /// The same, with what no command may touch.
    #[must_use]
    pub fn protecting(self, protected: Protected) -> Self {
        Self { protected: Some(protected), ..self }
    }

    /// What no command may touch, if there is anything.
    pub(crate) fn protected(&self) -> Option<&Protected> {
        self.protected.as_ref()
    }

    /// The root.
    #[must_use]
    pub fn root(&self) -> &Path {
        &self.root
    }

    /// The user's home.
    #[must_use]
    pub fn home(&self) -> Option<&Path> {
        self.home.as_deref()
    }

    /// Where a bare name is found.
    pub(crate) fn find(&self, name: &str) -> Found {
        if let Some(found) = self.found.borrow().get(name) {
            return found.clone();
        }
        let found = self.search(name);
        self.found.borrow_mut().insert(name.to_owned(), found.clone());
        found
    }

    fn search(&self, name: &str) -> Found {
        let mut trusted = true;
        for folder in std::env::split_paths(&self.search_path) {
            // A folder that others can fill makes every later one a matter of luck.
            trusted &= self.is_trusted(&folder);
            let file = self.directory.join(&folder).join(name);
            let runs = std::fs::metadata(&file)
                .is_ok_and(|metadata| metadata.is_file() && metadata.mode() & 0o111 != 0);
            if runs {
                return if trusted { Found::Trusted(file) } else { Found::Untrusted(file) };
            }
        }
        Found::Nowhere
    }

    fn is_trusted(&self, folder: &Path) -> bool {
        if !folder.is_absolute() {
            return false;
        }
        // One that isn't there holds no program, and whoever could make it could do more.
        let Ok(real) = folder.canonicalize() else { return true };
        let Ok(metadata) = real.metadata() else { return false };
        let others_may_write = metadata.mode() & 0o002 != 0;
        !real.starts_with(&self.root) && !others_may_write
    }

    /// The file that a program's name with a slash leads to, links followed.
    pub(crate) fn program_file(&self, path: &str) -> Option<PathBuf> {
        self.directory.join(path).canonicalize().ok()
    }

    /// Where the command starts.
    pub(crate) fn directory(&self) -> &Path {
        &self.directory
    }

    /// Whether `path` leads into the root, from each of `directories`. `None`: from anywhere.
    pub(crate) fn is_inside(&self, path: &str, directories: Option<&[PathBuf]>) -> bool {
        let inside = |from: &Path| self.destination(from, path).starts_with(&self.root);
        match directories {
            Some(directories) => directories.iter().all(|from| inside(from)),
            None => path.starts_with('/') && inside(Path::new("/")),
        }
    }

    /// The same as [`destination`](Self::destination), for many paths: what was looked up is remembered.
    pub(crate) fn leads_to(&self, from: &Path, path: &str) -> PathBuf {
        self.links.borrow_mut().destination(&from.join(path))
    }

    /// Where `path` leads from a folder: links followed, whether it is there or not.
    #[must_use]
    pub fn destination(&self, from: &Path, path: &str) -> PathBuf {
        resolve(&from.join(path))
    }
}

/// As many links as the kernel follows before it calls them a loop.
const MOST_LINKS: u32 = 40;

/// Where an absolute path leads. What doesn't exist is taken as it is written; `..` after it goes back up.
pub(crate) fn resolve(path: &Path) -> PathBuf {
    if let Ok(real) = path.canonicalize() {
        return real;
    }
    let mut links = 0;
    let mut reached = PathBuf::from("/");
    let mut rest: Vec<OsString> = components(path);
    while let Some(next) = rest.pop() {
        if next == ".." {
            reached.pop();
            continue;
        }
        let step = reached.join(&next);
        match step.read_link() {
            Ok(target) if links < MOST_LINKS => {
                links += 1;
                if target.is_absolute() {
                    reached = PathBuf::from("/");
                }
                rest.extend(components(&target));
            }
            // Too many links: no command gets anywhere with it, and we don't call it inside.
            Ok(_) => return PathBuf::from("/"),
            Err(_) => reached = step,
        }
    }
    reached
}

/// The components of `path`, last first.
fn components(path: &Path) -> Vec<OsString> {
    let named = path.components().filter_map(|component| match component {
        Component::Normal(name) => Some(name.to_owned()),
        Component::ParentDir => Some("..".into()),
        Component::RootDir | Component::CurDir | Component::Prefix(_) => None,
    });
    let mut named: Vec<OsString> = named.collect();
    named.reverse();
    named
}
