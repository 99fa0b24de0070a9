//! Folders that are watched, so that one system call says whether anything in them has changed.
//!
//! Before a command starts, names in some thirty folders must be what they were. Looking at each takes as long as starting a process, so
//! they are looked at again only after the kernel has told of a change. A folder is watched with every folder and link on the
//! way to it: whatever makes its path lead elsewhere is a change, a new mount included.

use std::collections::{BTreeMap, BTreeSet};
use std::ffi::OsString;
use std::mem::MaybeUninit;
use std::os::fd::OwnedFd;
use std::path::{Component, Path, PathBuf};

use rustix::event::{PollFd, PollFlags, Timespec};
use rustix::fs::inotify::{self, CreateFlags, Reader, WatchFlags};
use rustix::fs::{FileType, Mode, OFlags};
use rustix::io::Errno;

/// The folder itself is renamed or removed.
const OWN: WatchFlags = WatchFlags::DELETE_SELF.union(WatchFlags::MOVE_SELF);

/// And entries appear, vanish or are replaced.
const ENTRIES: WatchFlags = OWN
    .union(WatchFlags::CREATE)
    .union(WatchFlags::DELETE)
    .union(WatchFlags::MOVED_FROM)
    .union(WatchFlags::MOVED_TO);

/// The kernel follows no more links.
const MAX_LINKS: usize = 40;

/// Room for an event with the longest name.
const EVENT_BYTES: usize = 4096;

/// How often folders are looked at before they are watched.
const LOOKS_BEFORE_WATCH: u32 = 3;

/// Watching is worth it if it spares so many looks.
const WORTHWHILE_LOOKS: u32 = 32;

/// Folders that change all the time are watched after so many looks at most.
const MAX_LOOKS_BEFORE_WATCH: u32 = 1 << 16;

/// What is known of a set of folders that is looked at again and again.
#[derive(Clone, Copy, Debug)]
pub struct Looks {
    /// How often it is looked at before it is watched.
    left: u32,
    /// How often that was at last.
    before: u32,
    /// The generation of the watch since which it is watched.
    watched_at: Option<u64>,
    /// How many looks that has spared.
    spared: u32,
}

impl Default for Looks {
    fn default() -> Self {
        Self { left: LOOKS_BEFORE_WATCH, before: LOOKS_BEFORE_WATCH, watched_at: None, spared: 0 }
    }
}

impl Looks {
    /// Something has changed, and the folders aren't watched any more.
    fn start_again(&mut self) {
        self.before = match self.spared >= WORTHWHILE_LOOKS {
            true => LOOKS_BEFORE_WATCH,
            false => (self.before * 4).min(MAX_LOOKS_BEFORE_WATCH),
        };
        *self = Self { left: self.before, before: self.before, watched_at: None, spared: 0 };
    }
}

/// Watched folders. To close it takes the kernel 10 ms.
#[derive(Debug)]
pub struct FolderWatch {
    events: OwnedFd,
    /// The table of mounts. It is polled.
    mounts: OwnedFd,
    /// The numbers of the kernel's watches.
    numbers: BTreeSet<i32>,
    /// The paths that are watched.
    folders: BTreeSet<PathBuf>,
    generation: u64,
}

impl FolderWatch {
    /// Watches nothing yet. `None`: the kernel has no watches left for this user, or `/proc` is missing.
    #[must_use]
    pub fn new() -> Option<Self> {
        let events = inotify::init(CreateFlags::NONBLOCK | CreateFlags::CLOEXEC).ok()?;
        let flags = OFlags::RDONLY | OFlags::CLOEXEC;
        let mounts = rustix::fs::open("/proc/self/mountinfo", flags, Mode::empty()).ok()?;
        Some(Self { events, mounts, numbers: BTreeSet::new(), folders: BTreeSet::new(), generation: 0 })
    }

    /// Whether nothing has changed in these folders since they were last looked at. If not, the caller looks at them now. The
    /// folders need not exist.
    pub fn spares_look<'a>(
        &mut self,
        looks: &mut Looks,
        folders: impl IntoIterator<Item = &'a Path>,
    ) -> bool {
        let generation = self.generation();
        match looks.watched_at {
            Some(at) if at == generation => {
                looks.spared += 1;
                return true;
            }
            Some(_) => looks.start_again(),
            None => looks.left = looks.left.saturating_sub(1),
        }
        // Before they are looked at, so that no change is missed in between.
        looks.watched_at = (looks.left == 0 && self.add(folders)).then_some(generation);
        false
    }

    /// Watches these folders too. Returns whether all are watched: changes count from now on.
    fn add<'a>(&mut self, folders: impl IntoIterator<Item = &'a Path>) -> bool {
        folders.into_iter().all(|folder| self.folders.contains(folder) || self.add_one(folder))
    }

    fn add_one(&mut self, folder: &Path) -> bool {
        let Some(way) = way_to(folder) else { return false };
        let is_watched = way.iter().all(|(place, flags)| {
            let flags = *flags | WatchFlags::ONLYDIR | WatchFlags::MASK_ADD;
            let number = inotify::add_watch(&self.events, place.as_path(), flags);
            number.map(|number| self.numbers.insert(number)).is_ok()
        });
        // A link or folder that was replaced meanwhile isn't the one that is watched.
        if is_watched && way_to(folder).as_ref() == Some(&way) {
            self.folders.insert(folder.to_owned());
            return true;
        }
        false
    }

    /// A number that is another one after anything has changed.
    fn generation(&mut self) -> u64 {
        let mut wanted =
            [PollFd::new(&self.events, PollFlags::IN), PollFd::new(&self.mounts, PollFlags::PRI)];
        let now = Timespec { tv_sec: 0, tv_nsec: 0 };
        if matches!(rustix::event::poll(&mut wanted, Some(&now)), Ok(0)) {
            return self.generation;
        }
        self.generation += 1;
        self.forget();
        self.generation
    }

    /// Watches nothing any more: after a change, paths may lead to other folders.
    fn forget(&mut self) {
        self.folders.clear();
        for number in std::mem::take(&mut self.numbers) {
            // One whose folder is gone is removed already.
            let _ = inotify::remove_watch(&self.events, number);
        }
        // With those that tell of the removals.
        let mut buffer = [MaybeUninit::uninit(); EVENT_BYTES];
        let mut events = Reader::new(&self.events, &mut buffer);
        while matches!(events.next(), Ok(_) | Err(Errno::INTR)) {}
    }
}

/// The folders that decide where a path leads, each with what matters in it. `None`: too many links.
fn way_to(folder: &Path) -> Option<BTreeMap<PathBuf, WatchFlags>> {
    let names = |path: &Path| -> Vec<OsString> {
        let names =
            path.components().rev().filter(|part| !matches!(part, Component::RootDir | Component::CurDir));
        names.map(|part| part.as_os_str().to_owned()).collect()
    };
    let mut way: BTreeMap<PathBuf, WatchFlags> = BTreeMap::new();
    let mut watch = |place: &Path, flags| {
        let all = way.entry(place.to_owned()).or_insert(flags);
        *all = all.union(flags);
    };
    let (mut reached, mut rest, mut links) = (PathBuf::from("/"), names(folder), 0);
    while let Some(name) = rest.pop() {
        watch(&reached, OWN);
        if name == ".." {
            reached.pop();
            continue;
        }
        let next = reached.join(&name);
        match rustix::fs::lstat(&next) {
            Ok(found) if FileType::from_raw_mode(found.st_mode) == FileType::Symlink => {
                watch(&reached, ENTRIES);
                links += 1;
                let target = std::fs::read_link(&next).ok().filter(|_| links <= MAX_LINKS)?;
                if target.is_absolute() {
                    reached = PathBuf::from("/");
                }
                rest.extend(names(&target));
            }
            Ok(found) if FileType::from_raw_mode(found.st_mode) == FileType::Directory => reached = next,
            // Something else may take this name.
            _ => break,
        }
    }
    watch(&reached, ENTRIES);
    Some(way)
}

#[cfg(test)]
mod tests {
    use std::os::unix::fs::symlink;

    use super::*;

    #[test]
    #[cfg_attr(miri, ignore = "Miri has no inotify")]
    fn whatever_changes_what_a_path_leads_to_is_a_change() {
        let top = std::env::temp_dir().join(format!("shellgate-watch-{}", std::process::id()));
        let _ = std::fs::remove_dir_all(&top);
        let path = |name: &str| top.join(name);
        let make = |name: &str| std::fs::create_dir_all(path(name)).unwrap();
        let write = |name: &str| std::fs::write(path(name), "").unwrap();
        make("a/b/c");
        make("other");
        symlink("a/b", path("link")).unwrap();
        let folders = [path("a/b/c"), path("link/c"), path("a/missing/x"), PathBuf::from("/bin")];
        let folders = || folders.iter().map(PathBuf::as_path);
        let mut watch = FolderWatch::new().unwrap();
        let changes: [(&str, &dyn Fn()); 9] = [
            ("an entry", &|| write("a/b/c/new")),
            ("a removed one", &|| std::fs::remove_file(path("a/b/c/new")).unwrap()),
            ("a missing folder", &|| make("a/missing")),
            ("a folder in it", &|| make("a/missing/x")),
            ("a renamed folder above", &|| std::fs::rename(path("a"), path("z")).unwrap()),
            ("and back", &|| std::fs::rename(path("z"), path("a")).unwrap()),
            ("another link", &|| {
                symlink("other", path("next")).unwrap();
                std::fs::rename(path("next"), path("link")).unwrap();
            }),
            ("behind the new link", &|| make("other/c")),
            ("a removed folder", &|| std::fs::remove_dir_all(path("a/b")).unwrap()),
        ];
        for (what, change) in changes {
            assert!(watch.add(folders()), "before {what}");
            let before = watch.generation();
            std::fs::read_dir(&top).unwrap().for_each(drop);
            assert_eq!(watch.generation(), before, "before {what}");
            change();
            assert!(watch.generation() > before, "{what}");
        }
        std::fs::remove_dir_all(&top).unwrap();
    }

    #[test]
    #[cfg_attr(miri, ignore = "Miri has no inotify")]
    fn folders_that_are_looked_at_often_are_watched() {
        let folder = std::env::temp_dir().join(format!("shellgate-looks-{}", std::process::id()));
        std::fs::create_dir_all(&folder).unwrap();
        let (mut watch, mut looks) = (FolderWatch::new().unwrap(), Looks::default());
        let mut spares = |watch: &mut FolderWatch| watch.spares_look(&mut looks, [folder.as_path()]);
        let mut looks_until_spared = |watch: &mut FolderWatch| (0..).find(|_| spares(watch)).unwrap();
        assert_eq!(looks_until_spared(&mut watch), LOOKS_BEFORE_WATCH);
        for _ in 0..WORTHWHILE_LOOKS {
            assert_eq!(looks_until_spared(&mut watch), 0);
        }
        std::fs::write(folder.join("new"), "").unwrap();
        assert_eq!(looks_until_spared(&mut watch), LOOKS_BEFORE_WATCH + 1);
        let moved = folder.with_extension("moved");
        std::fs::rename(&folder, &moved).unwrap();
        assert_eq!(looks_until_spared(&mut watch), 4 * LOOKS_BEFORE_WATCH + 1, "it changes often");
        std::fs::create_dir(&folder).unwrap();
        assert!(looks_until_spared(&mut watch) > 0, "a missing folder appears");
        std::fs::remove_dir(&folder).unwrap();
        std::fs::remove_dir_all(&moved).unwrap();
    }
}
