//! Resolves paths: where a path leads when its links are followed, whether anything is there or not.
//!
//! [`resolve`] goes through a path name by name and follows every link, as `realpath -m` does. A name that doesn't exist is
//! taken as it is written, and a `..` behind it goes back up. The result is absolute and has no link, `.` or `..` in it,
//! so that "is it inside the root" is a comparison of names. `PathCache` gives the same answers for many paths with
//! fewer system calls.

use std::collections::hash_map::Entry;
use std::collections::{HashMap, HashSet};
use std::ffi::{OsStr, OsString};
use std::io;
use std::path::{Component, Path, PathBuf};

/// No system call takes a longer path.
pub(crate) const PATH_MAX_BYTES: usize = 4096;

/// As many links as the kernel follows before it calls them a loop.
const MAX_LINKS: u32 = 40;

/// A path has more links than the kernel follows; mostly, because they lead in a circle.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct TooManyLinks {
    /// The link that would have been one too many.
    pub at: PathBuf,
}

/// Where an absolute path leads. A relative path is taken from `/`.
///
/// # Errors
/// When it has more than 40 links. The kernel opens no such path.
pub fn resolve(path: &Path) -> Result<PathBuf, TooManyLinks> {
    let path = Path::new("/").join(path);
    // A path that exists needs one call.
    if let Ok(real) = path.canonicalize() {
        return Ok(real);
    }
    follow(&path, |_| {})
}

/// Folders in which a path stands for something else in each process: `/proc/self/exe`, `/dev/fd/3`.
const PROCESS_FOLDERS: [&str; 2] = ["/proc", "/dev"];

/// Whether a path, its links followed, goes through a folder in which each process finds something else.
pub(crate) fn depends_on_process(path: &Path) -> bool {
    let mut depends = false;
    let reached = follow(&Path::new("/").join(path), |step| {
        depends |= PROCESS_FOLDERS.iter().any(|folder| step.starts_with(folder));
    });
    depends || reached.is_err()
}

/// Goes through an absolute path name by name, and shows each place that it comes to.
fn follow(path: &Path, mut visit: impl FnMut(&Path)) -> Result<PathBuf, TooManyLinks> {
    let mut links = 0;
    let mut reached = PathBuf::from("/");
    // How many of the last names don't exist: below them is nothing to look at.
    let mut missing = 0_usize;
    let mut rest = names_backwards(path);
    while let Some(name) = rest.pop() {
        if name == ".." {
            reached.pop();
            missing = missing.saturating_sub(1);
            continue;
        }
        reached.push(&name);
        visit(&reached);
        if missing > 0 {
            missing += 1;
            continue;
        }
        match reached.read_link() {
            Ok(_) if links == MAX_LINKS => return Err(TooManyLinks { at: reached }),
            Ok(target) => {
                links += 1;
                reached.pop();
                if target.is_absolute() {
                    reached = PathBuf::from("/");
                }
                rest.extend(names_backwards(&target));
            }
            // It exists and is no link.
            Err(error) if error.kind() == io::ErrorKind::InvalidInput => {}
            Err(_) => missing = 1,
        }
    }
    Ok(reached)
}

/// Where a path leads, if anything is there. If not, one system call says so; canonicalizing takes one for each name.
pub(crate) fn canonical(path: &Path) -> Option<PathBuf> {
    path.exists().then(|| path.canonicalize().ok()).flatten()
}

/// The names in a path, the last one first. `..` is one of them.
fn names_backwards(path: &Path) -> Vec<OsString> {
    let names = path.components().rev().filter_map(|component| match component {
        Component::Normal(name) => Some(name.to_owned()),
        Component::ParentDir => Some("..".into()),
        Component::RootDir | Component::CurDir | Component::Prefix(_) => None,
    });
    names.collect()
}

/// The path without `.` and `..`, as the shell takes them out of the path that it remembers: as if it had no links.
pub(crate) fn without_links(path: &Path) -> PathBuf {
    let mut all = PathBuf::new();
    for part in path.components() {
        match part {
            Component::ParentDir => {
                all.pop();
            }
            Component::CurDir => {}
            part => all.push(part),
        }
    }
    all
}

/// How many names of a folder are looked at one by one. For more, the folder is read once.
const MAX_SINGLE_LOOKUPS: u32 = 64;

/// A folder with more entries than this isn't read.
const MAX_FOLDER_ENTRIES: usize = 20_000;

/// What is known of folders, for the time of one judgement. Most paths of a long command are in the same few folders.
#[derive(Debug, Default)]
pub(crate) struct PathCache {
    folders: HashMap<PathBuf, Folder>,
    /// Where paths without a last name lead: those that end in `..`.
    nameless: HashMap<PathBuf, PathBuf>,
}

#[derive(Debug)]
struct Folder {
    /// Where it leads.
    real: PathBuf,
    exists: bool,
    lookups: u32,
    /// The names in it that are links, once it was read.
    links: Option<HashSet<OsString>>,
}

impl PathCache {
    /// The same as [`resolve`].
    pub(crate) fn resolve(&mut self, path: &Path) -> Result<PathBuf, TooManyLinks> {
        // A path that ends in `..` has no name.
        let (Some(parent), Some(name)) = (path.parent(), path.file_name()) else {
            if let Some(real) = self.nameless.get(path) {
                return Ok(real.clone());
            }
            let real = resolve(path)?;
            self.nameless.insert(path.to_owned(), real.clone());
            return Ok(real);
        };
        let folder = match self.folders.entry(parent.to_owned()) {
            Entry::Occupied(entry) => entry.into_mut(),
            Entry::Vacant(entry) => entry.insert(Folder::new(parent)?),
        };
        if folder.has_link(name) { resolve(path) } else { Ok(folder.real.join(name)) }
    }
}

impl Folder {
    fn new(path: &Path) -> Result<Self, TooManyLinks> {
        let real = resolve(path)?;
        let exists = real.is_dir();
        Ok(Self { real, exists, lookups: 0, links: None })
    }

    fn has_link(&mut self, name: &OsStr) -> bool {
        if let Some(links) = &self.links {
            return links.contains(name);
        }
        self.lookups += 1;
        if self.lookups == MAX_SINGLE_LOOKUPS {
            self.links = links_in(&self.real);
        }
        self.exists && self.real.join(name).is_symlink()
    }
}

/// The names in a folder that are links. `None` when it has too many names, or can't be read.
pub(crate) fn links_in(folder: &Path) -> Option<HashSet<OsString>> {
    let mut links = HashSet::new();
    for (count, entry) in std::fs::read_dir(folder).ok()?.enumerate() {
        let entry = entry.ok().filter(|_| count < MAX_FOLDER_ENTRIES)?;
        if entry.file_type().ok()?.is_symlink() {
            links.insert(entry.file_name());
        }
    }
    Some(links)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn paths_through_folders_of_processes_are_found_by_any_spelling() {
        let folder = tempfile::tempdir().unwrap();
        let root = folder.path().canonicalize().unwrap();
        std::os::unix::fs::symlink("/proc/self", root.join("me")).unwrap();
        std::os::unix::fs::symlink("me/exe", root.join("exe")).unwrap();
        let up = "../".repeat(root.components().count());
        for path in ["/usr/../proc/self/exe", "/dev/fd/../exe", "/no/../proc/1", "me/exe", "exe"] {
            assert!(depends_on_process(&root.join(path)), "{path}");
        }
        assert!(depends_on_process(&root.join(format!("{up}proc/self/exe"))));
        for path in ["/usr/bin/env", "x", "/procs/x", "../proc"] {
            assert!(!depends_on_process(&root.join(path)), "{path}");
        }
    }

    #[test]
    fn the_cache_answers_as_resolving_does() {
        let folder = tempfile::tempdir().unwrap();
        let root = folder.path().canonicalize().unwrap();
        std::fs::create_dir_all(root.join("a/b")).unwrap();
        std::fs::write(root.join("a/file"), "").unwrap();
        for (link, to) in [
            ("up", ".."),
            ("a/file-link", "file"),
            ("a/away", "/etc"),
            ("a/dangling", "x/y"),
            ("loop", "loop"),
        ] {
            std::os::unix::fs::symlink(to, root.join(link)).unwrap();
        }
        let mut cache = PathCache::default();
        let mut paths: Vec<String> = (0..200).map(|n| format!("a/{n}")).collect();
        let odd = [
            "a",
            "a/",
            "a/.",
            "a/..",
            "up",
            "up/x",
            "a/away/passwd",
            "a/file-link",
            "a/dangling",
            "no/x",
            "loop",
            "loop/x",
            "no/../a/away",
            ".",
            "a/b/../away",
            "/",
        ];
        paths.extend(odd.map(str::to_owned));
        // Twice: before and after folders were read.
        for path in paths.iter().chain(&paths) {
            let path = root.join(path);
            assert_eq!(cache.resolve(&path), resolve(&path), "{}", path.display());
        }
    }
}
