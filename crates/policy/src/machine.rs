//! What the judge looks up on the machine: where programs are, and where paths lead. Nothing else in this crate asks the
//! system.

use std::cell::{OnceCell, RefCell};
use std::collections::{HashMap, HashSet};
use std::ffi::OsString;
use std::os::unix::fs::{FileTypeExt as _, MetadataExt as _};
use std::path::{Path, PathBuf};

use crate::judge::temporary;
use crate::paths::{self, PathCache, TooManyLinks};
use crate::program_names::ProgramNames;
use crate::protection::Protected;
use crate::repository::{self, Repositories};
use crate::search_path::{ProgramFolder, SearchPath};
use crate::secrets::Secrets;

/// Folders of programs on every machine, on PATH or not.
const PROGRAM_FOLDERS: [&str; 6] =
    ["/bin", "/sbin", "/usr/bin", "/usr/sbin", "/usr/local/bin", "/usr/local/sbin"];

/// Where every machine has temporary files.
const TEMPORARY_FOLDER: &str = "/tmp";

/// Where the kernel lists the mount points.
const MOUNTS: &str = "/proc/self/mountinfo";

/// The machine as the judged command will find it. It remembers its answers, so one is made for each judgement.
#[derive(Debug)]
pub struct Machine {
    root: PathBuf,
    directory: PathBuf,
    home: Option<PathBuf>,
    search_path: OsString,
    program_folders: OnceCell<SearchPath>,
    protected: Option<Protected>,
    programs: RefCell<HashMap<String, Found>>,
    paths: RefCell<PathCache>,
    secrets: OnceCell<Secrets>,
    /// Pairs of a program and one that a rule names, and whether they are the same.
    matches: RefCell<HashMap<String, HashMap<String, bool>>>,
    /// Folders, and whether they are in one that has a repository's layout.
    layouts: RefCell<HashMap<PathBuf, bool>>,
    repositories: OnceCell<Repositories>,
    /// Folders, and whether they hold a link that leads outside the root.
    outward_links: RefCell<HashMap<PathBuf, bool>>,
    /// Paths, and whether a program file is there. `None`: nothing is.
    program_files: RefCell<HashMap<PathBuf, Option<bool>>>,
    mount_points: OnceCell<HashSet<PathBuf>>,
    temporary_folders: Vec<PathBuf>,
    /// Other places that commands may write, besides the root.
    writable: Vec<PathBuf>,
}

/// Where a program was found by its name.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) enum Found {
    /// In a folder of PATH. Commands can write neither that folder, nor one before it on PATH, nor what a link at the name leads to;
    /// nor can other users.
    Trusted(PathBuf),
    /// In another folder of PATH.
    Untrusted(PathBuf),
    /// Nowhere: bash will say that it isn't found.
    Nowhere,
}

impl Machine {
    /// `root` is the folder that commands belong to, `directory` where this one starts, `search_path` its PATH.
    #[must_use]
    pub fn new(root: &Path, directory: &Path, home: Option<PathBuf>, search_path: OsString) -> Self {
        Self {
            root: root.to_owned(),
            directory: directory.to_owned(),
            home,
            program_folders: OnceCell::new(),
            search_path,
            protected: None,
            programs: RefCell::default(),
            paths: RefCell::default(),
            secrets: OnceCell::new(),
            matches: RefCell::default(),
            layouts: RefCell::default(),
            repositories: OnceCell::new(),
            outward_links: RefCell::default(),
            program_files: RefCell::default(),
            mount_points: OnceCell::new(),
            temporary_folders: vec![PathBuf::from(TEMPORARY_FOLDER)],
            writable: Vec::new(),
        }
    }

    /// The same machine, on which commands may write these places, too. They have no links.
    #[must_use]
    pub fn with_writable(self, places: &[PathBuf]) -> Self {
        Self { writable: places.to_vec(), ..self }
    }

    /// The same machine, on which commands have another folder for temporary files, besides `/tmp`.
    #[must_use]
    pub fn with_temporary_folder(mut self, folder: Option<&Path>) -> Self {
        self.temporary_folders.extend(folder.and_then(|folder| folder.canonicalize().ok()));
        self
    }

    /// Whether a path is a folder for temporary files.
    pub(crate) fn is_temporary_folder(&self, path: &Path) -> bool {
        self.temporary_folders.iter().any(|folder| folder == path)
    }

    /// Whether a place is below a folder for temporary files, and belongs to this user. The place has no links.
    pub(crate) fn is_temporary(&self, place: &Path) -> bool {
        let kept = [Some(self.root()), self.home()];
        let kept: Vec<&Path> = kept.into_iter().flatten().collect();
        temporary::is_below(place, &self.temporary_folders, &kept)
    }

    /// The same machine, with paths that no command may touch.
    #[must_use]
    pub fn protecting(self, protected: Protected) -> Self {
        Self { protected: Some(protected), ..self }
    }

    /// The paths that no command may touch, if there are any.
    pub(crate) fn protected(&self) -> Option<&Protected> {
        self.protected.as_ref()
    }

    /// The files that hold secrets.
    pub(crate) fn secrets(&self) -> &Secrets {
        self.secrets.get_or_init(|| Secrets::new(self.home(), &self.root))
    }

    /// The repositories of git.
    pub(crate) fn repositories(&self) -> &Repositories {
        self.repositories.get_or_init(|| Repositories::new(&self.root, self.home()))
    }

    /// The root.
    pub(crate) fn root(&self) -> &Path {
        &self.root
    }

    /// The folder that the command starts in.
    pub(crate) fn directory(&self) -> &Path {
        &self.directory
    }

    /// The user's home.
    pub(crate) fn home(&self) -> Option<&Path> {
        self.home.as_deref()
    }

    /// Finds entries of programs by the files that they lead to.
    pub(crate) fn program_names(&self) -> ProgramNames {
        ProgramNames::new(self.directory.clone(), &self.search_path)
    }

    /// The folders of PATH in their order. Many texts only have builtins, and need none.
    fn program_folders(&self) -> impl Iterator<Item = &ProgramFolder> {
        self.program_folders.get_or_init(|| SearchPath::new(&self.directory, &self.search_path)).folders()
    }

    /// Whether a folder, named by a path or by the beginning of one, is on PATH.
    pub(crate) fn has_programs(&self, folder: &str) -> bool {
        let folder = Path::new(folder);
        let real = folder.canonicalize().unwrap_or_else(|_| folder.to_owned());
        folder.to_str().is_some_and(|folder| PROGRAM_FOLDERS.contains(&folder))
            || folder.is_absolute()
                && self
                    .program_folders()
                    .any(|one| one.listed == folder || one.real().is_some_and(|one| one == real))
    }

    /// Whether a folder, links followed, is one of PATH.
    pub(crate) fn is_program_folder(&self, folder: &Path) -> bool {
        self.program_folders().any(|one| one.leads_to(folder))
    }

    /// Whether PATH has folders that depend on where a program starts.
    pub(crate) fn has_relative_program_folders(&self) -> bool {
        self.program_folders().any(|one| !one.listed.is_absolute())
    }

    /// Where the program of this name is found. The name has no slash.
    pub(crate) fn find(&self, name: &str) -> Found {
        if let Some(found) = self.programs.borrow().get(name) {
            return found.clone();
        }
        let found = self.search(name);
        self.programs.borrow_mut().insert(name.to_owned(), found.clone());
        found
    }

    fn search(&self, name: &str) -> Found {
        let mut trusted = true;
        for folder in self.program_folders() {
            // A program in a folder that others can write may hide one of a later folder.
            trusted &= self.is_trusted(folder);
            let Some(file) = folder.file(name) else { continue };
            let is_program = std::fs::metadata(&file)
                .is_ok_and(|metadata| metadata.is_file() && metadata.mode() & 0o111 != 0);
            if is_program {
                let is_trusted =
                    trusted && folder.real_file(name).is_some_and(|file| !self.may_be_written(&file));
                return if is_trusted { Found::Trusted(file) } else { Found::Untrusted(file) };
            }
        }
        Found::Nowhere
    }

    /// Whether commands may write a place, and so what programs are there. The place has no links. A folder of PATH that is a temporary
    /// one is the user's own choice, as tests and containers make it.
    fn may_be_written(&self, place: &Path) -> bool {
        let mut open = self.writable.iter().filter(|writable| !self.is_temporary_folder(writable));
        place.starts_with(&self.root) || open.any(|writable| place.starts_with(writable))
    }

    fn is_trusted(&self, folder: &ProgramFolder) -> bool {
        if !folder.listed.is_absolute() {
            return false;
        }
        // A folder that doesn't exist holds no program. Making it takes the right to write its parent.
        let Some(real) = folder.real() else { return true };
        !self.may_be_written(real) && !folder.others_may_write()
    }

    /// Whether a program is the one that a rule names. `compare` is asked once for each pair.
    pub(crate) fn remember_match(&self, program: &str, wanted: &str, compare: impl FnOnce() -> bool) -> bool {
        let known = self.matches.borrow().get(wanted).and_then(|programs| programs.get(program).copied());
        known.unwrap_or_else(|| {
            let found = compare();
            let mut matches = self.matches.borrow_mut();
            matches.entry(wanted.to_owned()).or_default().insert(program.to_owned(), found);
            found
        })
    }

    /// The file of a program that is named by a path, links followed.
    pub(crate) fn program_file(&self, path: &str) -> Option<PathBuf> {
        paths::canonical(&self.directory.join(path))
    }

    /// Whether `path` leads into the root from each of `directories`. `None`: from anywhere.
    pub(crate) fn is_inside(&self, path: &str, directories: Option<&[PathBuf]>) -> bool {
        // A link on the disk may have been replaced by a folder when the path is used: `..` behind it leads elsewhere then.
        let leads_up = path.split('/').any(|name| name == "..");
        let inside_without_links = |from: &Path| {
            let place = from.join(path);
            let is_below =
                from.starts_with(&self.root) && (!path.starts_with('/') || place.starts_with(&self.root));
            !is_below || paths::without_links(&place).starts_with(&self.root)
        };
        let inside = |from: &Path| {
            self.cached_destination(from, path).starts_with(&self.root)
                && (!leads_up || inside_without_links(from))
        };
        match directories {
            Some(directories) => directories.iter().all(|from| inside(from)),
            None => path.starts_with('/') && inside(Path::new("/")),
        }
    }

    /// Whether a path leads to a file that can be run. `None`: nothing is there.
    pub(crate) fn is_program_file(&self, path: &Path) -> Option<bool> {
        let known = self.program_files.borrow().get(path).copied();
        known.unwrap_or_else(|| {
            let metadata = std::fs::metadata(path).ok();
            let is_program = metadata.map(|found| found.is_file() && found.mode() & 0o111 != 0);
            self.program_files.borrow_mut().insert(path.to_owned(), is_program);
            is_program
        })
    }

    /// Whether another file system begins at a path.
    pub(crate) fn is_mount_point(&self, path: &Path) -> bool {
        let points = self.mount_points.get_or_init(|| {
            let text = std::fs::read_to_string(MOUNTS).unwrap_or_default();
            // A blank in a path is written as a number there, and such a path isn't found.
            text.lines().filter_map(|line| line.split(' ').nth(4)).map(PathBuf::from).collect()
        });
        points.contains(path)
    }

    /// Whether a path leads to a device that keeps data in blocks.
    pub(crate) fn is_block_device(&self, path: &Path) -> bool {
        std::fs::metadata(path).is_ok_and(|found| found.file_type().is_block_device())
    }

    /// Whether a path is inside a folder that git may take for a repository.
    pub(crate) fn is_in_repository_layout(&self, path: &Path) -> bool {
        let Some(folder) = path.parent() else { return false };
        let known = self.layouts.borrow().get(folder).copied();
        known.unwrap_or_else(|| {
            let is_in_layout = repository::is_in_layout(path);
            self.layouts.borrow_mut().insert(folder.to_owned(), is_in_layout);
            is_in_layout
        })
    }

    /// Whether a folder holds a link that leads outside the root, or too many names to know.
    pub(crate) fn holds_outward_link(&self, folder: &Path) -> bool {
        if let Some(known) = self.outward_links.borrow().get(folder) {
            return *known;
        }
        let leads_outside = |name: &OsString| {
            !self.cached_destination(folder, &name.to_string_lossy()).starts_with(&self.root)
        };
        // A folder that isn't there holds none.
        let found =
            paths::links_in(folder).map_or_else(|| folder.is_dir(), |links| links.iter().any(leads_outside));
        self.outward_links.borrow_mut().insert(folder.to_owned(), found);
        found
    }

    /// Where `path` leads from a folder, links followed, whether anything is there or not.
    pub(crate) fn destination(&self, from: &Path, path: &str) -> PathBuf {
        or_nowhere(paths::resolve(&from.join(path)))
    }

    /// The same as [`destination`](Self::destination), for many paths.
    pub(crate) fn cached_destination(&self, from: &Path, path: &str) -> PathBuf {
        or_nowhere(self.paths.borrow_mut().resolve(&from.join(path)))
    }
}

/// A path with too many links leads nowhere. `/` stands for that: it is inside no other folder.
fn or_nowhere(resolved: Result<PathBuf, TooManyLinks>) -> PathBuf {
    resolved.unwrap_or_else(|_| PathBuf::from("/"))
}
