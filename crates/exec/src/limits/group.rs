//! A control group for one execution: made, set, read, removed.

use std::fs::{self, OpenOptions};
use std::io;
use std::os::fd::{AsFd, BorrowedFd, OwnedFd};
use std::path::{Path, PathBuf};
use std::time::Duration;

use super::hierarchy::{Hierarchies, PREFIX};
use super::{LimitedResource, Limits, Mechanism};
use crate::ExecId;
use crate::outcome::plain;

/// How one version of control groups holds one limit.
struct Way {
    resource: LimitedResource,
    mechanism: Mechanism,
    controller: &'static str,
    /// Files that get the limit, in its base unit.
    set: &'static [&'static str],
    /// Files that make the limit stricter where the kernel has them, and what they get.
    also: &'static [(&'static str, Also)],
    /// What is read: a file and the name of a line in it, or no name where the file is a number.
    counters: &'static [(&'static str, &'static str)],
    /// What one of the counted is in the limit's base unit. `None`: what is counted are refusals.
    scale: Option<u64>,
}

/// What a file gets.
enum Also {
    /// This word.
    Word(&'static str),
    /// The limit and so much more.
    Limit(u64),
}

/// Version 2 before version 1.
const WAYS: [Way; 6] = [
    Way {
        resource: LimitedResource::Memory,
        mechanism: Mechanism::CgroupV2,
        controller: "memory",
        set: &["memory.max"],
        // Swapping would only make it slow. The kernel ends the group as a whole.
        also: &[("memory.swap.max", Also::Word("0")), ("memory.oom.group", Also::Word("1"))],
        // A machine without memory kills too: it was this group's limit only if that was reached.
        counters: &[("memory.events", "oom_kill"), ("memory.events", "oom")],
        scale: None,
    },
    Way {
        resource: LimitedResource::Processes,
        mechanism: Mechanism::CgroupV2,
        controller: "pids",
        set: &["pids.max"],
        also: &[],
        counters: &[("pids.events", "max")],
        scale: None,
    },
    Way {
        resource: LimitedResource::Cpu,
        mechanism: Mechanism::CgroupV2,
        // Every group of version 2 counts time.
        controller: "",
        set: &[],
        also: &[],
        counters: &[("cpu.stat", "usage_usec")],
        scale: Some(1_000),
    },
    Way {
        resource: LimitedResource::Memory,
        mechanism: Mechanism::CgroupV1,
        controller: "memory",
        set: &["memory.limit_in_bytes"],
        // With what is swapped out. A bit more, so that it is the other one that is seen to be reached.
        also: &[("memory.memsw.limit_in_bytes", Also::Limit(1 << 20))],
        counters: &[("memory.oom_control", "oom_kill"), ("memory.failcnt", "")],
        scale: None,
    },
    Way {
        resource: LimitedResource::Processes,
        mechanism: Mechanism::CgroupV1,
        controller: "pids",
        set: &["pids.max"],
        also: &[],
        counters: &[("pids.events", "max")],
        scale: None,
    },
    Way {
        resource: LimitedResource::Cpu,
        mechanism: Mechanism::CgroupV1,
        controller: "cpuacct",
        set: &[],
        also: &[],
        counters: &[("cpuacct.usage", "")],
        scale: Some(1),
    },
];

/// The groups of one execution.
#[derive(Debug, Default)]
pub(crate) struct Groups {
    folders: Vec<PathBuf>,
    /// Their `cgroup.procs`.
    entries: Vec<OwnedFd>,
    limits: Vec<GroupLimit>,
    /// What was tried and failed, and why.
    pub(super) failures: Vec<(LimitedResource, Mechanism, String)>,
}

/// A limit that a group holds.
#[derive(Clone, Debug)]
struct GroupLimit {
    way: usize,
    limit: u64,
    folder: PathBuf,
}

/// The name of an execution's groups.
pub(super) fn name(id: ExecId) -> String {
    format!("{PREFIX}{id}")
}

impl Groups {
    /// Every folder that [`make`](Self::make) may make, to be written down before.
    pub(super) fn places(hierarchies: &Hierarchies, name: &str) -> Vec<PathBuf> {
        let split = WAYS.iter().filter_map(|way| hierarchies.with_controller(way.controller));
        let all = hierarchies.unified.iter().map(PathBuf::as_path).chain(split);
        all.map(|parent| parent.join(name)).collect()
    }

    /// Makes groups for as many of `limits` as can be held by one.
    pub(super) fn make(hierarchies: &Hierarchies, name: &str, limits: &Limits) -> Self {
        let mut made = Self::unified(hierarchies, name, limits);
        for (nth, way) in WAYS.iter().enumerate() {
            let limit = limits.get(way.resource);
            if way.mechanism != Mechanism::CgroupV1 || limit == 0 || made.mechanism(way.resource).is_some() {
                continue;
            }
            let Some(parent) = hierarchies.with_controller(way.controller) else { continue };
            made.hold(&[(nth, limit)], &parent.join(name));
        }
        made
    }

    /// A process is in one group of version 2, so one must hold what it can of them all.
    fn unified(hierarchies: &Hierarchies, name: &str, limits: &Limits) -> Self {
        let wanted: Vec<(usize, u64)> = WAYS
            .iter()
            .enumerate()
            .filter(|(_, way)| way.mechanism == Mechanism::CgroupV2)
            .map(|(nth, way)| (nth, limits.get(way.resource)))
            .filter(|(_, limit)| *limit > 0)
            .collect();
        let mut best = Self::default();
        for (above, parent) in hierarchies.unified.iter().enumerate() {
            if wanted.is_empty() || best.limits.len() == wanted.len() {
                break;
            }
            if above == 0 {
                // Only in our own: what is above has others in it. It fails where we are not alone.
                switch_on(parent, &wanted);
            }
            let mut made = Self { failures: std::mem::take(&mut best.failures), ..Self::default() };
            made.hold(&wanted, &parent.join(name));
            if made.limits.len() > best.limits.len() {
                best.remove();
                best = made;
            } else {
                made.remove();
                best.failures = made.failures;
            }
        }
        best
    }

    /// Makes one group, and lets it hold what it can.
    fn hold(&mut self, wanted: &[(usize, u64)], folder: &Path) {
        let before = self.limits.len();
        let opened = make_folder(folder).and_then(|()| {
            OpenOptions::new().write(true).open(folder.join("cgroup.procs")).map(OwnedFd::from)
        });
        for (nth, limit) in wanted {
            let Some(way) = WAYS.get(*nth) else { continue };
            let held = match &opened {
                Ok(_) => way.apply(folder, *limit),
                Err(error) => Err(format!("{}: {}", folder.display(), plain(error))),
            };
            match held {
                Ok(()) => {
                    self.limits.push(GroupLimit { way: *nth, limit: *limit, folder: folder.to_owned() })
                }
                Err(why) => self.failures.push((way.resource, way.mechanism, why)),
            }
        }
        match opened {
            Ok(entry) if self.limits.len() > before => {
                self.folders.push(folder.to_owned());
                self.entries.push(entry);
            }
            _ => drop(fs::remove_dir(folder)),
        }
    }

    /// What holds `resource`, if a group does.
    pub(crate) fn mechanism(&self, resource: LimitedResource) -> Option<Mechanism> {
        let mut ways = self.limits.iter().filter_map(|held| WAYS.get(held.way));
        ways.find(|way| way.resource == resource).map(|way| way.mechanism)
    }

    /// What a process writes to so as to be in them.
    pub(crate) fn entries(&self) -> Vec<BorrowedFd<'_>> {
        self.entries.iter().map(AsFd::as_fd).collect()
    }

    /// The limits that were reached.
    pub(crate) fn reached(&self) -> impl Iterator<Item = (LimitedResource, u64)> {
        let ways = self.limits.iter().filter_map(|held| Some((held, WAYS.get(held.way)?)));
        ways.filter(|(held, way)| way.is_reached(&held.folder, held.limit))
            .map(|(held, way)| (way.resource, held.limit))
    }

    /// Removes them. Says whether none is left.
    pub(crate) fn remove(&mut self) -> bool {
        self.entries.clear();
        self.limits.clear();
        self.folders.retain(|folder| !removed(folder));
        self.folders.is_empty()
    }
}

impl Way {
    fn apply(&self, folder: &Path, limit: u64) -> Result<(), String> {
        let limit = limit.saturating_mul(self.resource.unit());
        let write = |file: &str, text: &str| {
            let path = folder.join(file);
            // Never made: a folder that isn't one of groups would take any file.
            let opened = OpenOptions::new().write(true).open(&path);
            let written = opened.and_then(|mut file| io::Write::write_all(&mut file, text.as_bytes()));
            written.map_err(|error| format!("{}: {}", path.display(), plain(&error)))
        };
        for file in self.set {
            write(file, &limit.to_string())?;
        }
        for (file, also) in self.also {
            // Where the kernel has them.
            let _ = match also {
                Also::Word(word) => write(file, word),
                Also::Limit(more) => write(file, &limit.saturating_add(*more).to_string()),
            };
        }
        let missing = self.counters.iter().find(|(file, line)| count(folder, file, line).is_none());
        missing.map_or(Ok(()), |(file, _)| Err(format!("{}: no such count", folder.join(file).display())))
    }

    fn is_reached(&self, folder: &Path, limit: u64) -> bool {
        let mut counts = self.counters.iter().map(|(file, line)| count(folder, file, line).unwrap_or(0));
        match self.scale {
            None => counts.all(|count| count > 0),
            Some(scale) => {
                let most = limit.saturating_mul(self.resource.unit());
                counts.all(|count| count.saturating_mul(scale) >= most)
            }
        }
    }
}

/// A number in a file of a group.
fn count(folder: &Path, file: &str, line: &str) -> Option<u64> {
    let text = fs::read_to_string(folder.join(file)).ok()?;
    let mut numbers = text.lines().filter_map(|entry| match line {
        "" => Some(entry),
        _ => entry.strip_prefix(line)?.strip_prefix(' '),
    });
    numbers.next()?.trim().parse().ok()
}

fn make_folder(folder: &Path) -> io::Result<()> {
    match fs::create_dir(folder) {
        Err(error) if error.kind() == io::ErrorKind::AlreadyExists => Ok(()),
        made => made,
    }
}

/// Hands controllers of version 2 down to the groups below `parent`.
fn switch_on(parent: &Path, wanted: &[(usize, u64)]) {
    let file = parent.join("cgroup.subtree_control");
    let on = fs::read_to_string(&file).unwrap_or_default();
    let names = wanted.iter().filter_map(|(nth, _)| WAYS.get(*nth)).map(|way| way.controller);
    for name in names.filter(|name| !name.is_empty() && !on.split_whitespace().any(|on| on == *name)) {
        let opened = OpenOptions::new().write(true).open(&file);
        let _ = opened.and_then(|mut file| io::Write::write_all(&mut file, format!("+{name}").as_bytes()));
    }
}

/// How often a group that still counts somebody as its own is tried again: the dead leave it a moment after they are
/// waited for.
const TRIES: u32 = 10;

/// Removes a group, with those below it that a shellgate inside it left. Says whether it is gone.
pub(super) fn removed(folder: &Path) -> bool {
    let below = fs::read_dir(folder).into_iter().flatten().flatten();
    for entry in below.filter(|entry| entry.file_type().is_ok_and(|kind| kind.is_dir())) {
        removed(&entry.path());
    }
    for _ in 0..TRIES {
        match fs::remove_dir(folder) {
            Err(error) if error.kind() == io::ErrorKind::ResourceBusy => {
                std::thread::sleep(Duration::from_millis(1));
            }
            Err(error) => return error.kind() == io::ErrorKind::NotFound,
            Ok(()) => return true,
        }
    }
    false
}

#[cfg(test)]
mod tests {
    use super::*;

    /// A folder with these files, that looks like a group.
    fn group(files: &[(&str, &str)]) -> tempfile::TempDir {
        let folder = tempfile::tempdir().unwrap();
        for (name, text) in files {
            fs::write(folder.path().join(name), text).unwrap();
        }
        folder
    }

    #[test]
    fn a_limit_is_written_in_bytes_and_its_end_is_read() {
        let events = "low 0\nmax 7\noom 1\noom_kill 0\n";
        let folder = group(&[("memory.max", "max"), ("memory.events", events)]);
        let way = &WAYS[0];
        way.apply(folder.path(), 3).unwrap();
        assert_eq!(fs::read_to_string(folder.path().join("memory.max")).unwrap(), "3145728");
        assert!(!folder.path().join("memory.swap.max").exists(), "nothing is made that isn't there");
        assert!(!way.is_reached(folder.path(), 3), "nobody was killed");
        fs::write(folder.path().join("memory.events"), "oom 0\noom_kill 1\n").unwrap();
        assert!(!way.is_reached(folder.path(), 3), "killed for another's sake");
        fs::write(folder.path().join("memory.events"), "oom 1\noom_kill 1\n").unwrap();
        assert!(way.is_reached(folder.path(), 3));
    }

    #[test]
    fn time_is_compared_in_its_own_unit() {
        let folder =
            group(&[("cpu.stat", "usage_usec 1999999\nuser_usec 3\n"), ("cpuacct.usage", "2000000000\n")]);
        assert!(!WAYS[2].is_reached(folder.path(), 2));
        assert!(WAYS[2].is_reached(folder.path(), 1));
        assert!(WAYS[5].is_reached(folder.path(), 2));
    }

    #[test]
    fn a_folder_that_is_no_group_holds_nothing() {
        let parent = tempfile::tempdir().unwrap();
        let hierarchies = Hierarchies {
            unified: vec![parent.path().to_owned()],
            split: vec![(vec!["memory".to_owned()], parent.path().to_owned())],
        };
        let limits = Limits { memory_mb: 1, processes: 1, cpu_s: 1, disk_mb: 1 };
        let made = Groups::make(&hierarchies, "shellgate-test", &limits);
        assert!(made.entries.is_empty() && made.limits.is_empty());
        assert_eq!(made.failures.len(), 4, "three by version 2, memory by version 1: {:?}", made.failures);
        assert_eq!(fs::read_dir(parent.path()).unwrap().count(), 0, "and nothing is left");
    }
}
