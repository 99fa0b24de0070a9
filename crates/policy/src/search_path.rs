//! The folders of PATH: which of them may hold a program of some name.
//!
//! A text can name thousands of programs. After a few lookups a folder is read once, and the names that it doesn't hold
//! take no further system call.

use std::cell::{Cell, OnceCell, RefCell};
use std::collections::{HashMap, HashSet};
use std::ffi::OsStr;
use std::io;
use std::os::unix::fs::MetadataExt as _;
use std::path::{Path, PathBuf};
use std::rc::Rc;

/// How many names of a folder are looked at one by one. For more, the folder is read once.
const MAX_SINGLE_LOOKUPS: u32 = 16;

/// A folder with more entries than this isn't read.
const MAX_FOLDER_ENTRIES: usize = 20_000;

/// The folders of PATH in their order. It remembers what it read.
#[derive(Debug, Default)]
pub(crate) struct SearchPath {
    folders: Vec<ProgramFolder>,
}

/// A folder of PATH.
#[derive(Debug)]
pub(crate) struct ProgramFolder {
    /// As PATH names it.
    pub(crate) listed: PathBuf,
    /// As it is found from the folder that the command starts in.
    place: PathBuf,
    real: OnceCell<Option<PathBuf>>,
    /// Shared by all folders of PATH.
    real_folders: Rc<RealFolders>,
    others_may_write: OnceCell<bool>,
    lookups: Cell<u32>,
    /// The names in it, in lower case. `None`: it can't be read.
    names: OnceCell<Option<HashSet<String>>>,
}

impl SearchPath {
    /// The folders of `search_path`, for a command that starts in `directory`.
    pub(crate) fn new(directory: &Path, search_path: &OsStr) -> Self {
        let real_folders = Rc::new(RealFolders::default());
        let folder = |listed: PathBuf| ProgramFolder {
            place: directory.join(&listed),
            listed,
            real: OnceCell::new(),
            real_folders: Rc::clone(&real_folders),
            others_may_write: OnceCell::new(),
            lookups: Cell::new(0),
            names: OnceCell::new(),
        };
        Self { folders: std::env::split_paths(search_path).map(folder).collect() }
    }

    pub(crate) fn folders(&self) -> impl Iterator<Item = &ProgramFolder> {
        self.folders.iter()
    }
}

impl ProgramFolder {
    /// Where the folder leads, links followed. `None`: it doesn't exist.
    pub(crate) fn real(&self) -> Option<&Path> {
        self.real.get_or_init(|| self.real_folders.real(&self.place)).as_deref()
    }

    /// Whether it is this folder, which may not exist yet.
    pub(crate) fn leads_to(&self, folder: &Path) -> bool {
        self.real().unwrap_or(&self.place) == folder
    }

    /// Whether other users may write the folder. It counts as written by others if that can't be known.
    pub(crate) fn others_may_write(&self) -> bool {
        *self.others_may_write.get_or_init(|| {
            let metadata = self.real().and_then(|real| real.metadata().ok());
            metadata.is_none_or(|metadata| metadata.mode() & 0o002 != 0)
        })
    }

    /// Where a name in the folder leads, links followed. `None`: nothing is there.
    pub(crate) fn real_file(&self, name: &str) -> Option<PathBuf> {
        self.real_folders.real(&self.place.join(name))
    }

    /// The path of a name in the folder. `None`: the folder certainly doesn't hold it.
    pub(crate) fn file(&self, name: &str) -> Option<PathBuf> {
        self.may_hold(name).then(|| self.place.join(name))
    }

    fn may_hold(&self, name: &str) -> bool {
        // Reading a folder doesn't list these.
        if matches!(name, "" | "." | "..") || name.contains('/') {
            return true;
        }
        let Some(real) = self.real() else { return false };
        if self.lookups.get() < MAX_SINGLE_LOOKUPS {
            self.lookups.set(self.lookups.get() + 1);
            return true;
        }
        let names = self.names.get_or_init(|| names_in(real));
        names.as_ref().is_none_or(|names| names.contains(&name.to_lowercase()))
    }
}

/// Where folders lead, links followed. The folders of PATH share most of their parents (`/usr/local/bin`, `/usr/local/sbin`),
/// and each parent is looked at once.
#[derive(Debug, Default)]
struct RealFolders(RefCell<HashMap<PathBuf, Option<PathBuf>>>);

impl RealFolders {
    /// The same as [`Path::canonicalize`].
    fn real(&self, folder: &Path) -> Option<PathBuf> {
        // A path that ends in `..` has no name.
        let (Some(parent), Some(name)) = (folder.parent(), folder.file_name()) else {
            return folder.canonicalize().ok();
        };
        if let Some(known) = self.0.borrow().get(folder) {
            return known.clone();
        }
        let place = self.real(parent).map(|parent| parent.join(name));
        let real = place.and_then(|place| match place.read_link() {
            // It exists and is no link.
            Err(error) if error.kind() == io::ErrorKind::InvalidInput => Some(place),
            Ok(_) | Err(_) => folder.canonicalize().ok(),
        });
        self.0.borrow_mut().insert(folder.to_owned(), real.clone());
        real
    }
}

/// The names in a folder, in lower case: some file systems take `LS` for `ls`. `None` when it has too many names, or can't
/// be read.
fn names_in(folder: &Path) -> Option<HashSet<String>> {
    let mut names = HashSet::new();
    for (count, entry) in std::fs::read_dir(folder).ok()?.enumerate() {
        let entry = entry.ok().filter(|_| count < MAX_FOLDER_ENTRIES)?;
        // A name that is no text is none that a command is compared with.
        names.extend(entry.file_name().to_str().map(str::to_lowercase));
    }
    Some(names)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn reading_a_folder_changes_no_answer() {
        let folder = tempfile::tempdir().unwrap();
        std::fs::write(folder.path().join("tool"), "").unwrap();
        std::fs::write(folder.path().join("Tool2"), "").unwrap();
        let path = SearchPath::new(Path::new("/"), folder.path().as_os_str());
        let folder = path.folders().next().unwrap();
        for number in 0..MAX_SINGLE_LOOKUPS {
            assert!(folder.file(&format!("other{number}")).is_some_and(|file| !file.exists()));
        }
        assert!(folder.names.get().is_none());
        assert_eq!(folder.file("other"), None);
        assert!(folder.names.get().is_some());
        for name in ["tool", "Tool2", ".", "..", ""] {
            assert!(folder.file(name).is_some_and(|file| file.exists()), "{name:?}");
        }
    }

    #[test]
    fn folders_that_share_parents_lead_where_each_leads_alone() {
        let folder = tempfile::tempdir().unwrap();
        let root = folder.path();
        std::fs::create_dir_all(root.join("a/b/c")).unwrap();
        std::fs::write(root.join("a/file"), "").unwrap();
        for (link, to) in [("up", "a/.."), ("a/l", "b"), ("away", "/etc"), ("gone", "x/y"), ("loop", "loop")]
        {
            std::os::unix::fs::symlink(to, root.join(link)).unwrap();
        }
        let all = RealFolders::default();
        for path in [
            "a/b/c",
            "a/b",
            "a/l/c",
            "a/l",
            "up/a",
            "up/a/l/..",
            "a/b/../l/c",
            "away",
            "away/ssl",
            "gone",
            "gone/z",
            "loop",
            "loop/z",
            "a/file",
            "a/file/z",
            "no",
            "no/z",
            ".",
            "",
        ] {
            let path = root.join(path);
            assert_eq!(all.real(&path), path.canonicalize().ok(), "{}", path.display());
        }
        assert_eq!(all.real(Path::new("/")), Some(PathBuf::from("/")));
    }

    #[test]
    fn a_folder_that_does_not_exist_holds_nothing() {
        let path = SearchPath::new(Path::new("/"), OsStr::new("/nonexistent/folder"));
        assert_eq!(path.folders().next().and_then(|folder| folder.file("ls")), None);
    }
}
