//! Where the paths in a long command lead, without asking the system about every one: most lie in the same few folders.

use std::collections::{HashMap, HashSet};
use std::ffi::{OsStr, OsString};
use std::path::{Path, PathBuf};

use crate::world::resolve;

/// So many names of a folder are looked at one by one; for more, the folder is read once.
const ONE_BY_ONE: u32 = 64;

/// A folder with more entries than this isn't read.
const LARGEST: usize = 20_000;

/// What is known of folders, for the time of one judgement.
#[derive(Debug, Default)]
pub(crate) struct Links {
    folders: HashMap<PathBuf, Folder>,
}

#[derive(Debug)]
struct Folder {
    /// Where it leads.
    real: PathBuf,
    is_there: bool,
    looked: u32,
    /// The names in it that are links, once it was read.
    links: Option<HashSet<OsString>>,
}

impl Links {
    /// Where an absolute path leads: links followed, whether it is there or not.
    pub(crate) fn destination(&mut self, path: &Path) -> PathBuf {
        // A path that ends in `..` has no name.
        let (Some(parent), Some(name)) = (path.parent(), path.file_name()) else { return resolve(path) };
        let folder = self.folders.entry(parent.to_owned()).or_insert_with(|| Folder::new(parent));
        if folder.has_link(name) { resolve(path) } else { folder.real.join(name) }
    }
}

impl Folder {
    fn new(path: &Path) -> Self {
        let real = resolve(path);
        let is_there = real.is_dir();
        Self { real, is_there, looked: 0, links: None }
    }

    fn has_link(&mut self, name: &OsStr) -> bool {
        if let Some(links) = &self.links {
            return links.contains(name);
        }
        self.looked += 1;
        if self.looked == ONE_BY_ONE {
            self.links = links_in(&self.real);
        }
        self.is_there && self.real.join(name).is_symlink()
    }
}

/// The names in a folder that are links; `None` when it has too many names, or can't be read.
fn links_in(folder: &Path) -> Option<HashSet<OsString>> {
    let mut links = HashSet::new();
    for (count, entry) in std::fs::read_dir(folder).ok()?.enumerate() {
        let entry = entry.ok().filter(|_| count < LARGEST)?;
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
    fn it_leads_where_resolving_leads() {
        let folder = tempfile::tempdir().unwrap();
        let root = folder.path().canonicalize().unwrap();
        std::fs::create_dir_all(root.join("a/b")).unwrap();
        std::fs::write(root.join("a/file"), "").unwrap();
        for (link, to) in [("up", ".."), ("a/file-link", "file"), ("a/away", "/etc"), ("a/dangling", "x/y")] {
            std::os::unix::fs::symlink(to, root.join(link)).unwrap();
        }
        let mut links = Links::default();
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
            "no/../a/away",
            ".",
            "a/b/../away",
            "/",
        ];
        paths.extend(odd.map(str::to_owned));
        // Twice: before and after folders were read.
        for path in paths.iter().chain(&paths) {
            let path = root.join(path);
            assert_eq!(links.destination(&path), resolve(&path), "{}", path.display());
        }
    }
}
