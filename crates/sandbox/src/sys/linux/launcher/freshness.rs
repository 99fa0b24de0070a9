//! Whether a launcher's mounts still fit the machine's files.
//!
//! A mount covers the file that was there when it was made. When the file is replaced, the kernel takes the mount away;
//! when a protected name appears, nothing covers it. Then a new launcher is needed. Looking at every name for each command
//! would cost more than the rest of a start, so the folders that the names are in are looked at first: the kernel changes
//! their time when an entry appears, vanishes or is replaced. In a folder that changed, its own names are looked at, and
//! all names only if one of them changed or a pattern looks into it. After a few commands the folders are watched
//! ([`FolderWatch`]), and looked at only when the kernel has told of a change. Folders in which other entries come and go are looked
//! at each time: their changes say little.

use std::collections::{BTreeMap, BTreeSet};
use std::ffi::OsStr;
use std::os::unix::ffi::OsStrExt as _;
use std::path::{Path, PathBuf};

use rustix::fs::Stat;

use crate::confinement::{Confinement, Protected, Readable};
use crate::sys::folder_watch::{FolderWatch, Looks};
use crate::sys::pod::{existing, protected_with_targets};

/// Which folders are looked at.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Scope {
    AllFolders,
    BusyFolders,
}

/// What a folder or file was: its device and number, and for folders the time of its last change.
type Identity = Option<(u64, u64)>;
type Change = Option<(u64, u64, i64, i64)>;

/// The names that mounts were made for, as they were.
#[derive(Debug)]
pub(super) struct Freshness {
    folders: Vec<Folder>,
    names: Vec<(PathBuf, Identity)>,
    looks: Looks,
}

/// A folder in which names are, or would be.
#[derive(Debug)]
struct Folder {
    path: PathBuf,
    change: Change,
    /// Whether it has changed and its names had not.
    is_busy: bool,
    /// The places of its names in [`Freshness::names`].
    names: Vec<usize>,
    /// Whether a new entry may be one that a pattern stands for.
    has_pattern: bool,
}

impl Freshness {
    /// What the names of `confinement` are now. Take it before the mounts are made.
    pub(super) fn of(confinement: &Confinement) -> Self {
        let names = names_of(confinement);
        let mut folders: BTreeMap<PathBuf, Vec<usize>> = BTreeMap::new();
        for (at, name) in names.iter().enumerate() {
            if let Some(folder) = name.parent().and_then(existing_folder) {
                folders.entry(folder).or_default().push(at);
            }
        }
        let patterns: Vec<PathBuf> = confinement.protected.iter().filter_map(pattern_folder).collect();
        let folders = folders.into_iter().map(|(path, names)| Folder {
            change: change(&path),
            is_busy: false,
            has_pattern: patterns.iter().any(|pattern| path.starts_with(pattern)),
            names,
            path,
        });
        let folders = folders.collect();
        let names = names.into_iter().map(|name| (name.clone(), identity(&name))).collect();
        Self { folders, names, looks: Looks::default() }
    }

    /// Whether all names are what they were. `watch`: what watches the folders of this process.
    pub(super) fn holds(&mut self, confinement: &Confinement, watch: Option<&mut FolderWatch>) -> bool {
        let quiet = self.folders.iter().filter(|folder| !folder.is_busy).map(|folder| folder.path.as_path());
        let are_quiet = watch.is_some_and(|watch| watch.spares_look(&mut self.looks, quiet));
        self.look(confinement, if are_quiet { Scope::BusyFolders } else { Scope::AllFolders })
    }

    /// The same by a look at folders. If they aren't the same folders as before, they aren't watched any more.
    fn look(&mut self, confinement: &Confinement, scope: Scope) -> bool {
        let Self { folders, names, .. } = self;
        let folders = folders.iter_mut().filter(|folder| folder.is_busy || scope == Scope::AllFolders);
        let changed = folders.map(|folder| (change(&folder.path), folder));
        let mut changed = changed.filter(|(now, folder)| *now != folder.change);
        // Other entries of a folder may have come or gone: `/tmp` is busy. Then its own names decide.
        let are_known = changed.all(|(now, folder)| {
            folder.change = now;
            folder.is_busy = true;
            let is_same = |at: &usize| {
                names.get(*at).is_some_and(|(name, before)| {
                    identity(name) == *before
                        && name.parent().and_then(existing_folder).as_deref() == Some(&folder.path)
                })
            };
            !folder.has_pattern && folder.names.iter().all(is_same)
        });
        if are_known {
            return true;
        }
        let now = Self::of(confinement);
        let holds = now.names == self.names;
        *self = now;
        holds
    }
}

/// The folder in which the names of a pattern are. `None`: it is no pattern.
fn pattern_folder(protected: &Protected) -> Option<PathBuf> {
    let is_plain = |part: &&OsStr| !part.as_bytes().ends_with(b"*");
    let plain: PathBuf = protected.path.iter().take_while(is_plain).collect();
    (plain != protected.path).then(|| protected.root.join(plain))
}

/// The names that mounts are made for, and the folders between a root and a protected name. A pattern stands for what
/// exists now.
fn names_of(confinement: &Confinement) -> BTreeSet<PathBuf> {
    let protected = protected_with_targets(confinement).into_iter().flat_map(|protected| {
        let depth = protected.path.components().count();
        // What a pattern is in counts, too: a new entry may be one that it stands for.
        let plain = pattern_folder(&protected).unwrap_or_else(|| protected.root.join(&protected.path));
        let found = existing(&protected.root, &protected.path);
        let above = |whole: PathBuf| whole.ancestors().take(depth).map(Path::to_owned).collect::<Vec<_>>();
        found.into_iter().flat_map(above).chain([plain]).collect::<Vec<_>>()
    });
    let readable: &[PathBuf] = match &confinement.readable {
        Readable::Everything => &[],
        Readable::Only(paths) => paths,
    };
    let listed = [&confinement.writable, &confinement.visible, &confinement.unreadable, &confinement.exposed];
    listed.into_iter().flatten().chain(readable).cloned().chain(protected).collect()
}

/// The folder, or the nearest one above it that exists.
fn existing_folder(folder: &Path) -> Option<PathBuf> {
    folder.ancestors().find(|folder| rustix::fs::stat(*folder).is_ok()).map(Path::to_owned)
}

fn identity(path: &Path) -> Identity {
    rustix::fs::lstat(path).ok().map(|stat| (stat.st_dev, stat.st_ino))
}

fn change(path: &Path) -> Change {
    let key = |stat: Stat| (stat.st_dev, stat.st_ino, stat.st_ctime, stat.st_ctime_nsec.cast_signed());
    rustix::fs::stat(path).ok().map(key)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    #[cfg_attr(miri, ignore = "Miri has no inotify")]
    fn watched_names_are_seen_as_others_are() {
        let root = std::env::temp_dir().join(format!("shellgate-watched-{}", std::process::id()));
        std::fs::create_dir_all(root.join(".git")).unwrap();
        let write = |name: &str| std::fs::write(root.join(name), "").unwrap();
        let protect = |path: &str| Protected { root: root.clone(), path: path.into() };
        let protected = vec![protect(".git/config"), protect(".mcp.json")];
        let confinement = Confinement { writable: vec![root.clone()], protected, ..Confinement::default() };
        let (mut fresh, mut watch) = (Freshness::of(&confinement), FolderWatch::new().unwrap());
        let mut holds = |fresh: &mut Freshness| fresh.holds(&confinement, Some(&mut watch));
        for _ in 0..10 {
            assert!(holds(&mut fresh));
        }
        for _ in 0..20 {
            write("other");
            assert!(holds(&mut fresh) && holds(&mut fresh), "another name");
            std::fs::remove_file(root.join("other")).unwrap();
        }
        let is_busy = |path: &Path| fresh.folders.iter().any(|folder| folder.path == path && folder.is_busy);
        assert!(is_busy(&root) && !is_busy(&root.join(".git")), "only the root is looked at each time");
        write(".mcp.json");
        assert!(!holds(&mut fresh));
        for _ in 0..10 {
            assert!(holds(&mut fresh), "what is now");
        }
        let moved = root.with_extension("moved");
        std::fs::rename(&root, &moved).unwrap();
        assert!(!holds(&mut fresh), "the root has another name");
        std::fs::remove_dir_all(&moved).unwrap();
    }

    #[test]
    fn names_that_appear_vanish_or_are_replaced_are_seen() {
        let root = std::env::temp_dir().join(format!("shellgate-fresh-{}", std::process::id()));
        let write = |name: &str| std::fs::write(root.join(name), "").unwrap();
        std::fs::create_dir_all(root.join(".git")).unwrap();
        write(".git/config");
        let protect = |path: &str| Protected { root: root.clone(), path: path.into() };
        let protected = vec![
            protect(".git/config"),
            protect(".github/workflows"),
            protect(".mcp.json"),
            protect("m/*/config"),
        ];
        let confinement = Confinement { writable: vec![root.clone()], protected, ..Confinement::default() };
        let mut fresh = Freshness::of(&confinement);
        assert!(fresh.look(&confinement, Scope::AllFolders));
        write("other");
        assert!(
            fresh.look(&confinement, Scope::AllFolders) && fresh.look(&confinement, Scope::AllFolders),
            "another name"
        );
        for (makes, name) in
            [(true, ".mcp.json"), (false, ".mcp.json"), (false, ".git/config"), (true, ".git/config")]
        {
            let mut fresh = Freshness::of(&confinement);
            if makes {
                write(name)
            } else {
                std::fs::remove_file(root.join(name)).unwrap()
            }
            assert!(!fresh.look(&confinement, Scope::AllFolders), "{name} {makes}");
        }
        std::fs::create_dir_all(root.join("m/x")).unwrap();
        let mut fresh = Freshness::of(&confinement);
        write("m/x/config");
        assert!(!fresh.look(&confinement, Scope::AllFolders), "a name of a pattern");
        let mut fresh = Freshness::of(&confinement);
        write("new");
        std::fs::rename(root.join("new"), root.join(".git/config")).unwrap();
        assert!(!fresh.look(&confinement, Scope::AllFolders), "replaced");
        let mut fresh = Freshness::of(&confinement);
        std::fs::create_dir(root.join(".github")).unwrap();
        assert!(!fresh.look(&confinement, Scope::AllFolders), "a folder above a name");
        let mut fresh = Freshness::of(&confinement);
        std::fs::create_dir(root.join(".github/workflows")).unwrap();
        assert!(!fresh.look(&confinement, Scope::AllFolders), "in it");
        std::fs::remove_dir_all(&root).unwrap();
    }
}
